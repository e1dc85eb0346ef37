package provider_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// place is where in an object something is: steps from the root.
type place []step

// step leads to the key of a map, to the item of a list that has some fields, or to an item that is a plain value.
type step struct {
	key   string
	item  map[string]any
	value any
}

// at reads a place: a JSON pointer in which [name=a] or [port=53,protocol=UDP] stands for the item with these fields, and [=a] for the item a.
func at(text string) place {
	var p place
	for _, part := range strings.Split(strings.TrimPrefix(text, "/"), "/") {
		inside, isItem := strings.CutPrefix(part, "[")
		if !isItem {
			p = append(p, step{key: strings.NewReplacer("~1", "/", "~0", "~").Replace(part)})
			continue
		}
		s := step{item: map[string]any{}}
		for _, pair := range strings.Split(strings.TrimSuffix(inside, "]"), ",") {
			name, text, _ := strings.Cut(pair, "=")
			var value any = strings.ReplaceAll(text, "~1", "/")
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				value = n
			}
			if name == "" {
				s = step{value: value}
				break
			}
			s.item[name] = value
		}
		p = append(p, s)
	}
	return p
}

// is reports whether a list's item is the one that the step leads to. A port without a protocol is one of TCP.
func (s step) is(item any) bool {
	if s.value != nil {
		return reflect.DeepEqual(item, s.value)
	}
	fields, isMap := item.(map[string]any)
	for name, want := range s.item {
		have := fields[name]
		if have == nil && name == "protocol" {
			have = "TCP"
		}
		if !isMap || !reflect.DeepEqual(have, want) {
			return false
		}
	}
	return isMap
}

func (s step) isItem() bool { return s.item != nil || s.value != nil }

// in reads what is at the place in a tree.
func (p place) in(tree any) (value any, there bool) {
	for _, s := range p {
		if s.isItem() {
			list, _ := tree.([]any)
			i := slices.IndexFunc(list, s.is)
			if i < 0 {
				return nil, false
			}
			tree = list[i]
			continue
		}
		node, _ := tree.(map[string]any)
		if tree, there = node[s.key]; !there {
			return nil, false
		}
	}
	return tree, true
}

// put returns a tree with a value at the place; what leads there is made where it is missing. The tree given is not changed.
func (p place) put(tree, value any) any {
	if len(p) == 0 {
		return value
	}
	s := p[0]
	if !s.isItem() {
		node, _ := tree.(map[string]any)
		if node = maps.Clone(node); node == nil {
			node = map[string]any{}
		}
		node[s.key] = p[1:].put(node[s.key], value)
		return node
	}
	list, _ := tree.([]any)
	list = slices.Clone(list)
	if i := slices.IndexFunc(list, s.is); i >= 0 {
		list[i] = p[1:].put(list[i], value)
		return list
	}
	if s.value != nil {
		return append(list, s.value)
	}
	return append(list, p[1:].put(maps.Clone(s.item), value))
}

// drop returns a tree without what is at the place.
func (p place) drop(tree any) any {
	if _, there := p.in(tree); !there {
		return tree
	}
	s := p[0]
	if !s.isItem() {
		node := maps.Clone(tree.(map[string]any))
		if len(p) == 1 {
			delete(node, s.key)
		} else {
			node[s.key] = p[1:].drop(node[s.key])
		}
		return node
	}
	list := slices.Clone(tree.([]any))
	i := slices.IndexFunc(list, s.is)
	if len(p) == 1 {
		return slices.Delete(list, i, i+1)
	}
	list[i] = p[1:].drop(list[i])
	return list
}

// pointer is the JSON pointer of the place in a tree; an item that is not there would be appended.
func (p place) pointer(tree any) string {
	text := ""
	for i, s := range p {
		if !s.isItem() {
			text += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(s.key)
			continue
		}
		list, _ := p[:i].in(tree)
		items, _ := list.([]any)
		if at := slices.IndexFunc(items, s.is); at >= 0 {
			text += fmt.Sprintf("/%d", at)
		} else {
			text += "/-"
		}
	}
	return text
}

// hasItems reports whether the place lies in the item of a list.
func (p place) hasItems() bool { return slices.ContainsFunc(p, step.isItem) }

func (p place) String() string { return p.pointer(nil) }

// reports tells whether a pointer in a plan is about this place: it names the place, or something in it, or, where the place is gone from a
// list or with all that was beside it, what holds the place.
func (p place) reports(pointer string, tree any) bool {
	own := p.pointer(tree)
	if pointer == own || strings.HasPrefix(pointer, own+"/") {
		return true
	}
	for i := len(p) - 1; i > 0; i-- {
		above, _ := p[:i].in(tree)
		node, isMap := above.(map[string]any)
		if pointer == p[:i].pointer(tree) {
			return !isMap || len(node) <= 1
		}
		if isMap && len(node) > 1 {
			return false
		}
	}
	return false
}
