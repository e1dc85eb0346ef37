package provider_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// expression writes a tree as an HCL expression.
func expression(value any) string {
	switch v := value.(type) {
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, key := range sortedKeys(v) {
			parts = append(parts, literal(key)+" = "+expression(v[key]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		parts := make([]string, len(v))
		for i, child := range v {
			parts[i] = expression(child)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return literal(v)
	}
	return jsonOf(value)
}

// literal writes a text in HCL's quotes.
func literal(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c == '\n':
			b.WriteString(`\n`)
		case c < ' ' || c == '\ufeff':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(b.String())
}

// escapedJSON is JSON in which nothing but ASCII is written as it is.
func escapedJSON(value any) string {
	var b strings.Builder
	for _, c := range jsonOf(value) {
		switch {
		case c < 0x80:
			b.WriteRune(c)
		case c < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	return b.String()
}

func jsonOf(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // a tree of plain values
	}
	return string(data)
}

// writtenTemplate is the template as it is written: with nulls, without the namespace that an attribute names, and a Secret's data as text.
func (w *world) writtenTemplate() any {
	object := any(w.template())
	if !w.written.namespace && !w.clusterScoped {
		object = at("/metadata/namespace").drop(object)
	}
	for _, k := range w.knobs {
		if w.nulls[k] {
			object = k.put(object, nil)
		}
	}
	if w.kind == "Secret" && w.written.plain {
		object = withStringData(object.(tree))
	}
	return object
}

// templateFile is the text of the template, where it stands in a file.
func (w *world) templateFile() string {
	switch w.written.form {
	case "json":
		return escapedJSON(w.writtenTemplate())
	case "yaml":
		return documentOf(w.writtenTemplate())
	}
	return ""
}

// configuration is the resource in HCL; write puts files beside the configuration.
func (w *world) configuration(write func(name, text string)) string {
	attributes := []string{"deletion = { protection = false }"}
	if !w.written.namespace && !w.clusterScoped {
		attributes = append(attributes, fmt.Sprintf("default_namespace = %q", w.object.namespace))
	}
	template := expression(w.writtenTemplate())
	if text := w.templateFile(); text != "" {
		file := w.name + "." + w.written.form
		write(file, text)
		template = fmt.Sprintf("file(%q)", file)
	}
	attributes = append(attributes, "template = "+template, w.placement(), w.policyText())
	if w.written.sensitive != "" {
		attributes = append(attributes, fmt.Sprintf("sensitive_fields = [%q]", w.written.sensitive))
	}
	if len(w.overrides) > 0 {
		entries := make([]string, len(w.overrides))
		for i, c := range w.overrides {
			entries[i] = w.entry(i, c)
		}
		attributes = append(attributes, "overrides = [\n    "+strings.Join(entries, ",\n    ")+",\n  ]")
	}
	if len(w.replicas) > 0 {
		counts := make([]string, 0, len(w.replicas))
		for _, member := range sortedKeys(w.replicas) {
			counts = append(counts, fmt.Sprintf("%q = %d", member, w.replicas[member]))
		}
		attributes = append(attributes, "replicas = { "+strings.Join(counts, ", ")+" }")
	}
	return named(w.name, attributes...)
}

// withStringData writes those values of a Secret as text that are text.
func withStringData(secret tree) tree {
	out := copied(secret).(tree)
	data, _ := out["data"].(tree)
	plain := tree{}
	for key, value := range data {
		text, _ := value.(string)
		decoded, err := base64.StdEncoding.DecodeString(text)
		if err == nil && value != nil && json.Valid([]byte(jsonOf(string(decoded)))) && !strings.ContainsRune(string(decoded), '\ufffd') && isText(decoded) && !isDecomposed(string(decoded)) {
			plain[key] = string(decoded)
			delete(data, key)
		}
	}
	if len(plain) > 0 {
		out["stringData"] = plain
	}
	return out
}

func isText(data []byte) bool { return strings.ToValidUTF8(string(data), "") == string(data) }

func (w *world) placement() string {
	all := []string{"asia", "eu", "us"}
	if !slices.Equal(w.placed, all) {
		return on(w.placed...)
	}
	return []string{everywhere, on(all...), `placement = { cluster_selector = { match_expressions = [{ key = "name", operator = "Exists" }] } }`}[len(w.base)%3]
}

func (w *world) policyText() string {
	parts := make([]string, 0, len(w.policy))
	for _, key := range sortedKeys(w.policy) {
		parts = append(parts, fmt.Sprintf("%s = %q", key, w.policy[key]))
	}
	return "policy = { " + strings.Join(parts, ", ") + " }"
}

// entry is the entry of overrides at an index, of which the entries before it have been applied.
func (w *world) entry(index int, c alteration) string {
	var parts []string
	switch c.selectedBy {
	case "all":
		parts = append(parts, "cluster_selector = {}")
	case "labels":
		parts = append(parts, `cluster_selector = { match_expressions = [{ key = "name", operator = "In", values = `+expression(anyList(c.members))+` }] }`)
	default:
		parts = append(parts, "clusters = "+expression(anyList(c.members)))
	}
	before := any(w.template())
	for _, earlier := range w.overrides[:index] {
		if slices.Contains(earlier.members, c.members[0]) {
			before = earlier.on(w, before)
		}
	}
	parts = append(parts, w.patches(c, before)...)
	for _, f := range []form{byImages, byLabels, byAnnotations, byEnv, byArgs, byEmbedded} {
		if text := w.attribute(f, c, before); text != "" {
			parts = append(parts, text)
		}
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

func anyList(texts []string) []any {
	out := make([]any, len(texts))
	for i, text := range texts {
		out[i] = text
	}
	return out
}

// patches writes as a merge patch what can be, and the rest as a JSON patch.
func (w *world) patches(c alteration, before any) []string {
	var merge any
	operations := []any{}
	for i, k := range w.knobs {
		value, sets := c.sets[k]
		if !sets || c.manner(k, before) != byPatch {
			continue
		}
		if !k.hasItems() && !isMap(value) && (len(c.members) > 1 || i%2 == 0) {
			merge = k.put(merge, value)
			continue
		}
		added := patchOperations(k.place, before, value)
		for _, o := range added {
			operations = append(operations, o)
		}
		if value == nil {
			before = k.drop(before)
		} else {
			before = k.put(before, value)
		}
	}
	var parts []string
	if len(operations) > 0 {
		parts = append(parts, "json_patch = "+literal(escapedJSON(operations)))
	}
	switch {
	case merge == nil:
	case isDecomposed(merge):
		parts = append(parts, "merge_patch = "+literal(escapedJSON(merge)))
	default:
		parts = append(parts, "merge_patch = jsonencode("+expression(merge)+")")
	}
	return parts
}

// patchOperations brings a place of a tree to a value, as RFC 6902 does.
func patchOperations(p place, object any, value any) []tree {
	was, there := p.in(object)
	switch {
	case value == nil && !there:
		return []tree{{"op": "test", "path": "/kind", "value": object.(tree)["kind"]}}
	case value == nil:
		return []tree{{"op": "remove", "path": p.pointer(object)}}
	case there:
		return []tree{{"op": "test", "path": p.pointer(object), "value": was}, {"path": p.pointer(object), "value": value}}
	}
	var operations []tree
	for i := 1; i < len(p); i++ {
		if _, there := p[:i].in(object); there {
			continue
		}
		var child any = tree{}
		if p[i].isItem() {
			child = []any{}
		}
		if p[i-1].isItem() {
			child = p[i-1].item
		}
		operations = append(operations, tree{"op": "add", "path": p[:i].pointer(object), "value": child})
		if _, isItem := child.([]any); isItem {
			object = p[:i].put(object, child)
		} else {
			object = p[:i].put(object, copied(child))
		}
	}
	return append(operations, tree{"op": "add", "path": p.pointer(object), "value": value})
}

// attribute writes what an entry sets by one of the other attributes.
func (w *world) attribute(f form, c alteration, before any) string {
	texts, entries := tree{}, []any{}
	for _, k := range w.knobs {
		value, sets := c.sets[k]
		if !sets || c.manner(k, before) != f {
			continue
		}
		switch f {
		case byLabels, byAnnotations:
			texts[k.place[len(k.place)-1].key] = value
		case byImages:
			entries = append(entries, imageEntry(k.container, value.(string)))
		case byEnv:
			entries = append(entries, tree{"container": k.container, "name": k.place[len(k.place)-2].item["name"], "value": value})
		case byArgs:
			was, _ := k.in(before)
			removed, _ := was.([]any)
			entries = append(entries, tree{"container": k.container, "remove": removed, "add": value})
		case byEmbedded:
			entries = append(entries, embeddedEntry(k, before, value))
		}
	}
	switch {
	case len(texts) > 0:
		return string(f) + " = " + expression(texts)
	case len(entries) > 0:
		return string(f) + " = " + expression(entries)
	}
	return ""
}

// manner is how a knob is set on an object: there must be a document to change one in it, and arguments to change any.
func (c alteration) manner(k *knob, before any) form {
	was, there := k.in(before)
	if how := c.how[k]; how == byEmbedded && !there || how == byArgs && empty(was) && empty(c.sets[k]) {
		return byPatch
	}
	return c.how[k]
}

// imageEntry names every part of an image.
func imageEntry(container, image string) tree {
	entry := tree{"container": container, "registry": "", "digest": ""}
	if rest, hash, ok := strings.Cut(image, "@"); ok {
		image, entry["digest"] = rest, hash
	}
	if first, rest, ok := strings.Cut(image, "/"); ok && (strings.ContainsAny(first, ".:") || first == "localhost") {
		image, entry["registry"] = rest, first
	}
	entry["repository"], entry["tag"], _ = strings.Cut(image, ":")
	return entry
}

func embeddedEntry(k *knob, before, value any) tree {
	return tree{"path": k.pointer(before), "merge_patch": value}
}
