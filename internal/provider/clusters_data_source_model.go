package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
	"github.com/kubefed/terraform-provider-kubefed/internal/tfvalue"
)

// clustersModel is a data source kubefed_clusters.
type clustersModel struct {
	ClusterSelector types.Object           `tfsdk:"cluster_selector"`
	Names           []string               `tfsdk:"names"`
	Clusters        map[string]reportModel `tfsdk:"clusters"`
}

type reportModel struct {
	Labels            map[string]string `tfsdk:"labels"`
	Region            types.String      `tfsdk:"region"`
	Zones             []string          `tfsdk:"zones"`
	Availability      string            `tfsdk:"availability"`
	Ready             bool              `tfsdk:"ready"`
	Reason            types.String      `tfsdk:"reason"`
	KubernetesVersion types.String      `tfsdk:"kubernetes_version"`
	Allocatable       *capacityModel    `tfsdk:"allocatable"`
	Free              *capacityModel    `tfsdk:"free"`
}

type capacityModel struct {
	CPU    string `tfsdk:"cpu"`
	Memory string `tfsdk:"memory"`
	Pods   int64  `tfsdk:"pods"`
}

// selection reads the selector; without one all members are chosen.
func (m *clustersModel) selection() (federation.Selection, error) {
	selection := federation.Selection{Selector: &federation.Selector{}}
	if m.ClusterSelector.IsNull() {
		return selection, nil
	}
	tree, _, err := tfvalue.Tree(m.ClusterSelector)
	if err != nil {
		return selection, err
	}
	root := rootNode(tree, "cluster_selector")
	selection.Selector = readSelector(root)
	if err := root.err(); err != nil {
		return selection, err
	}
	return selection, selection.Validate()
}

// fill takes over what the members report, of those that are chosen.
func (m *clustersModel) fill(selection federation.Selection, reports []registry.Report) diag.Diagnostics {
	m.Names, m.Clusters = []string{}, map[string]reportModel{}
	for _, r := range reports {
		chosen, err := selection.Matches(federation.Member{Name: r.Name, Labels: r.Labels, Region: r.Region, Zones: r.Zones, Availability: r.Availability})
		if err != nil {
			return inputDiagnostics(err)
		}
		if chosen {
			m.Names = append(m.Names, r.Name)
			m.Clusters[r.Name] = reportModelOf(r)
		}
	}
	return nil
}

func reportModelOf(r registry.Report) reportModel {
	m := reportModel{
		Labels: r.Labels, Region: stringOrNull(r.Region), Zones: r.Zones, Availability: r.Availability, Ready: r.Ready, Reason: stringOrNull(r.Reason),
		KubernetesVersion: stringOrNull(r.Version), Allocatable: (*capacityModel)(r.Allocatable), Free: (*capacityModel)(r.Free),
	}
	if m.Labels == nil {
		m.Labels = map[string]string{}
	}
	if m.Zones == nil {
		m.Zones = []string{}
	}
	if m.Availability == "" {
		m.Availability = registry.Active
	}
	return m
}
