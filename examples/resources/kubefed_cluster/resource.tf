variable "kubeconfig" {
  type = string
}

resource "kubefed_control_plane" "this" {}

resource "kubefed_cluster" "eu" {
  name = "eu"

  # How to reach the cluster while joining; never stored.
  cluster_connection = {
    config_path    = var.kubeconfig
    config_context = "member-1"
  }

  labels = { tier = "prod" }
  region = "eu-central-1"

  # A change of any value makes a new token and drops the old one.
  token_rotation = { on = "2026-06-01" }

  # A member that leaves gives up its objects before it is unjoined.
  lifecycle {
    create_before_destroy = true
  }

  depends_on = [kubefed_control_plane.this]
}
