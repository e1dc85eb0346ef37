package registry

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// Cluster is what a configuration says about a member that it joins.
type Cluster struct {
	Name         string
	APIEndpoint  string // "" = where its connection leads
	Labels       map[string]string
	Annotations  map[string]string
	Region       string
	Zones        []string
	Availability string
	Scope        Scope

	DisabledTLSValidations []string
	ProxyURL               string
	TokenRotation          map[string]string // another value makes another token
}

// Joined is what a join has made of a cluster.
type Joined struct {
	APIEndpoint    string
	ClusterUID     string
	SecretName     string // on the host
	ServiceAccount string // on the member, "namespace/name"
}

// clusterID is the mark's resource on what a join makes.
func clusterID(name string) string { return clusterIDPrefix + name }

const clusterIDPrefix = "kubefed_cluster/"

func (rec record) joined() *Joined {
	return &Joined{APIEndpoint: rec.endpoint, ClusterUID: rec.clusterUID, SecretName: rec.secret, ServiceAccount: rec.serviceAccount}
}

// describe puts what the configuration says into a record.
func (c Cluster) describe(rec record) record {
	rec.name, rec.labels, rec.annotations = c.Name, c.Labels, c.Annotations
	rec.region, rec.zones, rec.availability = c.Region, sorted(c.Zones), c.Availability
	rec.proxyURL, rec.disabledTLS = c.ProxyURL, c.DisabledTLSValidations
	if c.APIEndpoint != "" {
		rec.endpoint = c.APIEndpoint
	}
	return rec
}

// tree is the KubeFedCluster for a record.
func (rec record) tree() (map[string]any, error) {
	notes, err := rec.notes()
	if err != nil {
		return nil, err
	}
	metadata := map[string]any{"annotations": notes}
	if len(rec.labels) > 0 {
		metadata["labels"] = anyMap(rec.labels)
	}
	spec := map[string]any{"apiEndpoint": rec.endpoint, "secretRef": map[string]any{"name": rec.secret}}
	if len(rec.caBundle) > 0 {
		spec["caBundle"] = base64.StdEncoding.EncodeToString(rec.caBundle)
	}
	if rec.proxyURL != "" {
		spec["proxyURL"] = rec.proxyURL
	}
	if len(rec.disabledTLS) > 0 {
		spec["disabledTLSValidations"] = anyList(rec.disabledTLS)
	}
	return map[string]any{"metadata": metadata, "spec": spec}, nil
}

// notes are the annotations: the user's, and what KubeFedCluster has no field for.
func (rec record) notes() (map[string]any, error) {
	notes := anyMap(rec.annotations)
	for key, value := range map[string]string{
		regionAnnotation: rec.region, zonesAnnotation: strings.Join(rec.zones, ","), availabilityAnnotation: rec.availability,
		clusterUIDAnnotation: rec.clusterUID, uidNamespaceAnnotation: rec.uidNamespace, serviceAccountAnnotation: rec.serviceAccount,
		tlsServerNameAnnotation: rec.tlsServerName,
	} {
		if value != "" {
			notes[key] = value
		}
	}
	if len(rec.scope.Namespaces) > 0 || len(rec.scope.Rules) > 0 {
		text, err := json.Marshal(rec.scope)
		if err != nil {
			return nil, err
		}
		notes[scopeAnnotation] = string(text)
	}
	return notes, nil
}

func anyMap(texts map[string]string) map[string]any {
	all := make(map[string]any, len(texts))
	for key, text := range texts {
		all[key] = text
	}
	return all
}

// registered names a record's object on the host.
func (r *Registry) registered(name string) member.Object {
	return object(kubeFedClusterKind, r.config.Namespace, name)
}
