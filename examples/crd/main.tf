# A CustomResourceDefinition and an object of its kind, in one run. The object is
# checked when the kind is there: at apply.

resource "kubefed_federated_resource" "definition" {
  template = yamlencode({
    apiVersion = "apiextensions.k8s.io/v1"
    kind       = "CustomResourceDefinition"
    metadata   = { name = "gadgets.example.com" }
    spec = {
      group = "example.com"
      scope = "Namespaced"
      names = { plural = "gadgets", singular = "gadget", kind = "Gadget" }
      versions = [{
        name    = "v1"
        served  = true
        storage = true
        schema = {
          openAPIV3Schema = {
            type = "object"
            properties = {
              spec = { type = "object", properties = { size = { type = "integer" } } }
            }
          }
        }
      }]
    }
  })
  placement = { cluster_selector = {} }
}

resource "kubefed_federated_resource" "gadget" {
  template = {
    apiVersion = "example.com/v1"
    kind       = "Gadget"
    metadata   = { name = "first", namespace = "default" }
    spec       = { size = 3 }
  }
  placement = { cluster_selector = {} }

  depends_on = [kubefed_federated_resource.definition]
}
