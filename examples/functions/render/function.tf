terraform {
  required_providers {
    kubefed = { source = "kubefed/kubefed" }
  }
}

locals {
  template = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "web", namespace = "shop" }
    data       = { level = "info", region = "none" }
  }
  overrides = [
    { cluster_selector = { match_labels = { stage = "test" } }, merge_patch = jsonencode({ data = { level = "debug" } }) },
    { clusters = ["eu"], json_patch = jsonencode([{ op = "replace", path = "/data/region", value = "eu-central-1" }]) },
  ]
}

# What the member "eu" would get: level "debug" by its label, region "eu-central-1" by its name.
output "eu" {
  value = provider::kubefed::render(local.template, local.overrides, "eu", { stage = "test" })
}

check "production_is_not_verbose" {
  assert {
    condition     = provider::kubefed::render(local.template, local.overrides, "us", { stage = "production" }).data.level == "info"
    error_message = "A member in production would log at another level than info."
  }
}
