package federation

import "testing"

func TestImageReferencesAreTakenApart(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for image, want := range map[string]imageRef{
		"app": {repository: "app"}, "team/app": {repository: "team/app"}, "team/sub/app:1": {repository: "team/sub/app", tag: "1"},
		"reg.example/team/app": {registry: "reg.example", repository: "team/app"}, "localhost/app": {registry: "localhost", repository: "app"},
		"reg:5000/app:1": {registry: "reg:5000", repository: "app", tag: "1"}, "app:1": {repository: "app", tag: "1"},
		"localhost:5000/app": {registry: "localhost:5000", repository: "app"}, "localhost": {repository: "localhost"},
		"app@" + digest: {repository: "app", digest: digest}, "r.io/app:1@" + digest: {registry: "r.io", repository: "app", tag: "1", digest: digest},
		"[::1]:5000/app": {registry: "[::1]:5000", repository: "app"},
	} {
		t.Run(image, func(t *testing.T) {
			if got := parseImage(image); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			same(t, want.String(), image)
		})
	}
}

func TestImageOverrides(t *testing.T) {
	const old, fresh = "sha256:00000000000000000000000000000000", "sha256:11111111111111111111111111111111"
	for name, c := range map[string]struct {
		image    string
		override ImageOverride
		want     string
	}{
		"no registry to remove from a repository with parts": {"team/app", ImageOverride{Registry: ptr("")}, "team/app"},
		"registry with a dot removed":                        {"reg.example/team/app", ImageOverride{Registry: ptr("")}, "team/app"},
		"localhost removed":                                  {"localhost/app", ImageOverride{Registry: ptr("")}, "app"},
		"registry with a port removed, tag kept":             {"reg:5000/app:1", ImageOverride{Registry: ptr("")}, "app:1"},
		"no registry to remove":                              {"app", ImageOverride{Registry: ptr("")}, "app"},
		"registry added":                                     {"team/app:1", ImageOverride{Registry: ptr("reg.example")}, "reg.example/team/app:1"},
		"registry replaced, digest survives":                 {"a.io/app@" + old, ImageOverride{Registry: ptr("b.io:5000")}, "b.io:5000/app@" + old},
		"repository replaced":                                {"a.io/app:1", ImageOverride{Repository: ptr("team/web")}, "a.io/team/web:1"},
		"tag added":                                          {"app", ImageOverride{Tag: ptr("2")}, "app:2"},
		"tag replaced":                                       {"app:1", ImageOverride{Tag: ptr("2")}, "app:2"},
		"tag removed":                                        {"app:1", ImageOverride{Tag: ptr("")}, "app"},
		"tag removed, digest survives":                       {"app:1@" + old, ImageOverride{Tag: ptr("")}, "app@" + old},
		"same tag, digest survives":                          {"app:1@" + old, ImageOverride{Tag: ptr("1")}, "app:1@" + old},
		"digest replaced":                                    {"app@" + old, ImageOverride{Digest: ptr(fresh)}, "app@" + fresh},
		"tag and digest":                                     {"app:1@" + old, ImageOverride{Tag: ptr("2"), Digest: ptr(fresh)}, "app:2@" + fresh},
		"tag instead of digest":                              {"app@" + old, ImageOverride{Tag: ptr("2"), Digest: ptr("")}, "app:2"},
		"everything":                                         {"x", ImageOverride{Registry: ptr("r.io"), Repository: ptr("a/b"), Tag: ptr("1"), Digest: ptr(old)}, "r.io/a/b:1@" + old},
	} {
		t.Run(name, func(t *testing.T) {
			c.override.Container = "a"
			out, _, err := overridden(t, `{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: a, image: "`+c.image+`"}]}}`,
				Override{Images: []ImageOverride{c.override}})
			noError(t, err)
			found, _ := ValueAt(out, "/spec/containers/0/image")
			same(t, found, any(c.want))
		})
	}
}

func TestImageOverridesThatCannotBeMeantAreRefused(t *testing.T) {
	const digest = "sha256:00000000000000000000000000000000"
	for name, c := range map[string]struct {
		image       string
		override    ImageOverride
		field, word string
	}{
		"new tag, old digest":              {"app@" + digest, ImageOverride{Tag: ptr("2")}, "", "would have no effect"},
		"new tag over old tag, old digest": {"app:1@" + digest, ImageOverride{Tag: ptr("2")}, "", "set digest too"},
		"registry that is none":            {"app", ImageOverride{Registry: ptr("team")}, ".registry", "part of the repository"},
		"registry with a path":             {"app", ImageOverride{Registry: ptr("r.io/team")}, ".registry", "without a scheme or path"},
		"registry with a scheme":           {"app", ImageOverride{Registry: ptr("https://r.io")}, ".registry", "without a scheme"},
		"repository empty":                 {"app", ImageOverride{Repository: ptr("")}, ".repository", "not a repository"},
		"repository with a tag":            {"app", ImageOverride{Repository: ptr("app:1")}, ".repository", "not a repository"},
		"repository in capitals":           {"app", ImageOverride{Repository: ptr("App")}, ".repository", "lower case"},
		"repository read as registry":      {"app", ImageOverride{Repository: ptr("r.io/app")}, "", "give registry and repository apart"},
		"what is left is read as registry": {"r.io/a.b/app", ImageOverride{Registry: ptr("")}, "", "taken for a registry"},
		"tag with a space":                 {"app", ImageOverride{Tag: ptr("a b")}, ".tag", "not a tag"},
		"tag too long":                     {"app", ImageOverride{Tag: ptr(string(make([]byte, 129)))}, ".tag", "128"},
		"digest without algorithm":         {"app", ImageOverride{Digest: ptr("0000")}, ".digest", "not a digest"},
		"no image":                         {"", ImageOverride{Tag: ptr("1")}, "", `Container "a" has no image`},
	} {
		t.Run(name, func(t *testing.T) {
			c.override.Container = "a"
			_, _, err := overridden(t, `{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: a, image: "`+c.image+`"}]}}`,
				Override{Images: []ImageOverride{c.override}})
			refused(t, err, "overrides.2.images.0"+c.field, c.word)
		})
	}
}

func TestImagesOfEveryContainer(t *testing.T) {
	const pod = "/spec/template/spec/"
	o := Override{Images: []ImageOverride{{Container: "*", Registry: ptr("mirror.example")}, {Container: "side", Tag: ptr("2")}}}
	for pointer, want := range map[string]string{
		pod + "initContainers/0/image": `"mirror.example/busybox:1.36"`, pod + "containers/0/image": `"mirror.example/team/web:1.0"`,
		pod + "containers/1/image": `"mirror.example/side:2"`,
	} {
		same(t, overriddenAt(t, o, pointer), want)
	}
}
