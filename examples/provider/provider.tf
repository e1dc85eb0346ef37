variable "kubeconfig" {
  type = string
}

# Members with a registry on a host cluster, which several configurations share …
provider "kubefed" {
  owner       = "payments/shop"
  config_path = var.kubeconfig

  host_cluster = {
    config_context = "host"
  }
}

# … or members that this configuration alone names.
provider "kubefed" {
  alias       = "without_registry"
  owner       = "payments/shop"
  config_path = var.kubeconfig

  member_clusters = {
    eu = {
      config_context = "member-1"
      labels         = { tier = "prod" }
      region         = "eu-central-1"
    }
    us = {
      config_context = "member-2"
      labels         = { tier = "prod" }
      region         = "us-east-1"
    }
  }

  policy = {
    on_unreachable = "skip" # a member that is down is written by a later run
  }
}
