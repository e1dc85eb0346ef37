package fleet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// saysNot fails the test if the findings hold one of these texts.
func saysNot(t testing.TB, findings []fleet.Finding, parts ...string) {
	t.Helper()
	all := texts(findings)
	for _, part := range parts {
		if strings.Contains(all, part) {
			t.Errorf("something says %q:%s", part, all)
		}
	}
}

func TestAChangeThatIsRefusedAsInvalidNamesTheWayToReplaceTheObject(t *testing.T) {
	t.Parallel()
	const replace = "terraform apply -replace="
	w := newWorld(t, 2)
	r := w.declare(t, deployment)
	r.spec.Placement = on("a")
	r.must(t)
	r.write(t, strings.ReplaceAll(deployment, "app: web", "app: other"))
	findings := r.plan(t).findings
	tells(t, findings, "a error: API server refuses apps/Deployment/"+w.namespace+"/web")
	says(t, findings, "immutable", replace)
	outcome := r.apply(t)
	says(t, outcome.Findings, "immutable", replace)

	r.write(t, strings.ReplaceAll(deployment, "replicas: 2", "replicas: -2"))
	r.record, r.spec.Placement = nil, on("b")
	findings = r.plan(t).findings
	tells(t, findings, "b error: API server refuses apps/Deployment/"+w.namespace+"/web")
	saysNot(t, findings, replace)
}

func TestAMemberThatHoldsTheObjectIsNotToBeTakenOutBecauseItIsDown(t *testing.T) {
	t.Parallel()
	const takeOut = "take it out of the placement"
	w := newWorld(t, 2)
	w.health = member.HealthCheck{Attempts: 1, Timeout: 3 * time.Second}
	r := w.declare(t, configMap)
	w.proxies["b"].Refuse()
	says(t, r.plan(t).findings, takeOut)
	w.proxies["b"].Heal()
	r.must(t)

	r.write(t, strings.ReplaceAll(configMap, `"1"`, `"2"`))
	w.proxies["b"].Refuse()
	outcome := r.apply(t)
	tells(t, outcome.Findings, "b error: Member cannot be reached")
	says(t, outcome.Findings, "Bring the member back", `policy.on_unreachable = "skip"`)
	saysNot(t, outcome.Findings, takeOut)
}
