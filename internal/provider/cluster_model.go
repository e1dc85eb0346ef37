package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// clusterModel is a kubefed_cluster. Collections stay Terraform values: null and empty are told apart in state.
type clusterModel struct {
	Name                   types.String `tfsdk:"name"`
	Connection             types.Object `tfsdk:"cluster_connection"` // in configuration only
	APIEndpoint            types.String `tfsdk:"api_endpoint"`
	Labels                 types.Map    `tfsdk:"labels"`
	Annotations            types.Map    `tfsdk:"annotations"`
	Region                 types.String `tfsdk:"region"`
	Zones                  types.Set    `tfsdk:"zones"`
	Availability           types.String `tfsdk:"availability"`
	Scope                  types.Object `tfsdk:"scope"`
	DisabledTLSValidations types.List   `tfsdk:"disabled_tls_validations"`
	ProxyURL               types.String `tfsdk:"proxy_url"`
	TokenRotation          types.Map    `tfsdk:"token_rotation"`
	OnDestroy              types.Object `tfsdk:"on_destroy"`

	ClusterUID     types.String `tfsdk:"cluster_uid"`
	SecretName     types.String `tfsdk:"secret_name"`
	ServiceAccount types.String `tfsdk:"service_account"`
}

type scopeModel struct {
	Namespaces types.Set  `tfsdk:"namespaces"`
	Rules      types.List `tfsdk:"rules"`
}

type ruleModel struct {
	APIGroups []string `tfsdk:"api_groups"`
	Resources []string `tfsdk:"resources"`
	Verbs     []string `tfsdk:"verbs"`
}

type onDestroyModel struct {
	Objects     types.String `tfsdk:"objects"`
	Unreachable types.String `tfsdk:"unreachable"`
}

// toDomain translates a model whose values are known.
func (m *clusterModel) toDomain(ctx context.Context) (registry.Cluster, diag.Diagnostics) {
	var diags diag.Diagnostics
	c := registry.Cluster{
		Name: m.Name.ValueString(), APIEndpoint: m.APIEndpoint.ValueString(), Region: m.Region.ValueString(), ProxyURL: m.ProxyURL.ValueString(),
		Availability: availabilityOf(m.Availability),
	}
	diags.Append(m.Labels.ElementsAs(ctx, &c.Labels, false)...)
	diags.Append(m.Annotations.ElementsAs(ctx, &c.Annotations, false)...)
	diags.Append(m.Zones.ElementsAs(ctx, &c.Zones, false)...)
	diags.Append(m.DisabledTLSValidations.ElementsAs(ctx, &c.DisabledTLSValidations, false)...)
	diags.Append(m.TokenRotation.ElementsAs(ctx, &c.TokenRotation, false)...)
	scope, more := scopeOf(ctx, m.Scope)
	diags.Append(more...)
	c.Scope = scope
	return c, diags
}

// availabilityOf leaves the default out: on the host, nothing said is active.
func availabilityOf(value types.String) string {
	if value.ValueString() == registry.Active {
		return ""
	}
	return value.ValueString()
}

func scopeOf(ctx context.Context, value types.Object) (registry.Scope, diag.Diagnostics) {
	var (
		scope registry.Scope
		model scopeModel
		rules []ruleModel
	)
	if value.IsNull() {
		return scope, nil
	}
	diags := value.As(ctx, &model, objectAsOptions)
	diags.Append(model.Namespaces.ElementsAs(ctx, &scope.Namespaces, false)...)
	diags.Append(model.Rules.ElementsAs(ctx, &rules, false)...)
	for _, r := range rules {
		scope.Rules = append(scope.Rules, registry.Rule(r))
	}
	return scope, diags
}

// announcement is what others may know of the cluster before it is joined.
func (m *clusterModel) announcement(ctx context.Context) (registry.Announcement, diag.Diagnostics) {
	a := registry.Announcement{Name: m.Name.ValueString(), Region: m.Region.ValueString(), Availability: availabilityOf(m.Availability)}
	if !fullyKnown(ctx, m.Labels) || m.Region.IsUnknown() || !fullyKnown(ctx, m.Zones) || m.Availability.IsUnknown() {
		a.LabelsUnknown = true
		return a, nil
	}
	diags := m.Labels.ElementsAs(ctx, &a.Labels, false)
	diags.Append(m.Zones.ElementsAs(ctx, &a.Zones, false)...)
	return a, diags
}

// setJoined takes over what a join has made.
func (m *clusterModel) setJoined(j *registry.Joined) {
	m.APIEndpoint = types.StringValue(j.APIEndpoint)
	m.ClusterUID = types.StringValue(j.ClusterUID)
	m.SecretName = types.StringValue(j.SecretName)
	m.ServiceAccount = types.StringValue(j.ServiceAccount)
}

// setFound takes over what was found of a registered cluster. Labels and annotations of others are left out, but on import there are none yet
// to tell them by. What is as the state has it keeps its form: null, empty and order.
func (m *clusterModel) setFound(ctx context.Context, found *registry.Registration, imported bool) diag.Diagnostics {
	former, diags := m.toDomain(ctx)
	if !imported {
		found.Labels, found.Annotations = only(found.Labels, former.Labels), only(found.Annotations, former.Annotations)
	}
	m.setJoined(&found.Joined)
	m.Region, m.ProxyURL = stringOrNull(found.Region), stringOrNull(found.ProxyURL)
	m.Availability = types.StringValue(registry.Active)
	if found.Availability != "" {
		m.Availability = types.StringValue(found.Availability)
	}
	if !sameMap(found.Labels, former.Labels) {
		m.Labels = mapOrNull(ctx, found.Labels, &diags)
	}
	if !sameMap(found.Annotations, former.Annotations) {
		m.Annotations = mapOrNull(ctx, found.Annotations, &diags)
	}
	diags.Append(m.setFoundLists(ctx, found, former)...)
	return diags
}
