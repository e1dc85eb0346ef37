// Package kubetest gives tests real Kubernetes clusters, and a proxy in front
// of them that breaks, counts and records. Only tests import it.
//
// A package that uses it has
//
//	func TestMain(m *testing.M) { kubetest.Main(m) }
//
// [Host] and [Member] are full clusters with a scheduler and simulated nodes,
// shared by all tests of the package; a test keeps to itself with a
// [Cluster.Namespace] of its own and [UniqueName] for what has no namespace.
// [Fresh] is a cluster of one test alone, to be stopped and broken at will.
// Clusters start on first use and end with the test binary, however it ends.
// Their binaries are built on first use, which takes minutes once.
//
// If the variable KUBEFED_TEST_CLUSTERS names a directory made by `testcluster
// up`, the shared clusters are those, so that several packages need not start
// their own.
//
// [NewProxy] stands between a client and one API server. It records every
// [Request] and can refuse, stall, answer with errors, break TLS or cut the
// connection, and heal again.
package kubetest
