terraform {
  required_providers {
    kubefed = { source = "kubefed/kubefed" }
  }
}

locals {
  deployment = provider::kubefed::manifest_decode(file("${path.module}/web.yaml"))
}

output "replicas" {
  value = local.deployment.spec.replicas
}

# 256: the 0400 of the file is octal, as it is for kubectl. Terraform's yamldecode would give 400, which is another file mode.
output "file_mode" {
  value = local.deployment.spec.template.spec.volumes[0].secret.defaultMode
}
