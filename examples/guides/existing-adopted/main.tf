resource "kubefed_federated_resource" "settings" {
  template = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "settings" }
    data       = { currency = "USD", theme = "dark" }
  }
  placement = { clusters = ["eu", "us"] }

  policy = { on_existing = "adopt" }
}
