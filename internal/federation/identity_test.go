package federation

import "testing"

func TestIDIsGroupKindNamespaceName(t *testing.T) {
	for want, manifest := range map[string]string{
		"apps/Deployment/default/nginx":             `{apiVersion: apps/v1, kind: Deployment, metadata: {name: nginx, namespace: default}}`,
		"core/ConfigMap/default/x":                  `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default}}`,
		"core/Namespace/team":                       `{apiVersion: v1, kind: Namespace, metadata: {name: team}}`,
		"rbac.authorization.k8s.io/Role/a/system:x": `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: "system:x", namespace: a}}`,
		"demo.test/Gadget/g1":                       `{apiVersion: demo.test/v1alpha1, kind: Gadget, metadata: {name: g1, namespace: ""}}`,
	} {
		t.Run(want, func(t *testing.T) {
			_, id, err := Identify(object(t, manifest))
			noError(t, err)
			same(t, id.String(), want)
		})
	}
}

func TestIDHasNoVersion(t *testing.T) {
	old, oldID, err := Identify(object(t, `{apiVersion: demo.test/v1alpha1, kind: Gadget, metadata: {name: g}}`))
	noError(t, err)
	recent, newID, err := Identify(object(t, `{apiVersion: demo.test/v1, kind: Gadget, metadata: {name: g}}`))
	noError(t, err)
	same(t, oldID, newID)
	same(t, []string{old, recent}, []string{"demo.test/v1alpha1", "demo.test/v1"})
}

func TestIdentifyNamesTheFieldAtFault(t *testing.T) {
	for name, c := range map[string]struct{ manifest, path, word string }{
		"no apiVersion":       {`{kind: A, metadata: {name: x}}`, "apiVersion", "no apiVersion"},
		"apiVersion a number": {`{apiVersion: 1, kind: A, metadata: {name: x}}`, "apiVersion", "must be text, but is a number"},
		"two slashes":         {`{apiVersion: a/b/c, kind: A, metadata: {name: x}}`, "apiVersion", "a/b/c"},
		"group without name":  {`{apiVersion: /v1, kind: A, metadata: {name: x}}`, "apiVersion", "/v1"},
		"no version":          {`{apiVersion: apps/, kind: A, metadata: {name: x}}`, "apiVersion", "apps/"},
		"no kind":             {`{apiVersion: v1, metadata: {name: x}}`, "kind", "no kind"},
		"kind empty":          {`{apiVersion: v1, kind: "", metadata: {name: x}}`, "kind", "no kind"},
		"kind with a slash":   {`{apiVersion: v1, kind: a/b, metadata: {name: x}}`, "kind", "a/b"},
		"no metadata":         {`{apiVersion: v1, kind: A}`, "metadata", "needs metadata"},
		"metadata a list":     {`{apiVersion: v1, kind: A, metadata: [x]}`, "metadata", "a list"},
		"no name":             {`{apiVersion: v1, kind: A, metadata: {}}`, "metadata.name", "no metadata.name"},
		"name a number":       {`{apiVersion: v1, kind: A, metadata: {name: 7}}`, "metadata.name", "quote it"},
		"name with a slash":   {`{apiVersion: v1, kind: A, metadata: {name: a/b}}`, "metadata.name", "'/'"},
		"name of two dots":    {`{apiVersion: v1, kind: A, metadata: {name: ..}}`, "metadata.name", "'..'"},
		"namespace a boolean": {`{apiVersion: v1, kind: A, metadata: {name: x, namespace: on}}`, "metadata.namespace", "a boolean"},
		"namespace no label":  {`{apiVersion: v1, kind: A, metadata: {name: x, namespace: A.b}}`, "metadata.namespace", "A.b"},
		"generateName":        {`{apiVersion: v1, kind: A, metadata: {generateName: job-}}`, "metadata.generateName", "another name"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Identify(object(t, c.manifest))
			refused(t, err, c.path, c.word)
		})
	}
}

func TestIdentifyListsEverythingThatIsWrong(t *testing.T) {
	_, _, err := Identify(object(t, `{metadata: {namespace: 1}}`))
	same(t, len(Findings(err)), 4)
}
