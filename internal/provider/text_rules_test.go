package provider_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// at finds the spot of an attribute, written with dots.
func (v validation) at(t *testing.T, name string) spot {
	t.Helper()
	for _, p := range places(v.schema.Block.Attributes, spot{}) {
		if strings.Join(p.names, ".") == name {
			return p
		}
	}
	t.Fatalf("there is no attribute %s", name)
	return spot{}
}

func TestTextThatCannotBeMeantIsOneErrorAtItsAttribute(t *testing.T) {
	all := validations(t)
	text := func(s string) func(tftypes.Type) tftypes.Value {
		return func(kind tftypes.Type) tftypes.Value { return tftypes.NewValue(kind, s) }
	}
	set := func(s string) func(tftypes.Type) tftypes.Value {
		return func(kind tftypes.Type) tftypes.Value {
			return tftypes.NewValue(kind, []tftypes.Value{tftypes.NewValue(tftypes.String, s)})
		}
	}
	label := func(key, value string) func(tftypes.Type) tftypes.Value {
		return func(kind tftypes.Type) tftypes.Value {
			return tftypes.NewValue(kind, map[string]tftypes.Value{key: tftypes.NewValue(tftypes.String, value)})
		}
	}
	for name, c := range map[string]struct {
		block, attribute string
		value            func(tftypes.Type) tftypes.Value
	}{
		"an owner of two lines":          {"provider", "owner", text("a\nb")},
		"an owner of blanks":             {"provider", "owner", text("  ")},
		"a long owner":                   {"provider", "owner", text(strings.Repeat("x", 254))},
		"a namespace that is no label":   {"provider", "namespace", text("Kube_Fed")},
		"a field manager of two lines":   {"provider", "field_manager", text("a\tb")},
		"a long field manager":           {"provider", "field_manager", text(strings.Repeat("ü", 65))},
		"a user of two lines":            {"provider", "impersonate.user", text("a\nb")},
		"an empty group":                 {"provider", "impersonate.groups", set("")},
		"a region with a blank":          {"provider", "member_clusters.region", text("eu west")},
		"a zone with a blank":            {"provider", "member_clusters.zones", set("eu west")},
		"an address with a blank":        {"kubefed_cluster", "api_endpoint", text("foo bar")},
		"an address without TLS":         {"kubefed_cluster", "api_endpoint", text("http://foo")},
		"a proxy of another scheme":      {"kubefed_cluster", "proxy_url", text("ftp://user:secret@x")},
		"a region of a cluster":          {"kubefed_cluster", "region", text("eu west")},
		"a zone of a cluster":            {"kubefed_cluster", "zones", set("eu west")},
		"a zone with a comma":            {"kubefed_cluster", "zones", set("a,b")},
		"a namespace of a scope":         {"kubefed_cluster", "scope.namespaces", set("A/b")},
		"the label of a member's name":   {"kubefed_cluster", "labels", label("kubernetes.io/metadata.name", "x")},
		"the label of a member's region": {"kubefed_cluster", "labels", label("topology.kubernetes.io/region", "x")},
		"the label of a member's zone":   {"kubefed_cluster", "labels", label("topology.kubernetes.io/zone", "x")},
		"a label that is none":           {"kubefed_cluster", "labels", label("a b", "x")},
	} {
		t.Run(name, func(t *testing.T) {
			v := all[c.block]
			p := v.at(t, c.attribute)
			v.wantOneErrorAt(t, p, c.value(p.kind()))
			if said := said(v.findings(t, p, c.value(p.kind()))); strings.Contains(said, "secret") {
				t.Errorf("a password is shown: %s", said)
			}
		})
	}
}

func TestAMemberOfTheProviderBlockIsCheckedBeforeItIsDialled(t *testing.T) {
	v := validations(t)["provider"]
	p := v.at(t, "member_clusters")
	kinds := p.kind().(tftypes.Map).ElementType.(tftypes.Object).AttributeTypes
	for name, set := range map[string]map[string]any{
		"a token over http":     {"host": "http://127.0.0.1:1", "token": "s3cr3t"},
		"a token of two lines":  {"host": "https://127.0.0.1:1", "token": "s3cr3t\n"},
		"a label that is none":  {"host": "https://127.0.0.1:1", "labels": map[string]tftypes.Value{"a b": tftypes.NewValue(tftypes.String, "x")}},
		"a value that is none":  {"host": "https://127.0.0.1:1", "labels": map[string]tftypes.Value{"a": tftypes.NewValue(tftypes.String, "x y")}},
		"the label of its name": {"host": "https://127.0.0.1:1", "labels": map[string]tftypes.Value{"kubernetes.io/metadata.name": tftypes.NewValue(tftypes.String, "x")}},
	} {
		t.Run(name, func(t *testing.T) {
			fields := map[string]tftypes.Value{}
			for attribute, kind := range kinds {
				fields[attribute] = tftypes.NewValue(kind, set[attribute])
			}
			member := tftypes.NewValue(tftypes.Object{AttributeTypes: kinds}, fields)
			found := v.findings(t, p, tftypes.NewValue(p.kind(), map[string]tftypes.Value{"eu": member}))
			if len(found) != 1 || found[0].Severity != tfprotov6.DiagnosticSeverityError || strings.Contains(said(found), "s3cr3t") || !strings.Contains(said(found), "member_clusters[") {
				t.Errorf("%d findings: %s", len(found), said(found))
			}
		})
	}
}
