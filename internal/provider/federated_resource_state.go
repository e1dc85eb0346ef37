package provider

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
)

var targetTypes = map[string]attr.Type{
	"api_version": types.StringType, "kind": types.StringType, "namespace": types.StringType, "name": types.StringType,
}

// differenceType is the type of the elements of `differences`.
var differenceType = types.MapType{ElemType: types.StringType}

// setIdentity fills id and target; what is not known stays unknown.
func (m *federatedModel) setIdentity(r *fleet.Resolution) {
	if !r.IDKnown {
		m.ID, m.Target = types.StringUnknown(), types.ObjectUnknown(targetTypes)
		return
	}
	namespace := types.StringNull()
	if r.ID.Namespace != "" {
		namespace = types.StringValue(r.ID.Namespace)
	}
	m.ID = types.StringValue(r.ID.String())
	m.Target = types.ObjectValueMust(targetTypes, map[string]attr.Value{
		"api_version": types.StringValue(r.GVK.GroupVersion().String()), "kind": types.StringValue(r.GVK.Kind),
		"namespace": namespace, "name": types.StringValue(r.ID.Name),
	})
}

// setPlaced fills placed_clusters and versions. A version that is not known yet is unknown by itself.
func (m *federatedModel) setPlaced(r *fleet.Resolution, versions map[string]string) {
	if !r.PlacedKnown {
		m.PlacedClusters, m.Versions = types.SetUnknown(types.StringType), types.MapUnknown(types.StringType)
		return
	}
	m.PlacedClusters = stringSet(r.Placed)
	elements := map[string]attr.Value{}
	for name, version := range versions {
		elements[name] = types.StringUnknown()
		if version != "" {
			elements[name] = types.StringValue(version)
		}
	}
	m.Versions = types.MapValueMust(types.StringType, elements)
}

// setDifferences fills differences: member → pointer → value; members without any are left out.
func (m *federatedModel) setDifferences(differences map[string]map[string]string) {
	elements := map[string]attr.Value{}
	for name, paths := range differences {
		if len(paths) > 0 {
			elements[name] = stringMap(paths)
		}
	}
	m.Differences = types.MapValueMust(differenceType, elements)
}

// unknownDifferences is for a plan in which it is not known who gets the object, or what a member gets. A single element cannot be unknown:
// whether it will be there at all is not known either.
func (m *federatedModel) unknownDifferences() {
	m.Differences = types.MapUnknown(differenceType)
}

// keepOnly reduces the computed attributes to the members that still hold a copy.
func (m *federatedModel) keepOnly(record *fleet.Record) {
	members := record.Members()
	m.PlacedClusters = stringSet(members)
	versions, differences := stringsOf(m.Versions), m.differences()
	maps.DeleteFunc(versions, func(name, _ string) bool { return !slices.Contains(members, name) })
	maps.DeleteFunc(differences, func(name string, _ map[string]string) bool { return !slices.Contains(members, name) })
	m.Versions = stringMap(versions)
	m.setDifferences(differences)
}

// differences reads the attribute; nil where it is null or unknown.
func (m *federatedModel) differences() map[string]map[string]string {
	all := map[string]map[string]string{}
	for name, element := range m.Differences.Elements() {
		if paths, ok := element.(types.Map); ok {
			all[name] = stringsOf(paths)
		}
	}
	return all
}

// setPending fills pending_clusters and messages.
func (m *federatedModel) setPending(pending map[string]string) {
	m.PendingClusters = stringSet(slices.Sorted(maps.Keys(pending)))
	m.Messages = stringMap(pending)
}

// setPendingUnknown is for a plan that writes.
func (m *federatedModel) setPendingUnknown() {
	m.PendingClusters, m.Messages = types.SetUnknown(types.StringType), types.MapUnknown(types.StringType)
}

// pending lists pending_clusters.
func (m *federatedModel) pending() []string { return stringsIn(m.PendingClusters) }

// stringsIn lists a set of strings, sorted.
func stringsIn(set types.Set) []string {
	var names []string
	for _, element := range set.Elements() {
		if name, ok := element.(types.String); ok {
			names = append(names, name.ValueString())
		}
	}
	slices.Sort(names)
	return names
}

func stringSet(names []string) types.Set {
	elements := make([]attr.Value, len(names))
	for i, name := range names {
		elements[i] = types.StringValue(name)
	}
	return types.SetValueMust(types.StringType, elements)
}

func stringMap(texts map[string]string) types.Map {
	elements := make(map[string]attr.Value, len(texts))
	for key, text := range texts {
		elements[key] = types.StringValue(text)
	}
	return types.MapValueMust(types.StringType, elements)
}

func stringsOf(value types.Map) map[string]string {
	texts := make(map[string]string, len(value.Elements()))
	for key, element := range value.Elements() {
		if text, ok := element.(types.String); ok {
			texts[key] = text.ValueString()
		}
	}
	return texts
}
