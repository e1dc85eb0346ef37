package federation

import (
	"strings"
	"testing"
)

var yes, no = true, false

// normalized wants a template to be accepted, and gives what Normalize makes of it.
func normalized(t *testing.T, manifest string, o TemplateOptions) (map[string]any, []string) {
	t.Helper()
	in := object(t, manifest)
	before := text(t, in)
	out, warnings, err := Normalize(in, o)
	noError(t, err)
	same(t, text(t, in), before)
	again, _, err := Normalize(out, o)
	noError(t, err)
	same(t, again, out)
	return out, warnings
}

// becomes wants Normalize to make one manifest of another, without a warning.
func becomes(t *testing.T, manifest, want string, o TemplateOptions) {
	t.Helper()
	out, warnings := normalized(t, manifest, o)
	same(t, out, object(t, want))
	if len(warnings) > 0 {
		t.Errorf("needless warnings: %q", warnings)
	}
}

func TestNormalizeDropsNulls(t *testing.T) {
	becomes(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default, labels: null, creationTimestamp: null},
		data: {k: v, gone: ~}, list: [{a: null, b: 1}]}`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default}, data: {k: v}, list: [{b: 1}]}`, TemplateOptions{})
}

func TestNormalizeRefusesNullInAList(t *testing.T) {
	_, _, err := Normalize(object(t, `{apiVersion: v1, kind: A, metadata: {name: x}, spec: {list: [a, ~]}}`), TemplateOptions{})
	refused(t, err, "spec.list.1", "/spec/list/1", "cannot hold null")
}

func TestNormalizeKeepsEmptyMapsListsAndFalse(t *testing.T) {
	manifest := `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: deny, namespace: default},
		spec: {podSelector: {}, policyTypes: [Ingress], ingress: [], on: false, text: "", zero: 0}}`
	becomes(t, manifest, manifest, TemplateOptions{Namespaced: &yes})
}

func TestNormalizeFillsTheNamespaceOfNamespacedKinds(t *testing.T) {
	const bare = `{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}`
	const other = `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: other}}`
	becomes(t, bare, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default}}`, TemplateOptions{Namespaced: &yes})
	becomes(t, bare, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: team}}`,
		TemplateOptions{Namespaced: &yes, DefaultNamespace: "team"})
	becomes(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: ""}}`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: team}}`, TemplateOptions{Namespaced: &yes, DefaultNamespace: "team"})
	becomes(t, other, other, TemplateOptions{Namespaced: &yes, DefaultNamespace: "team"})
	becomes(t, bare, bare, TemplateOptions{DefaultNamespace: "team"})
}

