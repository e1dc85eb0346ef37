package provider

import (
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

func TestDriftIsTitledByItsObjectAndAChangedOwnerIsNone(t *testing.T) {
	const label, annotation = "/metadata/labels/terraform.kubefed.io~1owner", "/metadata/annotations/terraform.kubefed.io~1owner-name"
	target := &fleet.Target{ID: federation.ID{Kind: "ConfigMap", Namespace: "shop", Name: "x"}, Mark: member.Mark{Owner: "new"}}
	for name, c := range map[string]struct {
		drift map[string]string
		owner string
		want  []string
	}{
		"nothing":               {nil, "", nil},
		"a field":               {map[string]string{"/data/a": "1"}, "", []string{"core/ConfigMap/shop/x was changed outside of Terraform"}},
		"the owner":             {map[string]string{label: "h", annotation: "old"}, "old", []string{"Objects get the new owner"}},
		"the owner and a field": {map[string]string{label: "h", "/data/a": "1"}, "old", []string{"Objects get the new owner", "core/ConfigMap/shop/x was changed outside of Terraform"}},
		"a mark somebody took":  {map[string]string{label: "null"}, "", []string{"core/ConfigMap/shop/x was changed outside of Terraform"}},
	} {
		var got []string
		for _, f := range changed(target, fleet.Observation{Member: "eu", Drift: c.drift, FormerOwner: c.owner}) {
			got = append(got, f.Summary)
		}
		if len(got) != len(c.want) || (len(got) > 0 && got[0] != c.want[0]) || (len(got) > 1 && got[1] != c.want[1]) {
			t.Errorf("%s: told is %q, want %q", name, got, c.want)
		}
	}
}
