package fleet_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
)

const password = "correct-horse-battery"

// holdsNone fails the test if a text holds the password, plain or as base64.
func holdsNone(t *testing.T, what, text string) {
	t.Helper()
	for _, secret := range []string{password, base64.StdEncoding.EncodeToString([]byte(password))} {
		if strings.Contains(text, secret) {
			t.Errorf("%s holds the secret: %s", what, text)
		}
	}
}

// secretive are resources with a secret in them, by how it is known to be one.
func (w *world) secretive(t *testing.T) map[string]*resource {
	t.Helper()
	named := func(kind string) string { return kubetest.UniqueName(t, kind) }
	s := w.declare(t, `{apiVersion: v1, kind: Secret, metadata: {name: `+named("s")+`}, stringData: {password: `+password+`}}`)
	c := w.declare(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: `+named("c")+`}, data: {password: `+password+`}}`)
	c.spec.Sensitive = []string{"/data/password"}
	return map[string]*resource{"Secret": s, "sensitive_fields": c}
}

func TestWordsOfTheAPIServerAboutSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	quoting := kubetest.Message("failed to create typed patch object: .data.password: " + password + " is not welcome")
	for how, r := range w.secretive(t) {
		for name, fault := range map[string][]kubetest.Option{
			"invalid (500)":        {kubetest.Reason("")},
			"webhook fails (500)":  {kubetest.Reason("InternalError")},
			"refused by a webhook": {kubetest.Reason("Forbidden")},
		} {
			code := http.StatusInternalServerError
			if name == "refused by a webhook" {
				code = http.StatusForbidden
			}
			f := w.proxies["a"].Status(code, append(fault, quoting, kubetest.When(func(q kubetest.Request) bool { return q.Verb == kubetest.Apply }))...)
			p := r.plan(t)
			outcome := r.apply(t)
			f.Heal()
			if !fleet.HasError(p.findings) || !outcome.Failed() {
				t.Errorf("%s, %s: no error", how, name)
			}
			holdsNone(t, how+", "+name+", plan", texts(p.findings))
			holdsNone(t, how+", "+name+", apply", texts(outcome.Findings))
			for member, message := range outcome.Pending {
				holdsNone(t, how+", "+name+", message of "+member, message)
			}
		}
	}
}

func TestDriftOfSecretsIsToldWithoutValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for how, r := range w.secretive(t) {
		value := password
		if how == "Secret" {
			value = base64.StdEncoding.EncodeToString([]byte(password))
		}
		r.write(t, strings.NewReplacer("stringData", "stringData").Replace(`{apiVersion: v1, kind: `+r.spec.Template["kind"].(string)+`, metadata: {name: `+r.spec.Template["metadata"].(map[string]any)["name"].(string)+`}, data: {password: aW5pdGlhbA==}}`))
		r.must(t)
		r.patch(t, "a", `{data: {password: `+value+`, other: `+value+`}}`)
		o := r.refresh(t, w.run(t))["a"]
		if len(o.Drift) != 1 {
			t.Errorf("%s: drift is %v", how, o.Drift)
		}
		for _, shown := range o.Drift {
			holdsNone(t, how, shown)
		}
		record, err := r.record.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		holdsNone(t, how+", private state", string(record))
		r.must(t)
		r.empty(t)
	}
}

func TestAConflictAboutASecretNamesFieldsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.secretive(t)["Secret"]
	r.must(t)
	name := r.get(t, "a").GetName()
	r.patch(t, "a", `{data: {other: `+base64.StdEncoding.EncodeToString([]byte(password))+`}}`)
	r.write(t, `{apiVersion: v1, kind: Secret, metadata: {name: `+name+`}, stringData: {password: `+password+`, other: mine}}`)
	p := r.plan(t)
	tells(t, p.findings, "a error: Field conflict")
	says(t, p.findings, ".data.other (kubetest)")
	holdsNone(t, "plan", texts(p.findings))
}

func TestVersionsOfSecretsCannotBeGuessed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for how, r := range w.secretive(t) {
		r.must(t)
		first := r.record.Copies["a"].Version
		r.destroy(t)
		r.record, r.facts = nil, nil
		r.must(t)
		if second := r.record.Copies["a"].Version; first == "" || first == second {
			t.Errorf("%s: the same content has the versions %q and %q under two keys", how, first, second)
		}
	}
}

func TestRecordKeepsALaggingSecretOnlyInPrivateState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.secretive(t)["Secret"]
	r.must(t)
	name := r.get(t, "a").GetName()
	r.write(t, `{apiVersion: v1, kind: Secret, metadata: {name: `+name+`}, stringData: {password: changed}}`)
	f := w.proxies["a"].Status(http.StatusForbidden, kubetest.When(kubetest.Request.Write))
	outcome := r.apply(t)
	f.Heal()
	holdsNone(t, "apply", texts(outcome.Findings))
	r.must(t)
	r.empty(t)
}

// TestNoRefusalOfARealAPIServerQuotesASecret: of schemas, of validation, and of what cannot be decoded.
func TestNoRefusalOfARealAPIServerQuotesASecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	group := kubetest.UniqueName(t, "fed") + ".example.com"
	w.undefine(t, "gadgets."+group)
	w.declare(t, strings.Replace(definition(group), "size: {type: integer}", "size: {type: integer}, token: {type: string, maxLength: 3, enum: [abc]}", 1)).must(t)
	w.clusters["a"].AwaitServed(t, group+"/v1")
	for name, c := range map[string]struct{ template, sensitive, field string }{
		"a label":              {`{apiVersion: v1, kind: ConfigMap, metadata: {name: x, labels: {token: "` + password + `!"}}}`, "/metadata/labels/token", "metadata.labels"},
		"a schema":             {`{apiVersion: ` + group + `/v1, kind: Gadget, metadata: {name: x}, spec: {token: ` + password + `}}`, "/spec/token", "spec.token"},
		"another type":         {`{apiVersion: ` + group + `/v1, kind: Gadget, metadata: {name: x}, spec: {size: ` + password + `}}`, "/spec/size", ""},
		"a typed patch":        {strings.Replace(deployment, "replicas: 2", "replicas: "+password, 1), "/spec/replicas", ""},
		"data that is no text": {`{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {password: ` + password + `}}`, "", ""},
		"a type of Secret":     {`{apiVersion: v1, kind: Secret, type: kubernetes.io/dockerconfigjson, metadata: {name: x}, stringData: {.dockerconfigjson: ` + password + `}}`, "", ""},
	} {
		r := w.declare(t, c.template)
		if c.sensitive != "" {
			r.spec.Sensitive = []string{c.sensitive}
		}
		p := r.plan(t)
		if !fleet.HasError(p.findings) {
			t.Errorf("%s is not refused", name)
		}
		says(t, p.findings, c.field)
		holdsNone(t, name+", plan", texts(p.findings))
		outcome := r.apply(t)
		if !outcome.Undone {
			t.Errorf("%s leaves a state", name)
		}
		holdsNone(t, name+", apply", texts(outcome.Findings))
	}
}

// TestStringDataOutranksDataAndWhatItHidComesBackWithoutIt: data alone is sent and compared.
func TestStringDataOutranksDataAndWhatItHidComesBackWithoutIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	const both = `{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {u: b2xk, w: eA==}, stringData: {u: new}}`
	r := w.declare(t, both)
	r.must(t)
	holds := func(u string) {
		t.Helper()
		if got := r.value(t, "a", "/data/u"); got != u || r.value(t, "a", "/data/w") != "eA==" {
			t.Errorf("data is %v, want u %s", r.value(t, "a", "/data"), u)
		}
	}
	holds("bmV3")
	r.empty(t)
	r.drifts(t, map[string]string{"/data/u": "(sensitive, changed)"}, func() { r.patch(t, "a", `{data: {u: ZWRpdGVk}}`) })
	holds("bmV3")
	r.write(t, strings.Replace(both, "stringData: {u: new}", "stringData: {}", 1))
	if p := r.plan(t); len(p.writes) != 1 || len(p.findings) > 0 {
		t.Errorf("the plan writes %v and says %s", p.writes, texts(p.findings))
	}
	r.must(t)
	holds("b2xk")
	r.empty(t)
}
