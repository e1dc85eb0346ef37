package federation

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// ImageOverride changes parts of the image of containers. A part that is nil stays; a part that is empty is removed.
type ImageOverride struct {
	// Container is a name, of an init or ephemeral container too, or "*" for every container.
	Container string
	// Registry is host and perhaps port: reg.example, localhost, reg:5000.
	Registry *string
	// Repository is the path on the registry: team/app.
	Repository *string
	Tag        *string
	// Digest is algorithm and hexadecimal digits: sha256:….
	Digest *string
}

// imageRef is an image reference in parts, each empty when absent.
type imageRef struct{ registry, repository, tag, digest string }

// The grammar of the parts, from the OCI distribution specification; only the digest's length is left to the registry.
var (
	registryPattern   = regexp.MustCompile(`^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$`)
	repositoryPattern = regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$`)
	tagPattern        = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	digestPattern     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$`)
)

// parseImage takes an image reference apart. The first part is a registry if and only if it has a dot or a colon or is localhost:
// the team of team/app is part of the repository.
func parseImage(image string) imageRef {
	var ref imageRef
	rest, digest, _ := strings.Cut(image, "@")
	ref.digest = digest
	if first, path, slash := strings.Cut(rest, "/"); slash && isRegistry(first) {
		ref.registry, rest = first, path
	}
	if colon := strings.LastIndexByte(rest, ':'); colon > strings.LastIndexByte(rest, '/') {
		rest, ref.tag = rest[:colon], rest[colon+1:]
	}
	ref.repository = rest
	return ref
}

func isRegistry(part string) bool {
	return part == "localhost" || strings.ContainsAny(part, ".:")
}

// String puts the reference together again.
func (r imageRef) String() string {
	image := r.repository
	if r.registry != "" {
		image = r.registry + "/" + image
	}
	if r.tag != "" {
		image += ":" + r.tag
	}
	if r.digest != "" {
		image += "@" + r.digest
	}
	return image
}

// with returns the reference with the parts of an override in it. The digest survives unless it is given: a new tag with an old
// digest would still run the old image, so that is refused.
func (r imageRef) with(o ImageOverride) (imageRef, error) {
	old := r
	for _, part := range []struct {
		to   *string
		from *string
	}{{&r.registry, o.Registry}, {&r.repository, o.Repository}, {&r.tag, o.Tag}, {&r.digest, o.Digest}} {
		if part.from != nil {
			*part.to = *part.from
		}
	}
	if r.tag != old.tag && r.tag != "" && o.Digest == nil && old.digest != "" {
		return r, fmt.Errorf("tag %q would have no effect: the image keeps the digest %s, which decides what runs; set digest too "+
			`(digest = "" removes it)`, r.tag, old.digest)
	}
	if parsed := parseImage(r.String()); parsed != r {
		return r, fmt.Errorf("image %q would be read otherwise: its first part is taken for a registry if it has a dot or a colon or is "+
			"localhost; give registry and repository apart", r)
	}
	return r, nil
}

// validateImages checks the parts of image overrides.
func validateImages(images []ImageOverride) error {
	var findings []*InputError
	for i, image := range images {
		refuse := func(field, format string, args ...any) {
			findings = append(findings, &InputError{Path: []string{"images", strconv.Itoa(i), field}, Summary: "Invalid image override",
				Detail: fmt.Sprintf(format, args...)})
		}
		image.check(refuse)
	}
	return joinFindings(findings)
}

func (o ImageOverride) check(refuse func(field, format string, args ...any)) {
	if o.Container == "" {
		refuse("container", `container is missing: give a name, or "*" for every container.`)
	}
	if o.Registry == nil && o.Repository == nil && o.Tag == nil && o.Digest == nil {
		refuse("container", "The entry changes nothing: set at least one of registry, repository, tag and digest.")
	}
	if r := o.Registry; r != nil && *r != "" {
		switch {
		case !registryPattern.MatchString(*r):
			refuse("registry", "%q is not a registry: host and perhaps port, without a scheme or path (reg.example, reg:5000).", *r)
		case !isRegistry(*r):
			refuse("registry", "%q would be read as part of the repository: a registry has a dot or a port, or is localhost.", *r)
		}
	}
	if r := o.Repository; r != nil && !repositoryPattern.MatchString(*r) {
		refuse("repository", "%q is not a repository: lower case letters, digits, '.', '_' and '-', parts divided by '/' (team/app).", *r)
	}
	if t := o.Tag; t != nil && *t != "" && !tagPattern.MatchString(*t) {
		refuse("tag", "%q is not a tag: up to 128 letters, digits, '_', '.' and '-'.", *t)
	}
	if d := o.Digest; d != nil && *d != "" && !digestPattern.MatchString(*d) {
		refuse("digest", "%q is not a digest: algorithm and hexadecimal digits (sha256:…).", *d)
	}
}

// setImages applies image overrides to the containers of a pod.
func setImages(pod podSpec, images []ImageOverride) error {
	if err := validateImages(images); err != nil {
		return err
	}
	for i, override := range images {
		path := []string{"images", strconv.Itoa(i)}
		containers, err := pod.named(override.Container, append(path, "container"))
		if err != nil {
			return err
		}
		for _, container := range containers {
			if container.fields["image"] == nil && override.Container == "*" {
				continue
			}
			if err := container.setImage(override); err != nil {
				return &InputError{Path: path, Summary: "Invalid image override", Detail: sentence(err.Error())}
			}
		}
	}
	return nil
}

func (c container) setImage(override ImageOverride) error {
	image, ok := c.fields["image"].(string)
	if !ok || image == "" {
		return fmt.Errorf("container %q has no image to change", c.name)
	}
	changed, err := parseImage(image).with(override)
	if err != nil {
		return fmt.Errorf("container %q: %w", c.name, err)
	}
	c.fields["image"] = changed.String()
	return nil
}
