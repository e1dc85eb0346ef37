package member

import (
	"crypto/sha256"
	"encoding/hex"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The marks that every object of ours carries on a member.
const (
	OwnerLabel         = "terraform.kubefed.io/owner"      // short hash of the provider's owner
	OwnerAnnotation    = "terraform.kubefed.io/owner-name" // the provider's owner as written
	ResourceAnnotation = "terraform.kubefed.io/resource"   // random id of the Terraform resource
)

// Mark says whose an object is.
type Mark struct{ Owner, Resource string }

// OwnerHash is the value of OwnerLabel for an owner: 16 hex characters of its SHA-256.
func OwnerHash(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return hex.EncodeToString(sum[:8])
}

// MarkOf reads the mark from an object; ok is false when it has none.
func MarkOf(o metav1.Object) (mark Mark, ok bool) {
	owner := o.GetAnnotations()[OwnerAnnotation]
	mark = Mark{Owner: owner, Resource: o.GetAnnotations()[ResourceAnnotation]}
	return mark, owner != "" && o.GetLabels()[OwnerLabel] == OwnerHash(owner)
}

// Put sets the mark on an object that is about to be written.
func (m Mark) Put(o metav1.Object) {
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels[OwnerLabel] = OwnerHash(m.Owner)
	annotations[OwnerAnnotation], annotations[ResourceAnnotation] = m.Owner, m.Resource
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
}

// RemoveMark takes the mark off a copy of an object; labels or annotations that hold nothing else go with it.
func RemoveMark(o metav1.Object) {
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	delete(labels, OwnerLabel)
	delete(annotations, OwnerAnnotation)
	delete(annotations, ResourceAnnotation)
	if len(labels) == 0 {
		labels = nil
	}
	if len(annotations) == 0 {
		annotations = nil
	}
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
}
