# the namespace of the registry on the host
terraform import kubefed_control_plane.this kube-federation-system
