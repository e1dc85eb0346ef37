resource "kubefed_federated_resource" "web" {
  template = {
    apiVersion = "apps/v1"
    kind       = "Deployment"
    metadata   = { name = "web-in-order", namespace = "default" }
    spec = {
      replicas = 2
      selector = { matchLabels = { app = "web-in-order" } }
      template = {
        metadata = { labels = { app = "web-in-order" } }
        spec     = { containers = [{ name = "web", image = var.image }] }
      }
    }
  }
  placement = { cluster_selector = { match_labels = { tier = "prod" } } }

  rollout = {
    groups = [
      { name = "canary", clusters = ["eu"] },
      { name = "america", cluster_selector = { match_labels = { "topology.kubernetes.io/region" = "us-east-1" } } },
    ]                       # all other members come last
    max_concurrency = "25%" # of each group
    min_ready_time  = "1s"  # how long each has to run before the next begins
  }
  wait = { timeout = "2m" } # of each member

  lifecycle {
    postcondition {
      condition     = length(self.pending_clusters) == 0
      error_message = "Not everywhere yet: ${jsonencode(self.messages)}"
    }
  }
}

variable "image" {
  type    = string
  default = "nginx:1.27"
}
