resource "kubefed_control_plane" "this" {}
