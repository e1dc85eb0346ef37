package provider_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

func TestAccClustersDataSourceTellsWhatEveryMemberIsLike(t *testing.T) {
	t.Parallel()
	f, tf := newFederation(t, "asia", "eu", "us"), newTerraform(t)
	f.sites["us"].proxy.Refuse()
	output := "output \"all\" { value = data.kubefed_clusters.all }\noutput \"eu\" { value = data.kubefed_clusters.eu.names }\n"
	tf.configure(f.provider(), "data \"kubefed_clusters\" \"all\" {}",
		"data \"kubefed_clusters\" \"eu\" { cluster_selector = { match_expressions = [{ key = \"name\", operator = \"In\", values = [\"eu\"] }] } }", output)
	tf.apply().succeeds().quiet()
	var outputs map[string]struct{ Value any }
	tf.decode(&outputs, "output", "-json")
	all, _ := outputs["all"].Value.(map[string]any)
	if got := attributes(all).names("names"); !reflect.DeepEqual(got, []string{"asia", "eu", "us"}) {
		t.Errorf("the members are %v", got)
	}
	if got := outputs["eu"].Value; !reflect.DeepEqual(got, []any{"eu"}) {
		t.Errorf("the selector chooses %v", got)
	}
	eu, us := attributes(all).at("clusters", "eu"), attributes(all).at("clusters", "us")
	ready, _ := eu.(map[string]any)
	if ready["ready"] != true || ready["reason"] != nil || !strings.HasPrefix(ready["kubernetes_version"].(string), "v1.") || ready["availability"] != "active" {
		t.Errorf("eu is %v", ready)
	}
	if got := attributes(ready).at("allocatable", "cpu"); got != "16" {
		t.Errorf("eu, with two nodes of 8 cores, offers %v", got)
	}
	if free := attributes(ready).at("free", "memory"); free == nil {
		t.Error("the free memory of eu is not known")
	}
	down, _ := us.(map[string]any)
	if reason, _ := down["reason"].(string); down["ready"] != false || !strings.Contains(reason, "does not answer") || down["allocatable"] != nil {
		t.Errorf("us is %v", down)
	}
}

func TestAccClustersDataSourceNeverDialsAMemberThatIsOffline(t *testing.T) {
	t.Parallel()
	tf := newTerraform(t)
	proxy := kubetest.NewProxy(t, kubetest.Member(t, 1))
	tf.configure("provider \"kubefed\" {\n  owner = \"x\"\n  member_clusters = { a = { config_path = \""+proxy.Kubeconfig()+"\", availability = \"offline\", zones = [\"z2\", \"z1\"] } }\n}\n",
		"data \"kubefed_clusters\" \"all\" {}\noutput \"a\" { value = data.kubefed_clusters.all.clusters[\"a\"] }\n")
	tf.apply().succeeds().quiet()
	var outputs map[string]struct{ Value attributes }
	tf.decode(&outputs, "output", "-json")
	if a := outputs["a"].Value; a["ready"] != false || a["availability"] != "offline" || !reflect.DeepEqual(a.names("zones"), []string{"z1", "z2"}) {
		t.Errorf("it is %v", a)
	}
	if n := proxy.Connections(); n > 0 {
		t.Errorf("it was dialled %d times", n)
	}
}
