// Package federation says what shall be where: which members get an object (placement), what each of them gets (template and
// overrides), how that is told apart in a plan (versions, differences) and whether what a member holds deviates from it (drift).
//
// It is pure: no network, no clock, no Terraform. Objects are plain JSON trees as apimachinery's unstructured package has them:
// map[string]any, []any, string, bool, nil, int64 and float64. No exported function changes a tree it is given, except where its
// comment says so.
package federation
