package provider_test

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	kubefed "github.com/kubefed/terraform-provider-kubefed/internal/provider"
)

// validation is one kind of block of a configuration, and what Terraform asks of the provider about it before it plans.
type validation struct {
	schema *tfprotov6.Schema
	check  func(context.Context, *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error)
}

// validations are the blocks that the provider knows. For the provider block Terraform goes on and configures it, which dials nobody.
func validations(t *testing.T) map[string]validation {
	t.Helper()
	server := kubefed.NewServer("test")()
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]validation{"provider": {schemas.Provider, func(ctx context.Context, config *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error) {
		validated, err := server.ValidateProviderConfig(ctx, &tfprotov6.ValidateProviderConfigRequest{Config: config})
		if err != nil || len(validated.Diagnostics) > 0 {
			return validated.Diagnostics, err
		}
		configured, err := server.ConfigureProvider(ctx, &tfprotov6.ConfigureProviderRequest{Config: config})
		return configured.Diagnostics, err
	}}}
	for name, schema := range schemas.ResourceSchemas {
		all[name] = validation{schema, func(ctx context.Context, config *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error) {
			answer, err := server.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{TypeName: name, Config: config,
				ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true}})
			return answer.Diagnostics, err
		}}
	}
	for name, schema := range schemas.DataSourceSchemas {
		all["data."+name] = validation{schema, func(ctx context.Context, config *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error) {
			answer, err := server.ValidateDataResourceConfig(ctx, &tfprotov6.ValidateDataResourceConfigRequest{TypeName: name, Config: config})
			return answer.Diagnostics, err
		}}
	}
	return all
}

// spot is an attribute of a schema that a configuration can set: the steps to it, with the types of all on the way.
type spot struct {
	names []string
	kinds []tftypes.Type
	level [][]*tfprotov6.SchemaAttribute // what it lies in, with its siblings
}

func (p spot) kind() tftypes.Type { return p.kinds[len(p.kinds)-1] }

// places lists every attribute that can be set, at every depth.
func places(attributes []*tfprotov6.SchemaAttribute, before spot) []spot {
	var all []spot
	for _, a := range attributes {
		if !a.Optional && !a.Required {
			continue
		}
		here := spot{names: append(slices.Clone(before.names), a.Name), kinds: append(slices.Clone(before.kinds), a.ValueType()), level: append(slices.Clone(before.level), attributes)}
		all = append(all, here)
		if a.NestedType != nil {
			all = append(all, places(a.NestedType.Attributes, here)...)
		}
	}
	return all
}

