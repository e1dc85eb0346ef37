variable "kubeconfig" {
  type = string
}

variable "clusters" {
  description = "Name of each member, and its context in the kubeconfig."
  type        = map(string)
  default     = { eu = "member-1", us = "member-2" }
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
  cluster_connection = { config_context = each.value }

  # Here from the first apply on: the objects leave before their cluster does.
  lifecycle {
    create_before_destroy = true
  }

  depends_on = [kubefed_control_plane.this]
}

resource "kubefed_federated_resource" "settings" {
  template = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "settings" }
    data       = { theme = "light" }
  }
  placement = { clusters = [for cluster in kubefed_cluster.this : cluster.name] }
}
