package registry

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// InvalidLabel says why Kubernetes would refuse a label; "" if it would not.
func InvalidLabel(key, value string) string {
	return strings.Join(append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...), "; ")
}

// InvalidAnnotation says why Kubernetes would refuse an annotation's key; "" if it would not.
func InvalidAnnotation(key string) string {
	return strings.Join(validation.IsQualifiedName(strings.ToLower(key)), "; ")
}
