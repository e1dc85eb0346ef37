terraform import kubefed_cluster.eu eu
