// Package tfvalue turns Terraform values into plain JSON trees and back.
//
// A tree is what encoding/json and apimachinery's unstructured package work on: map[string]any, []any, string, bool, nil, int64
// and float64. A tree has no way to say "not known yet", so what is unknown is left out of it and listed beside it: unknown never
// becomes a value, an empty text, null or a marker that something later could take for one.
package tfvalue
