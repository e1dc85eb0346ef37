// Package registry answers which members there are and how to reach them. Members come from the provider block, from the host cluster
// (KubeFedCluster objects), and from announcements: clusters that this very run is going to join. It joins clusters and lets them go again,
// and installs what a host needs.
//
// A registry that cannot be read is never an empty one: everything here that reads the host either knows, or returns an error.
package registry
