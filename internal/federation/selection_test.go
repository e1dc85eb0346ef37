package federation

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"
)

func TestSelectorMatchesAsKubernetesDoes(t *testing.T) {
	member := Member{Name: "eu", Labels: map[string]string{"tier": "x", "empty": ""}, Region: "r1", Zones: []string{"z1"}}
	for name, c := range map[string]struct {
		selector Selector
		want     bool
	}{
		"empty chooses everything":     {Selector{}, true},
		"label equal":                  {Selector{MatchLabels: map[string]string{"tier": "x"}}, true},
		"label other":                  {Selector{MatchLabels: map[string]string{"tier": "y"}}, false},
		"label empty":                  {Selector{MatchLabels: map[string]string{"empty": ""}}, true},
		"all must hold":                {Selector{MatchLabels: map[string]string{"tier": "x", "a": "b"}}, false},
		"In":                           {expression("tier", "In", "w", "x"), true},
		"In without the label":         {expression("a", "In", "w"), false},
		"NotIn":                        {expression("tier", "NotIn", "x"), false},
		"NotIn without the label":      {expression("a", "NotIn", "x"), true},
		"Exists":                       {expression("empty", "Exists"), true},
		"DoesNotExist":                 {expression("empty", "DoesNotExist"), false},
		"name is a label":              {expression(NameLabel, "In", "eu"), true},
		"region is a label":            {expression(RegionLabel, "In", "r1"), true},
		"zone is a label":              {expression(ZoneLabel, "In", "z1"), true},
		"labels and expressions: both": {Selector{map[string]string{"tier": "x"}, []Requirement{{"a", "Exists", nil}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Selection{Selector: &c.selector}.Matches(member)
			noError(t, err)
			same(t, got, c.want)
		})
	}
}

func expression(key, operator string, values ...string) Selector {
	return Selector{MatchExpressions: []Requirement{{key, operator, values}}}
}

func TestSelectorOnZoneSeesEveryZoneOfAMember(t *testing.T) {
	member := Member{Name: "eu", Zones: []string{"z1", "z2"}}
	for name, c := range map[string]struct {
		selector Selector
		want     bool
	}{
		"In one of them":          {expression(ZoneLabel, "In", "z2"), true},
		"In none of them":         {expression(ZoneLabel, "In", "z3"), false},
		"match_labels":            {Selector{MatchLabels: map[string]string{ZoneLabel: "z2"}}, true},
		"NotIn one of them":       {expression(ZoneLabel, "NotIn", "z2"), false},
		"NotIn others":            {expression(ZoneLabel, "NotIn", "z3"), true},
		"Exists":                  {expression(ZoneLabel, "Exists"), true},
		"DoesNotExist":            {expression(ZoneLabel, "DoesNotExist"), false},
		"two zones, both its own": {Selector{map[string]string{ZoneLabel: "z1"}, []Requirement{{ZoneLabel, "In", []string{"z2"}}}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Selection{Selector: &c.selector}.Matches(member)
			noError(t, err)
			same(t, got, c.want)
		})
	}
}

func TestSelectorLabelsOfTheMemberItselfWin(t *testing.T) {
	member := Member{Name: "eu", Labels: map[string]string{NameLabel: "us", RegionLabel: "r0", ZoneLabel: "z0"}, Region: "r1", Zones: []string{"z1"}}
	same(t, member.SelectorLabels(), map[string]string{NameLabel: "eu", RegionLabel: "r1", ZoneLabel: "z1"})
	same(t, Member{Name: "eu"}.SelectorLabels(), map[string]string{NameLabel: "eu"})
	same(t, Member{Name: "eu", Zones: []string{"z1", "z2"}}.SelectorLabels(), map[string]string{NameLabel: "eu"})
}

func TestSelectorErrorsAreAtTheirAttribute(t *testing.T) {
	for name, c := range map[string]struct {
		selector   Selector
		path, word string
	}{
		"unknown operator":      {expression("a", "Equals", "b"), "operator", `"Equals" is no operator: In, NotIn, Exists and DoesNotExist are`},
		"operator in lowercase": {expression("a", "in", "b"), "operator", `"in"`},
		"no operator":           {expression("a", "", "b"), "operator", "DoesNotExist"},
		"In without values":     {expression("a", "In"), "values", "at least one value"},
		"NotIn without values":  {expression("a", "NotIn"), "values", "at least one value"},
		"Exists with values":    {expression("a", "Exists", "b"), "values", "takes no values"},
		"invalid key":           {expression("a b", "Exists"), "key", `"a b" is no label key`},
		"no key":                {expression("", "Exists"), "key", "label key"},
		"invalid value":         {expression("a", "In", "b", "c d"), "values", `"c d" is no label value`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.selector.Compile()
			refused(t, err, "cluster_selector.match_expressions.0."+c.path, c.word)
		})
	}
	_, err := Selector{MatchLabels: map[string]string{"a": "b c"}}.Compile()
	refused(t, err, "cluster_selector.match_labels.a", `"b c"`)
}

func TestSelectorListsEveryError(t *testing.T) {
	_, err := Selector{MatchLabels: map[string]string{"a b": "c"}, MatchExpressions: []Requirement{{"a", "Exists", nil}, {"", "x", nil}}}.Compile()
	var paths []string
	for _, finding := range Findings(err) {
		paths = append(paths, strings.Join(finding.Path, "."))
	}
	same(t, paths, []string{"cluster_selector.match_labels.a b", "cluster_selector.match_expressions.1.key", "cluster_selector.match_expressions.1.operator"})
}

func TestSelectionIsByNameOrByLabelNeverBoth(t *testing.T) {
	refused(t, Selection{}.Validate(), "", "Missing selection")
	refused(t, Selection{Clusters: []string{}, Selector: &Selector{}}.Validate(), "cluster_selector", "exclude each other")
	noError(t, Selection{Clusters: []string{}}.Validate())
	noError(t, Selection{Selector: &Selector{}}.Validate())
}

// A compiled selector is Kubernetes' own; the matching of zones must not bend it for members with one zone.
func TestSelectionAgreesWithTheCompiledSelector(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "b", "c"})
	rapid.Check(t, func(t *rapid.T) {
		member := Member{Name: word.Draw(t, "name"), Labels: rapid.MapOf(word, word).Draw(t, "labels"), Region: word.Draw(t, "region")}
		if rapid.Bool().Draw(t, "zoned") {
			member.Zones = []string{word.Draw(t, "zone")}
		}
		key := rapid.SampledFrom([]string{"a", "b", NameLabel, RegionLabel, ZoneLabel}).Draw(t, "key")
		selector := expression(key, "Exists")
		if rapid.Bool().Draw(t, "in") {
			selector = expression(key, rapid.SampledFrom([]string{"In", "NotIn"}).Draw(t, "operator"), word.Draw(t, "value"))
		}
		compiled, err := selector.Compile()
		noError(t, err)
		got, err := Selection{Selector: &selector}.Matches(member)
		noError(t, err)
		same(t, got, compiled.Matches(labels.Set(member.SelectorLabels())))
	})
}
