package member

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Class says why a member could not be asked or gave no usable answer.
type Class string

// The classes of an UnreachableError.
const (
	ClassNetwork      Class = "does not answer"
	ClassTLS          Class = "fails the TLS handshake"
	ClassUnauthorized Class = "refuses the credentials (401)"
	ClassForbidden    Class = "forbids the request (403)"
	ClassThrottled    Class = "throttles (429)"
	ClassServer       Class = "fails (5xx)"
	ClassStrange      Class = "answers unlike an API server" // something else may stand in its place
	ClassOffline      Class = "is set offline"
	ClassConfig       Class = "has a connection that cannot be used"
	ClassTwice        Class = "has two names"
	ClassIdentity     Class = "is another cluster than the one registered"
)

// UnreachableError says that nothing is known about what is on a member: it did not answer, or not usably. It never means
// that an object is absent.
type UnreachableError struct {
	Member string
	Class  Class
	Err    error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("member %s %s: %v", e.Member, e.Class, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// Misconfigured reports whether what the configuration, or the registry, says of the member is at fault, and not the member: its connection
// cannot be used, or leads to the wrong cluster. That does not pass by itself.
func (e *UnreachableError) Misconfigured() bool {
	return e.Class == ClassConfig || e.Class == ClassTwice || e.Class == ClassIdentity
}

// Down reports whether the member itself is down (network, or set offline), as opposed to refusing us or being misconfigured.
func (e *UnreachableError) Down() bool { return e.Class == ClassNetwork || e.Class == ClassOffline }

// MayHaveArrived reports whether a request that failed so may have been carried out all the same: its answer was lost, or says nothing.
func (e *UnreachableError) MayHaveArrived() bool {
	var socket *net.OpError
	switch {
	case e.Class != ClassNetwork && e.Class != ClassServer:
		return false
	case errors.As(e.Err, &socket) && socket.Op == "dial":
		return false
	}
	return true
}

// NotServedError says that a member, whose discovery is complete, does not serve a kind.
type NotServedError struct {
	Member string
	GVK    schema.GroupVersionKind
	Served []string // other versions of the same kind that it serves
}

func (e *NotServedError) Error() string {
	text := fmt.Sprintf("member %s does not serve %s %s", e.Member, e.GVK.GroupVersion(), e.GVK.Kind)
	if len(e.Served) > 0 {
		text += " (it serves " + strings.Join(e.Served, ", ") + ")"
	}
	return text
}

// Cause is one field that another manager owns.
type Cause struct{ Field, Manager string }

// ConflictError says that other managers own fields of ours.
type ConflictError struct {
	Member string
	Object Object
	Causes []Cause
}

func (e *ConflictError) Error() string {
	parts := make([]string, len(e.Causes))
	for i, c := range e.Causes {
		parts[i] = fmt.Sprintf("%s (%s)", c.Field, c.Manager)
	}
	return fmt.Sprintf("member %s: other managers own fields of %s: %s", e.Member, e.Object, strings.Join(parts, ", "))
}

// NamespaceMissingError says that the object's namespace does not exist on the member.
type NamespaceMissingError struct{ Member, Namespace string }

func (e *NamespaceMissingError) Error() string {
	return fmt.Sprintf("member %s has no namespace %q", e.Member, e.Namespace)
}

// RefusedError is an answer by which the API server (validation, admission, quota, authorization) refused one request.
// Message may quote values of the object; Safe says it without.
type RefusedError struct {
	Member  string
	Object  Object
	Verb    string
	Code    int
	Reason  metav1.StatusReason
	Message string
	Causes  []metav1.StatusCause
	Fields  []string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s %s on member %s: %s", e.Verb, e.Object, e.Member, e.Message)
}

// Safe describes the refusal by its class and the names of the fields concerned, without any value of the object.
func (e *RefusedError) Safe() string {
	text := fmt.Sprintf("%s (HTTP %d)", e.reason(), e.Code)
	if len(e.Fields) > 0 {
		text += ", fields: " + strings.Join(e.Fields, ", ")
	}
	return text
}

// MayHaveArrived reports whether the request may have been carried out all the same: an API server answers 500 both for an object that it
// cannot decode and when its storage has not answered in time.
func (e *RefusedError) MayHaveArrived() bool { return e.Code >= 500 }

func (e *RefusedError) reason() string {
	if e.Reason == metav1.StatusReasonUnknown {
		return "Invalid"
	}
	return string(e.Reason)
}

// unreachable wraps err as an UnreachableError when it says nothing about the object asked for, and returns nil otherwise.
func unreachable(member string, err error) *UnreachableError {
	var known *UnreachableError
	if errors.As(err, &known) {
		return known
	}
	class := classify(err)
	if class == "" {
		return nil
	}
	return &UnreachableError{Member: member, Class: class, Err: err}
}

// classify answers "" for an answer that is about the request itself.
func classify(err error) Class {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return classifyTransport(err)
	}
	s := status.Status()
	switch {
	case apierrors.IsUnauthorized(err):
		return ClassUnauthorized
	case s.Code == 429:
		return ClassThrottled
	case s.Code == 500 && (s.Reason == metav1.StatusReasonUnknown || s.Reason == ""):
		return "" // how API servers report an object they cannot decode
	case s.Code >= 500:
		return ClassServer
	}
	return ""
}

// classifyTransport looks for a handshake that failed: the certificate is not to be trusted, the server refuses ours, or it speaks no TLS.
func classifyTransport(err error) Class {
	var (
		creds  *CredentialsError
		verify *tls.CertificateVerificationError
		record tls.RecordHeaderError
		socket *net.OpError
	)
	switch {
	case errors.As(err, &creds):
		return ClassConfig
	case errors.As(err, &verify), errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return ClassTLS
	case errors.As(err, &socket) && socket.Op == "remote error": // an alert, in the words of crypto/tls
		return ClassTLS
	}
	return ClassNetwork
}
