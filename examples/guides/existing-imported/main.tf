import {
  to = kubefed_federated_resource.settings
  id = "v1/ConfigMap/default/settings" # <apiVersion>/<Kind>/[<namespace>/]<name>
}

resource "kubefed_federated_resource" "settings" {
  template = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "settings" }
    data       = { currency = "USD", theme = "light" }
  }
  placement = { clusters = ["eu", "us"] }

  # What a member has otherwise than the others stays so.
  overrides = [{
    clusters    = ["eu"]
    merge_patch = jsonencode({ data = { currency = "EUR" } })
  }]
}
