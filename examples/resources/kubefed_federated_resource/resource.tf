resource "kubefed_federated_resource" "namespace" {
  template = {
    apiVersion = "v1"
    kind       = "Namespace"
    metadata   = { name = "web" }
  }
  placement = { cluster_selector = {} } # every member
}

# Text is read as kubectl reads it, and is cheaper than an object when it is large.
resource "kubefed_federated_resource" "web" {
  template = <<-YAML
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
      namespace: web
    spec:
      replicas: 2
      selector:
        matchLabels: {app: web}
      template:
        metadata:
          labels: {app: web}
        spec:
          containers:
            - name: web
              image: registry.example/team/web:1.4
              args: ["--verbose"]
  YAML

  placement = {
    cluster_selector = { match_labels = { tier = "prod" } }
    exclude          = ["ap"]
  }

  overrides = [
    {
      cluster_selector = { match_labels = { "topology.kubernetes.io/region" = "eu-central-1" } }
      images           = [{ container = "web", registry = "registry.eu.example" }]
      env              = [{ container = "web", name = "REGION", value = "eu" }]
    },
    {
      clusters   = ["us"]
      json_patch = jsonencode([{ op = "replace", path = "/spec/template/spec/containers/0/args/0", value = "--quiet" }])
      labels     = { "example.com/canary" = "true" }
    },
  ]

  replicas = { eu = 5, "*" = 2 }

  policy = {
    on_existing = "adopt" # take over what kubectl has made, and keep what others own in it
  }

  # A member that could not be written leaves a warning and stays pending; this fails the run all the same.
  lifecycle {
    postcondition {
      condition     = length(self.pending_clusters) == 0
      error_message = "Not everywhere yet: ${join(", ", self.pending_clusters)}"
    }
  }

  depends_on = [kubefed_federated_resource.namespace]
}
