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
  owner        = "payments/shop"
  config_path  = var.kubeconfig
  host_cluster = { config_context = "host" }
}

resource "kubefed_control_plane" "this" {}

resource "kubefed_cluster" "this" {
  for_each = var.clusters

  name               = each.key
  cluster_connection = { config_context = each.value.context }
  labels             = { tier = "prod" }
  availability       = each.value.availability

  depends_on = [kubefed_control_plane.this]
}

resource "kubefed_federated_resource" "settings" {
  template = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "settings" }
    data       = { theme = "light" }
  }
  placement = { cluster_selector = { match_labels = { tier = "prod" } } }

  # A selector refers to no cluster: without this it would choose before they are joined.
  depends_on = [kubefed_cluster.this]
}
