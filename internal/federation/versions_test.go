package federation

import (
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files in testdata anew")

// versionVector is one golden vector: what a version is computed from, and the version.
type versionVector struct {
	Name      string   `json:"name"`
	Manifest  string   `json:"manifest"`
	Sensitive []string `json:"sensitive,omitempty"`
	Key       string   `json:"key,omitempty"`
	Version   string   `json:"version"`
}

// A version that changes for an object that does not would show a change in every plan of every user.
func TestVersionsAreThoseOfTheGoldenVectors(t *testing.T) {
	const file = "testdata/versions.json"
	content, err := os.ReadFile(file)
	noError(t, err)
	var vectors []versionVector
	noError(t, json.Unmarshal(content, &vectors))
	if len(vectors) < 10 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	for i, v := range vectors {
		got := Version(object(t, v.Manifest), v.Sensitive, []byte(v.Key))
		if *update {
			vectors[i].Version = got
			continue
		}
		t.Run(v.Name, func(t *testing.T) { same(t, got, v.Version) })
	}
	if *update {
		content, err = json.MarshalIndent(vectors, "", "  ")
		noError(t, err)
		noError(t, os.WriteFile(file, append(content, '\n'), 0o644))
	}
}

func TestVersionHasItsFormatInFront(t *testing.T) {
	version := Version(object(t, deployment), nil, nil)
	if !regexp.MustCompile(`^v1:[0-9a-f]{32}$`).MatchString(version) {
		t.Errorf("%q", version)
	}
}

func TestVersionIgnoresWhatIsNotSent(t *testing.T) {
	want := Version(object(t, `{apiVersion: v1, kind: A, metadata: {name: x, labels: {a: b}}, spec: {n: 3, m: {}}}`), nil, nil)
	for name, manifest := range map[string]string{
		"order of keys": `{spec: {m: {}, n: 3}, metadata: {labels: {a: b}, name: x}, kind: A, apiVersion: v1}`,
		"nulls":         `{apiVersion: v1, kind: A, metadata: {name: x, labels: {a: b}, annotations: ~}, spec: {n: 3, m: {gone: ~}}}`,
		"our marks":     `{apiVersion: v1, kind: A, metadata: {name: x, labels: {a: b, terraform.kubefed.io/owner: o}, annotations: {terraform.kubefed.io/resource: r}}, spec: {n: 3, m: {}}}`,
		"number format": `{apiVersion: v1, kind: A, metadata: {name: x, labels: {a: b}}, spec: {n: 3.0, m: {}}}`,
	} {
		t.Run(name, func(t *testing.T) { same(t, Version(object(t, manifest), nil, nil), want) })
	}
	for name, manifest := range map[string]string{
		"text for a number": `{apiVersion: v1, kind: A, metadata: {name: x, labels: {a: b}}, spec: {n: "3", m: {}}}`,
		"no empty map":      `{apiVersion: v1, kind: A, metadata: {name: x, labels: {a: b}}, spec: {n: 3}}`,
		"list for a map":    `{apiVersion: v1, kind: A, metadata: {name: x, labels: {a: b}}, spec: {n: 3, m: []}}`,
		"another version":   `{apiVersion: v2, kind: A, metadata: {name: x, labels: {a: b}}, spec: {n: 3, m: {}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if Version(object(t, manifest), nil, nil) == want {
				t.Error("the version is the same")
			}
		})
	}
}

func TestVersionTellsNeighbouringIntegersApart(t *testing.T) {
	one := Version(object(t, `{kind: A, apiVersion: v1, num: 9007199254740992}`), nil, nil)
	other := Version(object(t, `{kind: A, apiVersion: v1, num: 9007199254740993}`), nil, nil)
	if one == other {
		t.Error("integers are not exact")
	}
}

func TestVersionOfSomethingSensitiveNeedsAKey(t *testing.T) {
	secret := object(t, `{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {pw: aHVudGVyMg==}}`)
	same(t, Version(secret, nil, nil), "")
	one, other := Version(secret, nil, []byte("key one")), Version(secret, nil, []byte("key two"))
	if one == other || one == "" || other == "" {
		t.Errorf("versions with two keys: %q and %q", one, other)
	}
	same(t, Version(secret, nil, []byte("key one")), one)

	config := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {pw: hunter2}}`)
	same(t, Version(config, []string{"/data/pw"}, nil), "")
	same(t, Version(config, []string{"/data/none"}, nil), Version(config, nil, nil))
	if Version(config, []string{"/data/pw"}, []byte("k")) == Version(config, nil, []byte("k")) {
		t.Error("the sensitive value is hashed without the key")
	}
}

func TestVersionChangesWithASensitiveValue(t *testing.T) {
	const manifest = `{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {pw: %s}}`
	key := []byte("key")
	one := Version(object(t, strings.Replace(manifest, "%s", "YQ==", 1)), nil, key)
	other := Version(object(t, strings.Replace(manifest, "%s", "Yg==", 1)), nil, key)
	if one == other {
		t.Error("the version does not depend on the data")
	}
}

func TestVersionDoesNotChangeTheTree(t *testing.T) {
	secret := object(t, `{apiVersion: v1, kind: Secret, metadata: {name: x, labels: {terraform.kubefed.io/owner: o}}, data: {pw: YQ==}, list: [{a: 1}]}`)
	before := text(t, secret)
	Version(secret, []string{"/list/0/a", "/list/7", "/none/x"}, []byte("key"))
	same(t, text(t, secret), before)
}

func TestVersionOfWhatIsNoJSONIsUnknown(t *testing.T) {
	same(t, Version(map[string]any{"kind": "A", "x": make(chan int)}, nil, nil), "")
	same(t, Version(map[string]any{"kind": "A", "x": "\xff"}, []string{"/x"}, []byte("key")), "")
}

func TestHasSensitive(t *testing.T) {
	for name, c := range map[string]struct {
		manifest  string
		sensitive []string
		want      bool
	}{
		"data of a Secret":            {`{apiVersion: v1, kind: Secret, data: {a: b}}`, nil, true},
		"stringData of a Secret":      {`{apiVersion: v1, kind: Secret, stringData: {a: b}}`, nil, true},
		"a Secret without data":       {`{apiVersion: v1, kind: Secret, data: {}}`, nil, false},
		"data that is no map":         {`{apiVersion: v1, kind: Secret, data: x}`, nil, true},
		"a Secret of another group":   {`{apiVersion: demo.test/v1, kind: Secret, data: {a: b}}`, nil, false},
		"data of something unknown":   {`{data: {a: b}}`, nil, true},
		"a ConfigMap":                 {`{apiVersion: v1, kind: ConfigMap, data: {a: b}}`, nil, false},
		"a pointer that finds":        {`{kind: A, list: [{a: b}]}`, []string{"/list/0/a"}, true},
		"a pointer to a map":          {`{kind: A, map: {}}`, []string{"/map"}, true},
		"a pointer that finds null":   {`{kind: A, map: ~}`, []string{"/map"}, false},
		"a pointer that finds none":   {`{kind: A, list: [{a: b}]}`, []string{"/list/1/a", "/list/-/a", "/x"}, false},
		"a pointer that is none":      {`{kind: A, a: b}`, []string{"a", ""}, false},
		"a pointer inside of another": {`{kind: A, a: {b: c}}`, []string{"/a", "/a/b/c"}, true},
	} {
		t.Run(name, func(t *testing.T) { same(t, HasSensitive(object(t, c.manifest), c.sensitive), c.want) })
	}
}

func TestCanonicalForm(t *testing.T) {
	for manifest, want := range map[string]string{
		`{b: 1, a: {d: [], c: {}}, B: 2}`: `{"B":2,"a":{"c":{},"d":[]},"b":1}`,
		`{a: ~, b: [~]}`:                  `{"b":[null]}`,
		`{a: 9007199254740993, b: 1.50, c: 1e30, d: 1e-7, e: 100000000000.5}`: `{"a":9007199254740993,"b":1.5,"c":1e+30,"d":1e-07,"e":100000000000.5}`,
		`{"a": "<b> & \u2028 é \" \\ \n\t\r\b\f\u0001 /"}`:                    "{\"a\":\"<b> & \u2028 é \\\" \\\\ \\n\\t\\r\\b\\f\\u0001 /\"}",
		`[yes, "yes"]`: `[true,"yes"]`,
	} {
		same(t, text(t, value(t, manifest)), want)
	}
}

func TestCanonicalIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := treeGen(4).Draw(t, "tree")
		first := text(t, tree)
		back, err := decodeJSON(first)
		noError(t, err)
		same(t, text(t, back[0]), first)
	})
}

func TestCanonicalTellsDifferentTreesApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := treeGen(3).Draw(t, "a"), treeGen(3).Draw(t, "b")
		if equalValues(a, b) != (text(t, a) == text(t, b)) {
			t.Fatalf("%s and %s", text(t, a), text(t, b))
		}
	})
}

func TestCanonicalRefusesWhatIsNoJSON(t *testing.T) {
	for name, v := range map[string]any{
		"a key that is not UTF-8": map[string]any{"\xff": 1}, "a channel": []any{make(chan int)}, "deep nesting": nested(maxDepth + 2), "infinity": 1 / zero,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Canonical(v); err == nil {
				t.Error("accepted")
			}
		})
	}
}
