package kubetest

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Verb is what a request asks of the API, one step finer than its method.
type Verb string

// The verbs.
const (
	Get              Verb = "get"
	List             Verb = "list"
	Watch            Verb = "watch"
	Create           Verb = "create"
	Update           Verb = "update"
	Patch            Verb = "patch"
	Apply            Verb = "apply" // a server-side apply patch
	Delete           Verb = "delete"
	DeleteCollection Verb = "deletecollection"
	Discovery        Verb = "discovery" // /api, /apis, /openapi, /version and below
	Other            Verb = "other"     // /readyz and the like
)

// Request is one request that a [Proxy] received, as recorded.
type Request struct {
	Verb   Verb
	DryRun bool // nothing may be written by it

	// What the path names. All empty for discovery and other paths; Group is
	// empty for the core group, Name for lists and creates.
	Group, Version, Resource, Subresource, Namespace, Name string

	Method string
	Path   string
	Query  url.Values
	Header http.Header // without Authorization
	Body   []byte
	Proto  string // HTTP/1.1 or HTTP/2.0

	Start     time.Time
	Duration  time.Duration // until the answer was passed on; 0 while that goes on
	Forwarded bool          // it reached the API server
	Status    int           // of the answer that the client got; 0 if it got none
	Fault     string        // the last fault that struck it, if one did
}

// Write says whether the request could change what the cluster stores: not a
// read, not a dry run, and not one of the reviews, which are asked by create.
func (r Request) Write() bool {
	switch r.Verb {
	case Create, Update, Patch, Apply, Delete, DeleteCollection:
	default:
		return false
	}
	review := r.Group == "authorization.k8s.io" || r.Group == "authentication.k8s.io"
	return !r.DryRun && !review
}

// String names the request in one line, for messages.
func (r Request) String() string {
	text := string(r.Verb)
	if r.DryRun {
		text += " (dry run)"
	}
	text += " " + r.Path
	if len(r.Query) > 0 {
		text += "?" + r.Query.Encode()
	}
	return text
}

// describe reads off a request what it asks for.
func describe(r *http.Request, body []byte) Request {
	query := r.URL.Query()
	header := r.Header.Clone()
	header.Del("Authorization")
	d := Request{
		Method: r.Method, Path: r.URL.Path, Query: query, Header: header, Body: body, Proto: r.Proto,
		DryRun: slices.Contains(query["dryRun"], "All") || r.Method == http.MethodDelete && dryRunInBody(body),
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		d.Version = parts[1]
		d.resource(parts[2:])
	case parts[0] == "apis" && len(parts) > 3:
		d.Group, d.Version = parts[1], parts[2]
		d.resource(parts[3:])
	case slices.Contains([]string{"api", "apis", "openapi", "version"}, parts[0]):
		d.Verb = Discovery
		return d
	default:
		d.Verb = Other
		return d
	}
	d.Verb = d.verb()
	return d
}

// dryRunInBody reads the options of a delete, which travel in its body.
func dryRunInBody(body []byte) bool {
	var options struct{ DryRun []string }
	return json.Unmarshal(body, &options) == nil && slices.Contains(options.DryRun, "All")
}

// resource reads the part of a path behind the version.
func (r *Request) resource(parts []string) {
	// namespaces/NAME/RESOURCE lies in a namespace; namespaces/NAME/status and
	// /finalize are the namespace itself.
	inside := len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize"
	if inside {
		r.Namespace, parts = parts[1], parts[2:]
	}
	r.Resource = parts[0]
	if len(parts) > 1 {
		r.Name = parts[1]
	}
	if len(parts) > 2 {
		r.Subresource = strings.Join(parts[2:], "/")
	}
}

func (r *Request) verb() Verb {
	switch r.Method {
	case http.MethodPost:
		return Create
	case http.MethodPut:
		return Update
	case http.MethodPatch:
		kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err == nil && strings.HasPrefix(kind, "application/apply-patch") {
			return Apply
		}
		return Patch
	case http.MethodDelete:
		if r.Name == "" {
			return DeleteCollection
		}
		return Delete
	}
	if watch := r.Query.Get("watch"); watch == "true" || watch == "1" {
		return Watch
	}
	if r.Name == "" {
		return List
	}
	return Get
}
