package member

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// Precondition says what must be on the member for an apply to be carried out.
type Precondition struct {
	Create bool      // nothing is there yet
	UID    types.UID // this very object is there
}

// ApplyOptions of one server-side apply.
type ApplyOptions struct {
	DryRun  bool
	Force   bool // take fields from other managers
	Require Precondition
	Manager string // "" = the provider's field manager
}

// Applied is the API server's answer to an apply.
type Applied struct {
	Live     *unstructured.Unstructured
	Created  bool
	Warnings []string
}

// ExistsError says that a create-only apply met an object. Live is that object.
type ExistsError struct {
	Member string
	Object Object
	Live   *unstructured.Unstructured
}

func (e *ExistsError) Error() string {
	return fmt.Sprintf("member %s already has %s", e.Member, e.Object)
}

// GoneError says that the very object (by uid) that an apply was meant for is no longer there.
type GoneError struct {
	Member string
	Object Object
}

func (e *GoneError) Error() string {
	return fmt.Sprintf("member %s no longer has the %s that was there", e.Member, e.Object)
}

// TerminatingError says that the object is being deleted. Finalizers are what holds it.
type TerminatingError struct {
	Member     string
	Object     Object
	Since      metav1.Time
	Finalizers []string
}

func (e *TerminatingError) Error() string {
	text := fmt.Sprintf("%s on member %s is being deleted since %s", e.Object, e.Member, e.Since.UTC().Format("2006-01-02T15:04:05Z"))
	if len(e.Finalizers) > 0 {
		text += ", held by the finalizers " + strings.Join(e.Finalizers, ", ")
	}
	return text
}

// Apply sends one server-side apply of tree, which is not modified. Besides the package's general errors it returns ConflictError,
// ExistsError, GoneError and TerminatingError.
//
// The preconditions travel in the body: resourceVersion "1" is never that of an existing object, so the API server creates or answers 409;
// a uid makes it update that object or answer 409 (absent) or 422 (another one).
func (m *Member) Apply(ctx context.Context, o Object, tree map[string]any, options ApplyOptions) (*Applied, error) {
	body, err := applyBody(tree, options.Require)
	if err != nil {
		return nil, fmt.Errorf("encode %s for member %s: %w", o, m.name, err)
	}
	answer := retry(ctx, func() rest.Result { return m.send(ctx, o, body, options) })
	live, err := decode(answer)
	if err != nil {
		return nil, m.applyFailure(ctx, o, options, err)
	}
	if live.GetDeletionTimestamp() != nil {
		return nil, terminating(m.name, o, live)
	}
	var code int
	answer.StatusCode(&code)
	applied := &Applied{Live: live, Created: code == http.StatusCreated}
	for _, w := range answer.Warnings() {
		applied.Warnings = append(applied.Warnings, w.Text)
	}
	return applied, nil
}

func (m *Member) send(ctx context.Context, o Object, body []byte, options ApplyOptions) rest.Result {
	manager := options.Manager
	if manager == "" {
		manager = m.options.FieldManager
	}
	request := m.rest.Patch(types.ApplyPatchType).AbsPath(o.path()...).Param("fieldManager", manager).Param("fieldValidation", "Strict")
	if options.DryRun {
		request.Param("dryRun", metav1.DryRunAll)
	}
	if options.Force {
		request.Param("force", "true")
	}
	return request.Body(body).MaxRetries(0).Do(ctx)
}

func applyBody(tree map[string]any, require Precondition) ([]byte, error) {
	top := make(map[string]any, len(tree))
	for key, value := range tree {
		top[key] = value
	}
	metadata := map[string]any{}
	if old, ok := tree["metadata"].(map[string]any); ok {
		for key, value := range old {
			metadata[key] = value
		}
	}
	if require.Create {
		metadata["resourceVersion"] = "1"
	}
	if require.UID != "" {
		metadata["uid"] = string(require.UID)
	}
	top["metadata"] = metadata
	body, err := json.Marshal(top)
	return escapeForYAML(body), err
}

// escapeForYAML writes as escapes what is plain text to JSON and not to YAML, as which API servers read the body of an apply: there U+0085
// is a line break, which becomes a space, and the other control characters, U+FEFF, U+FFFE and U+FFFF are errors. encoding/json already
// escapes U+2028 and U+2029. Such characters occur in a JSON text within strings alone.
func escapeForYAML(body []byte) []byte {
	special := func(c rune) bool {
		return c >= 0x7f && c <= 0x9f || c == '\ufeff' || c == '\ufffe' || c == '\uffff'
	}
	if bytes.IndexFunc(body, special) < 0 {
		return body
	}
	escaped := make([]byte, 0, len(body)+16)
	for _, c := range string(body) {
		if special(c) {
			escaped = fmt.Appendf(escaped, `\u%04x`, c)
			continue
		}
		escaped = utf8.AppendRune(escaped, c)
	}
	return escaped
}

func terminating(member string, o Object, live metav1.Object) *TerminatingError {
	return &TerminatingError{Member: member, Object: o, Since: *live.GetDeletionTimestamp(), Finalizers: live.GetFinalizers()}
}

func (m *Member) applyFailure(ctx context.Context, o Object, options ApplyOptions, err error) error {
	status := statusOf(err)
	if apierrors.IsConflict(err) {
		if options.Require.Create { // without force, a conflict of managers is told before the one of the precondition
			return m.existing(ctx, o, err)
		}
		if causes := conflictCauses(status); len(causes) > 0 {
			return &ConflictError{Member: m.name, Object: o, Causes: causes}
		}
		if options.Require.UID != "" {
			return &GoneError{Member: m.name, Object: o}
		}
	}
	if options.Require.UID != "" && apierrors.IsInvalid(err) && hasCause(status, "metadata.uid") {
		return &GoneError{Member: m.name, Object: o}
	}
	return m.failure("apply", o, err)
}

// existing says what stands in the way of a creation.
func (m *Member) existing(ctx context.Context, o Object, conflict error) error {
	live, err := m.Get(ctx, o)
	switch {
	case err != nil:
		return err
	case live == nil:
		return m.failure("apply", o, conflict)
	case live.GetDeletionTimestamp() != nil:
		return terminating(m.name, o, live)
	}
	return &ExistsError{Member: m.name, Object: o, Live: live}
}

func hasCause(status metav1.Status, field string) bool {
	if status.Details == nil {
		return false
	}
	for _, cause := range status.Details.Causes {
		if cause.Field == field {
			return true
		}
	}
	return false
}

// managerInMessage finds the manager's name: an API server reports it only in the text of a conflict's cause.
var managerInMessage = regexp.MustCompile(`conflict with ("(?:[^"\\]|\\.)*")`)

func conflictCauses(status metav1.Status) []Cause {
	if status.Details == nil {
		return nil
	}
	var causes []Cause
	for _, c := range status.Details.Causes {
		if c.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		manager := "another manager"
		if found := managerInMessage.FindStringSubmatch(c.Message); found != nil {
			if name, err := strconv.Unquote(found[1]); err == nil {
				manager = name
			}
		}
		causes = append(causes, Cause{Field: c.Field, Manager: manager})
	}
	sort.Slice(causes, func(i, j int) bool { return causes[i].Field < causes[j].Field })
	return causes
}
