variable "password" {
  type      = string
  sensitive = true # the plan says (sensitive value); the state has it all the same
}

resource "kubefed_federated_resource" "database" {
  template = {
    apiVersion = "v1"
    kind       = "Secret"
    metadata   = { name = "database" }
    stringData = { password = var.password }
  }
  placement = { cluster_selector = {} } # every member
}
