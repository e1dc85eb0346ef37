package provider

import (
	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
)

// overridesFromTree reads the list `overrides` from a JSON tree as tfvalue.Tree gives it, of a typed attribute as well as of a dynamic
// value. Null is an absent attribute, unknown attribute names are refused. It reads and checks types and patches only: whether an
// entry makes sense is what federation.Override.Validate says, which takes known values. Errors are federation.InputErrors whose
// paths begin with "overrides".
func overridesFromTree(tree any) ([]federation.Override, error) {
	root := rootNode(tree, "overrides")
	overrides := eachElement(root, readOverride)
	if err := root.err(); err != nil {
		return nil, err
	}
	return overrides, nil
}

func readOverride(n treeNode) federation.Override {
	n.object("clusters", "cluster_selector", "json_patch", "merge_patch", "images", "labels", "annotations", "env", "args", "embedded")
	return federation.Override{
		Selection: federation.Selection{
			Clusters: n.attribute("clusters").texts(),
			Selector: readSelector(n.attribute("cluster_selector")),
		},
		JSONPatch:   readJSONPatch(n.attribute("json_patch")),
		MergePatch:  readMergePatch(n.attribute("merge_patch")),
		Images:      eachElement(n.attribute("images"), readImage),
		Labels:      n.attribute("labels").textMap(),
		Annotations: n.attribute("annotations").textMap(),
		Env:         eachElement(n.attribute("env"), readEnv),
		Args:        eachElement(n.attribute("args"), readArgs),
		Embedded:    eachElement(n.attribute("embedded"), readEmbedded),
	}
}

// readSelector reads cluster_selector, nil when absent; {} is a selector that chooses every member.
func readSelector(n treeNode) *federation.Selector {
	if n.absent() {
		return nil
	}
	n.object("match_labels", "match_expressions")
	return &federation.Selector{
		MatchLabels:      n.attribute("match_labels").textMap(),
		MatchExpressions: eachElement(n.attribute("match_expressions"), readRequirement),
	}
}

func readRequirement(n treeNode) federation.Requirement {
	n.object("key", "operator", "values")
	return federation.Requirement{
		Key:      n.attribute("key").text(),
		Operator: n.attribute("operator").text(),
		Values:   n.attribute("values").texts(),
	}
}

// readJSONPatch reads a patch given as text, nil when absent.
func readJSONPatch(n treeNode) []federation.Operation {
	text, ok := n.patchText()
	if !ok {
		return nil
	}
	operations, err := federation.ParseOperations(text)
	n.note(err)
	return operations
}

// readMergePatch reads a patch given as text, nil when absent.
func readMergePatch(n treeNode) any {
	text, ok := n.patchText()
	if !ok {
		return nil
	}
	patch, err := federation.ParseMergePatch(text)
	n.note(err)
	return patch
}

// patchText reads the text of a patch. Patches are text, as a list of overrides cannot hold values of any type.
func (n treeNode) patchText() (text string, ok bool) {
	switch value := n.value.(type) {
	case nil:
		return "", false
	case string:
		return value, true
	default:
		n.refuse("A patch is JSON or YAML text, but this is %s: put jsonencode(…) around it.", typeName(value))
		return "", false
	}
}

func readImage(n treeNode) federation.ImageOverride {
	n.object("container", "registry", "repository", "tag", "digest")
	return federation.ImageOverride{
		Container:  n.attribute("container").text(),
		Registry:   n.attribute("registry").optionalText(),
		Repository: n.attribute("repository").optionalText(),
		Tag:        n.attribute("tag").optionalText(),
		Digest:     n.attribute("digest").optionalText(),
	}
}

func readEnv(n treeNode) federation.EnvOverride {
	n.object("container", "name", "value")
	return federation.EnvOverride{
		Container: n.attribute("container").text(),
		Name:      n.attribute("name").text(),
		Value:     n.attribute("value").text(),
	}
}

func readArgs(n treeNode) federation.ArgsOverride {
	n.object("container", "add", "remove")
	return federation.ArgsOverride{
		Container: n.attribute("container").text(),
		Add:       n.attribute("add").texts(),
		Remove:    n.attribute("remove").texts(),
	}
}

func readEmbedded(n treeNode) federation.EmbeddedOverride {
	n.object("path", "format", "json_patch", "merge_patch")
	format := n.attribute("format").optionalText()
	if format == nil {
		format = new(string)
	}
	return federation.EmbeddedOverride{
		Path:       n.attribute("path").text(),
		Format:     *format,
		JSONPatch:  readJSONPatch(n.attribute("json_patch")),
		MergePatch: readMergePatch(n.attribute("merge_patch")),
	}
}
