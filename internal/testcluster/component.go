package testcluster

import (
	"fmt"
	"path/filepath"
)

// The components of a cluster, as [Signal] and the log files name them.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kwok              = "kwok"
)

// Components lists all of them in the order they start. A lean cluster has the
// first two.
var Components = []string{Etcd, APIServer, ControllerManager, Scheduler, Kwok}

// etcdSocket is relative to the cluster's directory, which is the working
// directory of all its processes: the path of a socket may not be long.
const etcdSocket = "unix://etcd.sock"

// arguments returns the command line of a component. Everything that is not
// about paths, addresses or speed is left at Kubernetes' default.
func (c *cluster) arguments(component string) []string {
	pki := func(file string) string { return filepath.Join(c.dir, "pki", file) }
	kubeconfig := "--kubeconfig=" + c.kubeconfig()
	switch component {
	case Etcd:
		const peer = "unix://peer.sock"
		return []string{
			"--name=" + c.name,
			"--data-dir=" + filepath.Join(c.dir, "data"),
			"--listen-client-urls=" + etcdSocket,
			"--advertise-client-urls=" + etcdSocket,
			"--listen-peer-urls=" + peer,
			"--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=" + c.name + "=" + peer,
			"--unsafe-no-fsync", // data that outlives its machine is of no use here
			"--log-level=warn",
		}
	case APIServer:
		return []string{
			"--bind-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", c.port),
			"--etcd-servers=" + etcdSocket,
			"--tls-cert-file=" + pki(serverCertFile),
			"--tls-private-key-file=" + pki(serverKeyFile),
			"--client-ca-file=" + pki(caCertFile),
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-account-key-file=" + pki(accountKeyFile),
			"--service-account-signing-key-file=" + pki(accountKeyFile),
			"--service-cluster-ip-range=10.96.0.0/16",
			"--authorization-mode=Node,RBAC",
			"--allow-privileged=true",
			"--endpoint-reconciler-type=none", // it refuses a loopback address
		}
	case ControllerManager:
		return []string{
			kubeconfig,
			"--leader-elect=false",
			"--secure-port=0",
			"--root-ca-file=" + pki(caCertFile),
			"--service-account-private-key-file=" + pki(accountKeyFile),
			"--cluster-signing-cert-file=" + pki(caCertFile),
			"--cluster-signing-key-file=" + pki(caKeyFile),
			"--node-monitor-period=1s",
			"--kube-api-qps=500",
			"--kube-api-burst=1000",
		}
	case Scheduler:
		return []string{kubeconfig, "--leader-elect=false", "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=1000"}
	case Kwok:
		return []string{kubeconfig, "--manage-all-nodes=true", "--node-lease-duration-seconds=40"}
	}
	panic("testcluster: no component " + component)
}
