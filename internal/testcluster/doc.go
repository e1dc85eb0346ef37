// Package testcluster builds and runs real Kubernetes clusters without
// containers: etcd, API server, controller manager and scheduler as processes
// on this machine, and KWOK in the place of the kubelets, so that pods become
// Running and Ready. The provider's tests and its demo run against them.
//
// [Build] makes the binaries (minutes the first time, nothing after that),
// [Up] starts any number of clusters at the same time, [Down] stops them, and
// [Signal] stops, continues, kills or starts one component of one cluster.
//
// Everything about a run lies in one directory:
//
//	DIR/config                 kubeconfig of all clusters; a context is a cluster's name
//	DIR/testcluster.json       says that this directory is a run, and of which clusters
//	DIR/<cluster>/kubeconfig   the same for one cluster
//	DIR/<cluster>/<component>.json, .log
//	DIR/<cluster>/pki, data
//
// A process is only ever signalled when the kernel confirms that the recorded
// process id still belongs to a command line that names this directory. API
// servers listen on a loopback port given by the kernel, etcd on a socket
// inside its directory, the rest on nothing. So runs cannot meet.
//
// The package itself uses the standard library alone, which keeps the command
// built on it quick to build; only cmd/kube links Kubernetes.
package testcluster