func TestNormalizeRefusesANamespaceOnClusterScopedKinds(t *testing.T) {
	const manifest = `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: x, namespace: %s}}`
	_, _, err := Normalize(object(t, strings.Replace(manifest, "%s", "team", 1)), TemplateOptions{Namespaced: &no, DefaultNamespace: "d"})
	refused(t, err, "metadata.namespace", "Kind ClusterRole is cluster-scoped", `"team"`)
	becomes(t, strings.Replace(manifest, "%s", `""`, 1),
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: x}}`, TemplateOptions{Namespaced: &no, DefaultNamespace: "d"})
}

func TestNormalizeTurnsStringDataIntoData(t *testing.T) {
	const secret = `{apiVersion: v1, kind: Secret, metadata: {name: x, namespace: ns}, `
	becomes(t, secret+`data: {u: b2xk, w: eA==}, stringData: {u: new}}`, secret+`data: {u: bmV3, w: eA==}}`, TemplateOptions{})
	becomes(t, secret+`stringData: {u: "", é: "ü\n"}}`, secret+`data: {u: "", é: w7wK}}`, TemplateOptions{})
	becomes(t, secret+`stringData: {}}`, secret+`}`, TemplateOptions{})
	becomes(t, secret+`data: {}, stringData: {}}`, secret+`data: {}}`, TemplateOptions{})
	const foreign = `{apiVersion: demo.test/v1, kind: Secret, metadata: {name: x}, stringData: {u: new}}`
	becomes(t, foreign, foreign, TemplateOptions{})
}

func TestNormalizeRefusesStringDataThatIsNoText(t *testing.T) {
	const secret = `{apiVersion: v1, kind: Secret, metadata: {name: x}, `
	for manifest, path := range map[string]string{
		secret + `stringData: {port: 80}}`: "stringData.port", secret + `stringData: [a]}`: "stringData", secret + `stringData: {a: b}, data: c}`: "data",
	} {
		_, _, err := Normalize(object(t, manifest), TemplateOptions{})
		refused(t, err, path, "must be")
	}
}

func TestNormalizeStripsFieldsOfTheServerWithOneWarning(t *testing.T) {
	out, warnings := normalized(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gadgets.demo.test
  creationTimestamp: "2026-01-01T00:00:00Z"
  resourceVersion: "7"
  uid: 47674a90
  generation: 3
  selfLink: /x
  deletionTimestamp: "2026-01-01T00:00:00Z"
  deletionGracePeriodSeconds: 30
  managedFields: [{manager: x}]
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}", keep: me}
spec: {subresources: {status: {}}}
status: {conditions: []}
`, TemplateOptions{HasStatus: true})
	same(t, out, object(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
		metadata: {name: gadgets.demo.test, annotations: {keep: me}}, spec: {subresources: {status: {}}}}`))
	if len(warnings) != 1 {
		t.Fatalf("want one warning, got %q", warnings)
	}
	for _, field := range []string{"/metadata/creationTimestamp", "/metadata/resourceVersion", "/metadata/uid", "/metadata/generation",
		"/metadata/selfLink", "/metadata/deletionTimestamp", "/metadata/managedFields", "/status",
		"/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration"} {
		if !strings.Contains(warnings[0], field) {
			t.Errorf("the warning does not name %s: %s", field, warnings[0])
		}
	}
}

func TestNormalizeKeepsStatusWhereItIsNoSubresource(t *testing.T) {
	const manifest = `{apiVersion: demo.test/v1, kind: Gadget, metadata: {name: x}, status: {a: 1}}`
	becomes(t, manifest, manifest, TemplateOptions{})
}

func TestNormalizeStripsTheRevisionOfAnExportedDeployment(t *testing.T) {
	out, warnings := normalized(t, `{apiVersion: apps/v1, kind: Deployment,
		metadata: {name: x, annotations: {deployment.kubernetes.io/revision: "3"}}}`, TemplateOptions{})
	same(t, out, object(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}}`))
	same(t, len(warnings), 1)
}

func TestNormalizeWarnsOfFieldsEachClusterAllocates(t *testing.T) {
	for manifest, field := range map[string]string{
		`clusterIP: 10.0.0.7`: "/spec/clusterIP", `clusterIPs: [10.0.0.7]`: "/spec/clusterIPs", `healthCheckNodePort: 32000`: "/spec/healthCheckNodePort",
		`ports: [{port: 80}, {port: 81, nodePort: 31999}]`: "/spec/ports/1/nodePort",
	} {
		service := `{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {` + manifest + `}}`
		out, warnings := normalized(t, service, TemplateOptions{})
		same(t, out, object(t, service))
		if len(warnings) != 1 || !strings.Contains(warnings[0], field) {
			t.Errorf("want one warning about %s, got %q", field, warnings)
		}
	}
	const headless = `{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {clusterIP: None, clusterIPs: [None], ports: [{port: 80}]}}`
	becomes(t, headless, headless, TemplateOptions{})
}

