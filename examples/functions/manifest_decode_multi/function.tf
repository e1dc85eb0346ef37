terraform {
  required_providers {
    kubefed = { source = "kubefed/kubefed" }
  }
}

output "kinds" {
  # ["Namespace", "ServiceAccount", "ConfigMap"]
  value = [for manifest in provider::kubefed::manifest_decode_multi(file("${path.module}/all.yaml")) : manifest.kind]
}
