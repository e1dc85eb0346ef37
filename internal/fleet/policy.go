package fleet

// Policy says what to do where the world is not as the plan wants it. The zero value of a field means "not set".
type Policy struct {
	OnExisting          string
	OnMissingNamespace  string
	OnMissingAPI        string
	OnUnreachable       string
	OnUnreachableDelete string
	OnImmutable         string
	OnFailure           string
	OnMissing           string
	OnConflict          string
}

// The values of Policy's fields; the first of each group in DefaultPolicy is the default.
const (
	PolicyError    = "error"
	PolicyAdopt    = "adopt"
	PolicyCreate   = "create"
	PolicySkip     = "skip"
	PolicyForget   = "forget"
	PolicyRecreate = "recreate"
	PolicyStop     = "stop"
	PolicyContinue = "continue"
	PolicyRollback = "rollback"
	PolicyKeep     = "keep"
	PolicyForce    = "force"

	// PolicyUnknown is a value that is not known while Terraform plans: what it decides is left to the apply.
	PolicyUnknown = "unknown"
)

// DefaultPolicy is what holds where neither the resource nor the provider says anything.
func DefaultPolicy() Policy {
	return Policy{
		OnExisting: PolicyError, OnMissingNamespace: PolicyError, OnMissingAPI: PolicyError,
		OnUnreachable: PolicyError, OnUnreachableDelete: PolicyError, OnImmutable: PolicyError,
		OnFailure: PolicyStop, OnMissing: PolicyRecreate, OnConflict: PolicyError,
	}
}

// LeavesPending reports whether an update may succeed without having written every member.
func (p Policy) LeavesPending() bool {
	return maySay(p.OnUnreachable, PolicySkip) || maySay(p.OnFailure, PolicyContinue)
}

// maySay reports whether a policy has a value, or may turn out to have it.
func maySay(policy, value string) bool { return policy == value || policy == PolicyUnknown }

// Over returns p with what it leaves open taken from fallback.
func (p Policy) Over(fallback Policy) Policy {
	pairs := []struct{ value, fallback *string }{
		{&p.OnExisting, &fallback.OnExisting},
		{&p.OnMissingNamespace, &fallback.OnMissingNamespace},
		{&p.OnMissingAPI, &fallback.OnMissingAPI},
		{&p.OnUnreachable, &fallback.OnUnreachable},
		{&p.OnUnreachableDelete, &fallback.OnUnreachableDelete},
		{&p.OnImmutable, &fallback.OnImmutable},
		{&p.OnFailure, &fallback.OnFailure},
		{&p.OnMissing, &fallback.OnMissing},
		{&p.OnConflict, &fallback.OnConflict},
	}
	for _, pair := range pairs {
		if *pair.value == "" {
			*pair.value = *pair.fallback
		}
	}
	return p
}
