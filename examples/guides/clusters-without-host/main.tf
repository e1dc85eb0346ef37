variable "kubeconfig" {
  type = string
}

variable "clusters" {
  description = "Name of each member, its context in the kubeconfig, and what it is to be used for."
  type        = map(object({ context = string, availability = optional(string, "active") }))
  default = {
    eu = { context = "member-1" }
    us = { context = "member-2" }
  }
}

provider "kubefed" {
  owner       = "payments/shop"
  config_path = var.kubeconfig
  member_clusters = {
    for name, cluster in var.clusters : name => {
      config_context = cluster.context
      labels         = { tier = "prod" }
      availability   = cluster.availability
    }
  }
}

resource "kubefed_federated_resource" "settings" {
  template = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "settings" }
    data       = { theme = "light" }
  }
  placement = { cluster_selector = { match_labels = { tier = "prod" } } }
}
