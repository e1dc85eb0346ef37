package registry

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// What KubeFedCluster has no field for is kept in annotations of it. An object that KubeFed itself made has none of them.
const (
	prefix = "terraform.kubefed.io/"

	availabilityAnnotation   = prefix + "availability"
	regionAnnotation         = prefix + "region"
	zonesAnnotation          = prefix + "zones" // comma-separated
	clusterUIDAnnotation     = prefix + "cluster-uid"
	uidNamespaceAnnotation   = prefix + "cluster-uid-of" // the namespace whose uid it is
	serviceAccountAnnotation = prefix + "service-account"
	scopeAnnotation          = prefix + "scope" // JSON of Scope
	tlsServerNameAnnotation  = prefix + "tls-server-name"
	leavingAnnotation        = prefix + "leaving" // set while the cluster is being unjoined
)

// lastApplied is what `kubectl apply` leaves behind; it is nobody's annotation.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

const kubeSystem = "kube-system"

// record is what a KubeFedCluster on the host says.
type record struct {
	name        string
	uid         types.UID
	labels      map[string]string // without ours
	annotations map[string]string // without ours
	mark        member.Mark
	marked      bool

	region       string // the user's
	zones        []string
	availability string
	seenRegion   string // by KubeFed's controllers
	seenZones    []string

	clusterUID     string
	uidNamespace   string
	serviceAccount string
	scope          Scope
	leaving        bool

	secret        string
	endpoint      string
	caBundle      []byte
	proxyURL      string
	disabledTLS   []string
	tlsServerName string
	token         string // only of what this process has joined
}

// spec is KubeFedCluster's spec, and what of its status is of use.
type clusterObject struct {
	Spec struct {
		APIEndpoint            string   `json:"apiEndpoint"`
		CABundle               string   `json:"caBundle"`
		ProxyURL               string   `json:"proxyURL"`
		DisabledTLSValidations []string `json:"disabledTLSValidations"`
		SecretRef              struct {
			Name string `json:"name"`
		} `json:"secretRef"`
	} `json:"spec"`
	Status struct {
		Region string   `json:"region"`
		Zones  []string `json:"zones"`
	} `json:"status"`
}

// recordOf reads a KubeFedCluster, written by this provider or by KubeFed.
func recordOf(o *unstructured.Unstructured) (record, error) {
	var c clusterObject
	raw, err := o.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		return record{}, fmt.Errorf("read KubeFedCluster %s: %w", o.GetName(), err)
	}
	ca, err := base64.StdEncoding.DecodeString(c.Spec.CABundle)
	if err != nil {
		return record{}, fmt.Errorf("read caBundle of KubeFedCluster %s: %w", o.GetName(), err)
	}
	notes := o.GetAnnotations()
	rec := record{
		name: o.GetName(), uid: o.GetUID(), labels: withoutOurs(o.GetLabels()), annotations: withoutOurs(notes),
		region: notes[regionAnnotation], zones: splitList(notes[zonesAnnotation]), availability: notes[availabilityAnnotation],
		clusterUID: notes[clusterUIDAnnotation], uidNamespace: notes[uidNamespaceAnnotation], serviceAccount: notes[serviceAccountAnnotation],
		leaving: notes[leavingAnnotation] != "", tlsServerName: notes[tlsServerNameAnnotation],
		secret: c.Spec.SecretRef.Name, endpoint: c.Spec.APIEndpoint, caBundle: ca, proxyURL: c.Spec.ProxyURL, disabledTLS: c.Spec.DisabledTLSValidations,
	}
	rec.mark, rec.marked = member.MarkOf(o)
	if rec.uidNamespace == "" {
		rec.uidNamespace = kubeSystem
	}
	rec.seenRegion, rec.seenZones = c.Status.Region, sorted(c.Status.Zones)
	if text := notes[scopeAnnotation]; text != "" {
		if err := json.Unmarshal([]byte(text), &rec.scope); err != nil {
			return record{}, fmt.Errorf("read annotation %s of KubeFedCluster %s: %w", scopeAnnotation, o.GetName(), err)
		}
	}
	return rec, nil
}

func withoutOurs(all map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range all {
		if !strings.HasPrefix(key, prefix) && key != lastApplied {
			kept[key] = value
		}
	}
	return kept
}

func splitList(text string) []string {
	if text == "" {
		return nil
	}
	return sorted(strings.Split(text, ","))
}

func (rec record) entry() Entry {
	e := Entry{
		Name: rec.name, Labels: rec.labels, Region: rec.region, Zones: rec.zones, Availability: rec.availability,
		ClusterUID: rec.clusterUID, Source: SourceHost,
	}
	if e.Region == "" && e.Zones == nil {
		e.Region, e.Zones = rec.seenRegion, rec.seenZones
	}
	return e
}

// restConfig is how the member is reached by what the host says.
func (rec record) restConfig(token string) (*rest.Config, error) {
	return member.Registered{
		Endpoint: rec.endpoint, CABundle: rec.caBundle, Token: token, ProxyURL: rec.proxyURL,
		DisabledTLSValidations: rec.disabledTLS, TLSServerName: rec.tlsServerName,
	}.RESTConfig()
}
