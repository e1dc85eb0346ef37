data "kubefed_clusters" "prod" {
  cluster_selector = { match_labels = { tier = "prod" } }
}

output "not_ready" {
  value = { for name, cluster in data.kubefed_clusters.prod.clusters : name => cluster.reason if !cluster.ready }
}
