package registry

// Scope limits what the account of a joined cluster may do there. The zero value is everything.
type Scope struct {
	Namespaces []string `json:"namespaces,omitempty"` // Roles in these instead of a ClusterRole
	Rules      []Rule   `json:"rules,omitempty"`      // instead of everything
}

// Rule is one rule of RBAC.
type Rule struct {
	APIGroups []string `json:"apiGroups"`
	Resources []string `json:"resources"`
	Verbs     []string `json:"verbs"`
}
