terraform {
  required_providers {
    kubefed = { source = "kubefed/kubefed" }
  }
}

locals {
  manifests = provider::kubefed::manifests_by_id([
    for name in fileset(path.module, "*.yaml") : file("${path.module}/${name}")
  ])
}

# The keys suit for_each: each.key is the id, each.value the manifest.
#
#   resource "kubefed_federated_resource" "all" {
#     for_each  = local.manifests
#     template  = each.value
#     placement = { cluster_selector = {} }
#   }
output "ids" {
  # ["core/ConfigMap/shop/web", "core/Namespace/shop", "core/Service/shop/web"]
  value = keys(local.manifests)
}
