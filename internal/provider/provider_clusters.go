package provider

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

// registry translates the clusters of the provider block. What is not known yet makes the members unknown (registry.Config.Unknown), or,
// where it is only one member's connection, that member.
func (m providerModel) registry(ctx context.Context) (registry.Config, diag.Diagnostics) {
	config := registry.Config{
		Namespace: stringOr(m.Namespace, defaultNamespace),
		Connector: &member.Connector{DefaultConfigPath: m.ConfigPath.ValueString()},
		Unknown:   m.unknown(ctx),
	}
	if config.Unknown != "" {
		return config, nil
	}
	diags := m.addHost(ctx, &config)
	diags.Append(m.addMembers(ctx, &config)...)
	return config, diags
}

// unknown says which part of the provider block leaves open who the members are.
func (m providerModel) unknown(ctx context.Context) string {
	because := func(what string) string { return "`" + what + "` of the provider is known after apply" }
	switch {
	case m.Owner.IsUnknown():
		return because("owner")
	case m.Namespace.IsUnknown():
		return because("namespace")
	case m.ConfigPath.IsUnknown():
		return because("config_path")
	case !fullyKnown(ctx, m.HostCluster):
		return because("host_cluster")
	case m.FieldManager.IsUnknown():
		return because("field_manager")
	case !fullyKnown(ctx, m.Impersonate):
		return because("impersonate")
	case !fullyKnown(ctx, m.Policy):
		return because("policy")
	case m.MemberClusters.IsUnknown():
		return because("member_clusters")
	}
	return ""
}

func (m providerModel) addHost(ctx context.Context, config *registry.Config) diag.Diagnostics {
	if m.HostCluster.IsNull() {
		return nil
	}
	at := path.Root("host_cluster")
	var host connectionModel
	diags := m.HostCluster.As(ctx, &host, objectAsOptions)
	connection, more := host.toDomain(ctx, at)
	diags.Append(more...)
	if diags.HasError() {
		return diags
	}
	made, err := config.Connector.RESTConfig(connection)
	if err != nil {
		diags.Append(connectionDiagnostic(at, "the host cluster", err))
	}
	config.Host = made
	return diags
}

func (m providerModel) addMembers(ctx context.Context, config *registry.Config) diag.Diagnostics {
	if m.MemberClusters.IsNull() {
		return nil
	}
	members := map[string]types.Object{}
	diags := m.MemberClusters.ElementsAs(ctx, &members, false)
	config.Static = map[string]registry.Static{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		at := path.Root("member_clusters").AtMapKey(name)
		if message := invalidClusterName(name); message != "" {
			diags.AddAttributeError(at, "Invalid member name", message)
			continue
		}
		if members[name].IsUnknown() {
			config.Unknown = fmt.Sprintf("member %q of `member_clusters` is known after apply", name)
			return diags
		}
		var element memberModel
		diags.Append(members[name].As(ctx, &element, objectAsOptions)...)
		static, unknown, more := element.toDomain(ctx, at, name, config.Connector)
		diags.Append(more...)
		if unknown != "" {
			config.Unknown = unknown
			return diags
		}
		config.Static[name] = static
	}
	return diags
}

// toDomain translates one member. unknown says why it cannot be told yet whom selectors choose.
func (m memberModel) toDomain(ctx context.Context, at path.Path, name string, connector *member.Connector) (static registry.Static, unknown string, diags diag.Diagnostics) {
	if !fullyKnown(ctx, m.Labels) || m.Region.IsUnknown() || !fullyKnown(ctx, m.Zones) || m.Availability.IsUnknown() {
		return static, fmt.Sprintf("labels, region, zones or availability of member %q are known after apply", name), nil
	}
	static = registry.Static{Region: m.Region.ValueString(), Availability: m.Availability.ValueString()}
	diags.Append(m.Labels.ElementsAs(ctx, &static.Labels, false)...)
	diags.Append(m.Zones.ElementsAs(ctx, &static.Zones, false)...)
	for _, key := range slices.Sorted(maps.Keys(static.Labels)) {
		if why := registry.InvalidLabel(key, static.Labels[key]); why != "" {
			diags.AddAttributeError(pointable(at), "Invalid label", fmt.Sprintf("`%s`: %q = %q: %s.", at.AtName("labels"), key, static.Labels[key], why))
		}
	}
	if !m.known(ctx) {
		return static, "", diags
	}
	connection, more := m.connectionModel.toDomain(ctx, at)
	diags.Append(more...)
	if diags.HasError() {
		return static, "", diags
	}
	made, err := connector.RESTConfig(connection)
	if err != nil {
		diags.Append(connectionDiagnostic(at, fmt.Sprintf("member %q", name), err))
	}
	static.Config = made
	return static, "", diags
}
