# Two clusters join a federation, and get a namespace, a configuration that
# differs on one of them, and an nginx with more replicas on one of them.

terraform {
  required_version = ">= 1.11"
  required_providers {
    kubefed = {
      source = "kubefed/kubefed"
    }
  }
}

variable "kubeconfig" {
  description = "Kubeconfig with the contexts of the host and of the members."
  type        = string
}

variable "host" {
  description = "Context of the cluster that keeps the registry of members."
  type        = string
  default     = "host"
}

variable "members" {
  description = "Name of each member in the federation, and its context."
  type        = map(string)
  default = {
    eu = "member-1"
    us = "member-2"
  }
}

provider "kubefed" {
  owner       = "examples/quickstart"
  config_path = var.kubeconfig

  host_cluster = {
    config_context = var.host
  }
}

resource "kubefed_control_plane" "this" {}

resource "kubefed_cluster" "member" {
  for_each = var.members

  name = each.key
  cluster_connection = {
    config_path    = var.kubeconfig
    config_context = each.value
  }

  # A member that leaves gives up its objects before it is unjoined.
  lifecycle {
    create_before_destroy = true
  }

  depends_on = [kubefed_control_plane.this]
}

locals {
  everywhere = [for cluster in kubefed_cluster.member : cluster.name]
}

resource "kubefed_federated_resource" "namespace" {
  template = {
    apiVersion = "v1"
    kind       = "Namespace"
    metadata   = { name = "shop" }
  }
  placement = { clusters = local.everywhere }
}

resource "kubefed_federated_resource" "settings" {
  template  = file("${path.module}/settings.yaml")
  placement = { clusters = local.everywhere }

  overrides = [{
    clusters    = ["eu"]
    merge_patch = jsonencode({ data = { currency = "EUR" } })
  }]

  depends_on = [kubefed_federated_resource.namespace]
}

resource "kubefed_federated_resource" "nginx" {
  template  = file("${path.module}/nginx.yaml")
  placement = { clusters = local.everywhere }
  replicas  = { eu = 5, "*" = 3 }

  depends_on = [kubefed_federated_resource.namespace]
}

output "versions" {
  description = "What each member holds of the nginx."
  value       = kubefed_federated_resource.nginx.versions
}