// sample is a value for attributes that are required, and for those without which others make no sense.
func sample(name string, kind tftypes.Type) tftypes.Value {
	switch {
	case name == "placement":
		object := kind.(tftypes.Object).AttributeTypes
		return tftypes.NewValue(kind, map[string]tftypes.Value{
			"clusters":         tftypes.NewValue(object["clusters"], []tftypes.Value{tftypes.NewValue(tftypes.String, "eu")}),
			"cluster_selector": tftypes.NewValue(object["cluster_selector"], nil), "exclude": tftypes.NewValue(object["exclude"], nil)})
	case name == "member_clusters":
		return tftypes.NewValue(kind, map[string]tftypes.Value{})
	case name == "template":
		return tftypes.NewValue(tftypes.String, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
	case kind.Is(tftypes.List{}):
		return tftypes.NewValue(kind, []tftypes.Value{tftypes.NewValue(tftypes.String, "get")})
	}
	return tftypes.NewValue(kind, "eu")
}

// config builds a configuration in which the attribute at p has a value, and nothing else is set but what is required.
func (p spot) config(depth int, value tftypes.Value) tftypes.Value {
	if depth == len(p.names) {
		return value
	}
	fields, kinds := map[string]tftypes.Value{}, map[string]tftypes.Type{}
	for _, a := range p.level[depth] {
		kinds[a.Name] = a.ValueType()
		switch {
		case a.Name == p.names[depth]:
			fields[a.Name] = wrap(a, p.config(depth+1, value), depth+1 < len(p.names))
		case a.Required || a.Name == "member_clusters":
			fields[a.Name] = sample(a.Name, a.ValueType())
		default:
			fields[a.Name] = tftypes.NewValue(a.ValueType(), nil)
		}
	}
	return tftypes.NewValue(tftypes.Object{AttributeTypes: kinds}, fields)
}

// wrap puts the object of a nested attribute into what holds it.
func wrap(a *tfprotov6.SchemaAttribute, value tftypes.Value, inside bool) tftypes.Value {
	if !inside || a.NestedType == nil {
		return value
	}
	switch a.NestedType.Nesting {
	case tfprotov6.SchemaObjectNestingModeList:
		return tftypes.NewValue(a.ValueType(), []tftypes.Value{value})
	case tfprotov6.SchemaObjectNestingModeMap:
		return tftypes.NewValue(a.ValueType(), map[string]tftypes.Value{"eu": value})
	}
	return value
}

// whole completes a configuration with the blocks of the schema, which are left out.
func whole(schema *tfprotov6.Schema, object tftypes.Value) (tftypes.Value, error) {
	var fields map[string]tftypes.Value
	if err := object.As(&fields); err != nil {
		return object, err
	}
	kinds := schema.ValueType().(tftypes.Object).AttributeTypes
	for name, kind := range kinds {
		if _, there := fields[name]; !there {
			fields[name] = tftypes.NewValue(kind, nil)
		}
	}
	return tftypes.NewValue(schema.ValueType(), fields), nil
}

// findings is what is found in a configuration with this value at a spot.
func (v validation) findings(t *testing.T, p spot, value tftypes.Value) []*tfprotov6.Diagnostic {
	t.Helper()
	config, err := whole(v.schema, p.config(0, value))
	if err != nil {
		t.Fatal(err)
	}
	sent, err := tfprotov6.NewDynamicValue(v.schema.ValueType(), config)
	if err != nil {
		t.Fatal(err)
	}
	found, err := v.check(t.Context(), &sent)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// wantOneErrorAt checks a configuration, and wants one error at the attribute that names what it is about and is not called a bug.
func (v validation) wantOneErrorAt(t *testing.T, p spot, value tftypes.Value) {
	t.Helper()
	found := v.findings(t, p, value)
	where := strings.Join(p.names, ".")
	if len(found) != 1 {
		t.Errorf("%s = %s: %d findings, want one error: %s", where, value, len(found), said(found))
		return
	}
	d := found[0]
	last := p.names[len(p.names)-1]
	if d.Severity != tfprotov6.DiagnosticSeverityError || strings.Contains(d.Detail, "always an error in the provider") || d.Attribute == nil ||
		!strings.Contains(d.Attribute.String(), `AttributeName("`+p.names[0]+`")`) || !strings.Contains(d.Detail+d.Attribute.String(), last) {
		t.Errorf("%s = %s: %s", where, value, said(found))
	}
}

func said(found []*tfprotov6.Diagnostic) string {
	text := ""
	for _, d := range found {
		text += "\n" + d.Summary + ": " + d.Detail + " at " + d.Attribute.String()
	}
	return text
}

func TestANullElementIsOneErrorAtItsAttributeWhereverItIs(t *testing.T) {
	for name, v := range validations(t) {
		for _, p := range places(v.schema.Block.Attributes, spot{}) {
			element := func(kind tftypes.Type) []tftypes.Value { return []tftypes.Value{tftypes.NewValue(kind, nil)} }
			t.Run(name+"."+strings.Join(p.names, "."), func(t *testing.T) {
				switch kind := p.kind().(type) {
				case tftypes.List:
					v.wantOneErrorAt(t, p, tftypes.NewValue(kind, element(kind.ElementType)))
				case tftypes.Set:
					v.wantOneErrorAt(t, p, tftypes.NewValue(kind, element(kind.ElementType)))
				case tftypes.Map:
					v.wantOneErrorAt(t, p, tftypes.NewValue(kind, map[string]tftypes.Value{"a": tftypes.NewValue(kind.ElementType, nil)}))
				}
			})
		}
	}
}

func TestANumberThatCannotBeMeantIsOneErrorAtItsAttribute(t *testing.T) {
	huge, _, err := big.ParseFloat("99999999999999999999", 10, 512, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	beyond, _, err := big.ParseFloat("1e999", 10, 512, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]*big.Float{"a fraction": big.NewFloat(1.5), "below zero": big.NewFloat(-1), "more than 64 bits": huge, "more than a float": beyond}
	for name, v := range validations(t) {
		for _, p := range places(v.schema.Block.Attributes, spot{}) {
			for what, number := range numbers {
				t.Run(name+"."+strings.Join(p.names, ".")+" "+what, func(t *testing.T) {
					value := tftypes.NewValue(tftypes.Number, number)
					switch kind := p.kind(); {
					case p.names[len(p.names)-1] == "qps" && what == "a fraction":
					case kind.Is(tftypes.Number):
						v.wantOneErrorAt(t, p, value)
					case kind.Equal(tftypes.Map{ElementType: tftypes.Number}):
						v.wantOneErrorAt(t, p, tftypes.NewValue(kind, map[string]tftypes.Value{"eu": value}))
					}
				})
			}
		}
	}
}

func TestWhatIsRequiredAndNullIsOneError(t *testing.T) {
	for name, v := range validations(t) {
		for _, a := range v.schema.Block.Attributes {
			if a.Required {
				t.Run(name+"."+a.Name, func(t *testing.T) {
					p := spot{names: []string{a.Name}, kinds: []tftypes.Type{a.ValueType()}, level: [][]*tfprotov6.SchemaAttribute{v.schema.Block.Attributes}}
					v.wantOneErrorAt(t, p, tftypes.NewValue(a.ValueType(), nil))
				})
			}
		}
	}
}

func TestATextThatIsNoAmountOrTimeIsOneErrorAtItsAttribute(t *testing.T) {
	v := validations(t)["kubefed_federated_resource"]
	faults := map[string][]string{
		"rollout.max_concurrency": {"0", "-1", "0%", "101%", "1.5", "half", ""}, "rollout.min_ready_time": {"-5m", "0s", "5", "soon", ""}, "wait.timeout": {"-5m", "0s", "5", "soon", ""},
		"wait.conditions.status": {"true", ""}, "wait.conditions.type": {""},
	}
	for _, p := range places(v.schema.Block.Attributes, spot{}) {
		for _, text := range faults[strings.Join(p.names, ".")] {
			t.Run(strings.Join(p.names, ".")+" "+text, func(t *testing.T) { v.wantOneErrorAt(t, p, tftypes.NewValue(tftypes.String, text)) })
		}
	}
}

func TestATimeoutThatIsNoTimeIsOneError(t *testing.T) {
	v := validations(t)["kubefed_federated_resource"]
	for _, text := range []string{"-5m", "0s", "5", "soon", ""} {
		t.Run(text, func(t *testing.T) {
			p := spot{names: []string{"placement"}, level: [][]*tfprotov6.SchemaAttribute{v.schema.Block.Attributes}}
			kinds := v.schema.ValueType().(tftypes.Object).AttributeTypes
			object, err := whole(v.schema, p.config(0, sample("placement", kinds["placement"])))
			if err != nil {
				t.Fatal(err)
			}
			var fields map[string]tftypes.Value
			if err := object.As(&fields); err != nil {
				t.Fatal(err)
			}
			null := tftypes.NewValue(tftypes.String, nil)
			fields["timeouts"] = tftypes.NewValue(kinds["timeouts"], map[string]tftypes.Value{"create": null, "update": tftypes.NewValue(tftypes.String, text), "delete": null})
			sent, err := tfprotov6.NewDynamicValue(v.schema.ValueType(), tftypes.NewValue(v.schema.ValueType(), fields))
			if err != nil {
				t.Fatal(err)
			}
			found, err := v.check(t.Context(), &sent)
			if err != nil || len(found) != 1 || !strings.Contains(found[0].Detail, "timeouts.update") {
				t.Errorf("%v, %s", err, said(found))
			}
		})
	}
}
