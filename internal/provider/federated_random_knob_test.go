package provider_test

import (
	"math/rand/v2"
	"reflect"
)

// knob is one thing in objects of a kind that templates, overrides and others may set, each whatever the other knobs are.
type knob struct {
	place
	draw drawing
	same func(a, b any) bool // nil = as JSON

	needed    bool // Kubernetes wants a value
	fixed     bool // Kubernetes refuses another value once the object is there
	defaulted bool // the API server puts a value where there is none
	exact     bool // "" and the like are values like others
	shared    bool // a map into which others may put theirs: {} says nothing of what is in it
	free      bool // takes any text
	form      form // besides patches, what of overrides sets it
	container string
}

// form is the attribute of overrides that sets a knob.
type form string

const (
	byPatch       form = ""
	byLabels      form = "labels"
	byAnnotations form = "annotations"
	byImages      form = "images"
	byEnv         form = "env"
	byArgs        form = "args"
	byEmbedded    form = "embedded"
)

type knobOption func(*knob)

func needed(k *knob)    { k.needed = true }
func fixed(k *knob)     { k.fixed = true }
func defaulted(k *knob) { k.defaulted = true }
func exact(k *knob)     { k.exact = true }
func shared(k *knob)    { k.shared = true }

// quantities compare by what they amount to, and others may spell them otherwise.
func quantities(k *knob) { k.same = sameQuantity }

func as(f form) knobOption { return func(k *knob) { k.form = f } }

func within(container string) knobOption { return func(k *knob) { k.container = container } }

// turn makes a knob. Without needed it is absent in one of three draws.
func turn(path string, draw drawing, options ...knobOption) *knob {
	k := &knob{place: at(path), draw: draw}
	for _, option := range options {
		option(k)
	}
	return k
}

// texts is a knob that takes any text.
func texts(path string, options ...knobOption) *knob {
	k := turn(path, text, append(options, exact)...)
	k.free = true
	return k
}

// drawn draws a value, or nil for none.
func (k *knob) drawn(r *rand.Rand) any {
	if !k.needed && r.IntN(3) == 0 {
		return nil
	}
	return k.draw(r)
}

// equal reports whether two values, nil for none, mean the same to an API server.
func (k *knob) equal(a, b any) bool {
	switch {
	case a == nil && b == nil:
		return true
	case k.same != nil && a != nil && b != nil:
		return k.same(a, b)
	case k.exact:
		return reflect.DeepEqual(a, b)
	case empty(a) || empty(b):
		return empty(a) && empty(b)
	}
	return contains(a, b) && contains(b, a)
}

// another draws a value that is not the same as one; ok is false if there is none.
func (k *knob) another(r *rand.Rand, value any) (other any, ok bool) {
	for range 20 {
		other = k.draw(r)
		if !k.needed && !k.defaulted && r.IntN(4) == 0 {
			other = nil
		}
		adds := isMap(value) && k.place[len(k.place)-1].isItem() && contains(other, value) // and leaves all as it is
		if !k.equal(value, other) && !adds {
			return other, true
		}
	}
	return nil, false
}

// held reports whether a live object has the value wanted; nil for none.
func (k *knob) held(live map[string]any, want any) bool {
	have, there := k.in(live)
	switch {
	case want == nil:
		return !there || k.defaulted || (!k.exact && empty(have))
	case k.same != nil:
		return there && k.same(have, want)
	case k.exact:
		return there && reflect.DeepEqual(have, want)
	case k.shared && empty(want):
		return true
	case empty(want):
		return empty(have)
	}
	return contains(have, want)
}
