terraform {
  required_providers {
    kubefed = { source = "kubefed/kubefed" }
  }
}

output "yaml" {
  # data:
  #   answer: "yes"
  #   mode: "0400"
  value = provider::kubefed::manifest_encode({
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "web", namespace = "shop" }
    data       = { mode = "0400", answer = "yes" }
  })
}
