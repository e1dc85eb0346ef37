package fleet

import (
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/federation"
)

func TestDropsAnySeesEveryFieldAndItemThatGoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after string
		drops         bool
	}{
		"nothing":                      {`{a: 1, b: [x]}`, `{a: 1, b: [x]}`, false},
		"a value":                      {`{a: 1}`, `{a: 2}`, false},
		"a new field":                  {`{a: 1}`, `{a: 1, b: 2}`, false},
		"a field":                      {`{a: 1, b: 2}`, `{a: 1}`, true},
		"a field below":                {`{a: {b: 1, c: 1}}`, `{a: {b: 1}}`, true},
		"a map for a value":            {`{a: {b: 1}}`, `{a: 1}`, true},
		"a list for a value":           {`{a: [1]}`, `{a: 1}`, true},
		"an empty map for a value":     {`{a: {}}`, `{a: 1}`, false},
		"an item of a set":             {`{a: [x, y]}`, `{a: [y]}`, true},
		"an item of a set for another": {`{a: [x]}`, `{a: [y]}`, true},
		"a set reordered":              {`{a: [x, y]}`, `{a: [y, x]}`, false},
		"a named item":                 {`{a: [{name: x}, {name: y}]}`, `{a: [{name: x}]}`, true},
		"a named item for another":     {`{a: [{name: x, image: i}]}`, `{a: [{name: y, image: i}]}`, true},
		"a value of a named item":      {`{a: [{name: x, image: i}]}`, `{a: [{name: x, image: j}]}`, false},
		"a field of a named item":      {`{a: [{name: x, image: i}]}`, `{a: [{name: x}]}`, true},
		"named items reordered":        {`{a: [{name: x}, {name: y}]}`, `{a: [{name: y}, {name: x}]}`, false},
		"a port's protocol":            {`{a: [{port: 53, protocol: TCP}]}`, `{a: [{port: 53, protocol: UDP}]}`, true},
		"a port's target":              {`{a: [{port: 53, targetPort: 1}]}`, `{a: [{port: 53, targetPort: 2}]}`, false},
		"an item without a key":        {`{a: [{x: 1}]}`, `{a: [{x: 2}]}`, true},
	} {
		before, errBefore := federation.DecodeValue(c.before)
		after, errAfter := federation.DecodeValue(c.after)
		if errBefore != nil || errAfter != nil {
			t.Fatal(errBefore, errAfter)
		}
		if got := dropsAny(before, after); got != c.drops {
			t.Errorf("%s: drops is %v", name, got)
		}
	}
}
