package fleet_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// breakPlugin gives a member a credential plugin that is not there.
func (w *world) breakPlugin(t *testing.T, name string) {
	t.Helper()
	cfg := w.proxies[name].RESTConfig()
	cfg.BearerToken = ""
	cfg.ExecProvider = &clientcmdapi.ExecConfig{APIVersion: "client.authentication.k8s.io/v1", Command: filepath.Join(t.TempDir(), "none"), InteractiveMode: clientcmdapi.NeverExecInteractiveMode}
	w.static[name] = registry.Static{Config: cfg}
}

func TestNoPolicyExcusesAMemberThatIsMisconfigured(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	good := w.static["b"]
	w.breakPlugin(t, "b")
	r := w.declare(t, configMap)
	r.spec.Policy.OnUnreachable, r.spec.Policy.OnUnreachableDelete = fleet.PolicySkip, fleet.PolicyForget
	tells(t, r.plan(t).findings, "b error: Member is misconfigured")
	outcome := r.apply(t)
	if tells(t, outcome.Findings, "b error: Member is misconfigured"); !outcome.Undone || len(r.there(t)) > 0 {
		t.Errorf("undone %v, the object is on %v", outcome.Undone, r.there(t))
	}

	w.static["b"] = good
	r.must(t)
	w.breakPlugin(t, "b")
	r.write(t, strings.ReplaceAll(configMap, `"1"`, `"2"`))
	p := r.plan(t)
	tells(t, p.findings, "b error: Member is misconfigured")
	says(t, p.findings, "Correct the member's connection")

	r.spec.Placement = on("a")
	r.write(t, configMap)
	tells(t, r.plan(t).findings, "b warning: Member is misconfigured")
	if outcome = r.apply(t); !outcome.Failed() || !slices.Equal(r.record.Members(), w.names) {
		t.Errorf("the record has %v: %s", r.record.Members(), texts(outcome.Findings))
	}
	if outcome = r.destroy(t); !outcome.Failed() || !slices.Equal(r.record.Members(), []string{"b"}) {
		t.Errorf("destroyed: the record has %v: %s", r.record.Members(), texts(outcome.Findings))
	}
	w.static["b"] = good
	if outcome = r.destroy(t); outcome.Failed() || len(r.there(t)) > 0 {
		t.Errorf("mended: the object is on %v: %s", r.there(t), texts(outcome.Findings))
	}
}

func TestASecondNameOfAClusterIsAnErrorUnderEveryPolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.clusters["z"], w.proxies["z"] = w.clusters["a"], kubetest.NewProxy(t, w.clusters["a"])
	w.static["z"] = registry.Static{Config: w.proxies["z"].RESTConfig()}
	r := w.declare(t, configMap)
	r.spec.Placement = on("a", "z")
	r.spec.Policy.OnUnreachable = fleet.PolicySkip
	if p := r.plan(t); !fleet.HasError(p.findings) {
		t.Errorf("the plan says %s", texts(p.findings))
	}
	if outcome := r.apply(t); !outcome.Undone || len(w.proxies["a"].Writes())+len(w.proxies["z"].Writes()) > 0 {
		t.Errorf("undone %v: %s", outcome.Undone, texts(outcome.Findings))
	}
}
