package registry

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// nameLabel is the label by which selectors find a member by its name.
const nameLabel = "kubernetes.io/metadata.name"

// InvalidLabel says why a member cannot have a label: Kubernetes would refuse it, or it is one that every member carries by itself. "" if it can.
func InvalidLabel(key, value string) string {
	switch {
	case key == nameLabel:
		return "every member carries its name there by itself; leave the label out"
	case key == regionLabel || key == zoneLabel:
		return "every member carries its region and zones there by itself; set `region` and `zones` instead"
	}
	return strings.Join(append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...), "; ")
}

// InvalidLabelValue says why Kubernetes would refuse text as the value of a label; "" if it would not.
func InvalidLabelValue(value string) string {
	return strings.Join(validation.IsValidLabelValue(value), "; ")
}

// InvalidAnnotation says why Kubernetes would refuse an annotation's key; "" if it would not.
func InvalidAnnotation(key string) string {
	return strings.Join(validation.IsQualifiedName(strings.ToLower(key)), "; ")
}
