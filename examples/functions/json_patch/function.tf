terraform {
  required_providers {
    kubefed = { source = "kubefed/kubefed" }
  }
}

locals {
  service = {
    apiVersion = "v1"
    kind       = "Service"
    metadata   = { name = "web", labels = { "app.kubernetes.io/name" = "web" } }
    spec       = { type = "ClusterIP", ports = [{ port = 80 }] }
  }
}

output "patched" {
  value = provider::kubefed::json_patch(local.service, [
    { path = "/spec/type", value = "NodePort" },                                  # op defaults to replace
    { op = "add", path = "/spec/ports/-", value = { name = "tls", port = 443 } }, # - is the end of the list
    { op = "remove", path = "/metadata/labels/app.kubernetes.io~1name" },         # ~1 is a slash in a key
  ])
}