func TestNormalizeRefusesDuplicateKeysInKeyedLists(t *testing.T) {
	const pod = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {template: {spec: {containers: [{name: a}, {name: b, %s}], %s}}}}`
	inContainer := func(fields string) string { return strings.NewReplacer("%s}], ", fields+"}], ", "%s", "").Replace(pod) }
	inPod := func(fields string) string { return strings.NewReplacer("b, %s", "b", "%s", fields).Replace(pod) }
	const container = "spec.template.spec.containers.1."
	for name, c := range map[string]struct {
		manifest, path string
		words          []string
	}{
		"env name": {inContainer(`env: [{name: LOG, value: "1"}, {name: A}, {name: LOG}]`), container + "env.2",
			[]string{"/spec/template/spec/containers/1/env", `name "LOG"`, "indexes 0 and 2"}},
		"container port": {inContainer(`ports: [{containerPort: 80}, {containerPort: 80, protocol: TCP}]`), container + "ports.1",
			[]string{`containerPort "80" and protocol "TCP"`, "0 and 1"}},
		"mount path":    {inContainer(`volumeMounts: [{mountPath: /a}, {mountPath: /a}]`), container + "volumeMounts.1", []string{`"/a"`}},
		"device":        {inContainer(`volumeDevices: [{devicePath: /a}, {devicePath: /a}]`), container + "volumeDevices.1", nil},
		"volume":        {inPod(`volumes: [{name: v}, {name: w}, {name: v}]`), "spec.template.spec.volumes.2", []string{"0 and 2"}},
		"pull secret":   {inPod(`imagePullSecrets: [{name: v}, {name: v}]`), "spec.template.spec.imagePullSecrets.1", nil},
		"host alias":    {inPod(`hostAliases: [{ip: 1.1.1.1}, {ip: 1.1.1.1}]`), "spec.template.spec.hostAliases.1", nil},
		"init":          {inPod(`initContainers: [{name: i}, {name: i}]`), "spec.template.spec.initContainers.1", nil},
		"service port":  {`{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {ports: [{port: 53, protocol: UDP}, {port: 53}, {port: 53}]}}`, "spec.ports.2", []string{"1 and 2"}},
		"container":     {`{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: a}, {name: a}]}}`, "spec.containers.1", nil},
		"in a CronJob":  {`{apiVersion: batch/v1, kind: CronJob, metadata: {name: x}, spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: a}, {name: a}]}}}}}}`, "spec.jobTemplate.spec.template.spec.containers.1", nil},
		"webhook":       {`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: x}, webhooks: [{name: a}, {name: a}]}`, "webhooks.1", nil},
		"account":       {`{apiVersion: v1, kind: ServiceAccount, metadata: {name: x}, secrets: [{name: a}, {name: a}]}`, "secrets.1", nil},
		"owner":         {`{apiVersion: v1, kind: A, metadata: {name: x, ownerReferences: [{uid: a}, {uid: a}]}}`, "metadata.ownerReferences.1", nil},
		"a custom kind": {`{apiVersion: demo.test/v1, kind: Rollout, metadata: {name: x}, spec: {template: {spec: {containers: [{name: a}, {name: a}]}}}}`, "spec.template.spec.containers.1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Normalize(object(t, c.manifest), TemplateOptions{})
			refused(t, err, c.path, append(c.words, "Duplicate list key")...)
		})
	}
}

func TestNormalizeTellsPortsApartByProtocol(t *testing.T) {
	for _, manifest := range []string{
		`{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}, {port: 54}]}}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: a, ports: [{containerPort: 80}, {containerPort: 81}]}]}}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: a, env: [{value: a}, {value: b}]}]}}`,
	} {
		becomes(t, manifest, manifest, TemplateOptions{})
	}
}

func TestNormalizeRefusesTheProvidersOwnMarks(t *testing.T) {
	for _, attribute := range []string{"labels", "annotations"} {
		_, _, err := Normalize(object(t, `{apiVersion: v1, kind: A, metadata: {name: x, `+attribute+`: {terraform.kubefed.io/owner: me}}}`), TemplateOptions{})
		refused(t, err, "metadata."+attribute+".terraform.kubefed.io/owner", "own marks")
	}
}

func TestNormalizeRefusesTheLabelThatAsksToBeLeftAlone(t *testing.T) {
	const manifest = `{apiVersion: v1, kind: A, metadata: {name: x, namespace: ns, labels: {kubefed.io/managed: "false"}}}`
	_, _, err := Normalize(object(t, manifest), TemplateOptions{})
	refused(t, err, "metadata.labels.kubefed.io/managed", "never again")
	override := Override{Selection: Selection{Selector: &Selector{}}, Labels: map[string]string{OptOutLabel: "false"}}
	_, _, _, err = Render(object(t, strings.Replace(manifest, `"false"`, `"true"`, 1)), []Override{override}, Member{Name: "eu"})
	refused(t, err, "overrides.0", "never again")
}

func TestNormalizeRefusesDataThatIsNoText(t *testing.T) {
	for manifest, path := range map[string]string{
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {port: 80}}`: "data.port", `{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {on: yes}}`: "data.true",
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: [a]}`: "data", `{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, binaryData: {a: {}}}`: "binaryData.a",
	} {
		_, _, err := Normalize(object(t, manifest), TemplateOptions{})
		refused(t, err, path, "must be")
	}
	const other = `{apiVersion: demo.test/v1, kind: ConfigMap, metadata: {name: x}, data: {port: 80}}`
	becomes(t, other, other, TemplateOptions{})
}

func TestNormalizeRefusesLabelsThatAreNoText(t *testing.T) {
	for manifest, path := range map[string]string{
		`labels: {version: 1}`: "metadata.labels.version", `annotations: {on: yes}`: "metadata.annotations.true", `labels: [a]`: "metadata.labels",
	} {
		_, _, err := Normalize(object(t, `{apiVersion: v1, kind: A, metadata: {name: x, `+manifest+`}}`), TemplateOptions{})
		refused(t, err, path, "must be")
	}
}

func TestNormalizeRefusesTokenSecrets(t *testing.T) {
	_, _, err := Normalize(object(t, `{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {name: x}}`), TemplateOptions{})
	refused(t, err, "type", "one member's service account")
}

func TestNormalizeRefusesGeneratedNames(t *testing.T) {
	_, _, err := Normalize(object(t, `{apiVersion: batch/v1, kind: Job, metadata: {generateName: job-}}`), TemplateOptions{})
	refused(t, err, "metadata.generateName", "server-side apply needs a name")
}

func TestNormalizeWarnsOfModesThatLostTheirOctalNotation(t *testing.T) {
	_, warnings := normalized(t, `{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [], volumes: [
		{name: a, secret: {defaultMode: 644}}, {name: b, configMap: {defaultMode: 0644, items: [{key: k, mode: 1000}]}}]}}`, TemplateOptions{})
	if len(warnings) != 1 || !strings.Contains(warnings[0], "/spec/volumes/0/secret/defaultMode, /spec/volumes/1/configMap/items/0/mode:") {
		t.Errorf("want one warning about both modes, got %q", warnings)
	}
}

func TestNormalizeKeepsQuantitiesAsWritten(t *testing.T) {
	const manifest = `{apiVersion: v1, kind: ResourceQuota, metadata: {name: x}, spec: {hard: {cpu: 0.5, memory: 1024Mi, count/configmaps: 1000, requests.cpu: "1.20"}}}`
	becomes(t, manifest, manifest, TemplateOptions{})
}

func TestNormalizeBringsGoNumbersToTheTwoOfUnstructured(t *testing.T) {
	out, _, err := Normalize(map[string]any{"apiVersion": "v1", "kind": "A", "metadata": map[string]any{"name": "x"},
		"spec": []any{int(1), int32(2), uint64(3), float32(4), float64(5), 5.5}}, TemplateOptions{})
	noError(t, err)
	same(t, out["spec"], any([]any{int64(1), int64(2), int64(3), int64(4), int64(5), 5.5}))
}

func TestNormalizeListsEverythingThatIsWrong(t *testing.T) {
	_, _, err := Normalize(object(t, `{apiVersion: v1, kind: Service, metadata: {name: x, namespace: ns, labels: {a: 1}},
		spec: {ports: [{port: 1}, {port: 1}]}}`), TemplateOptions{Namespaced: &no})
	same(t, len(Findings(err)), 3)
}
