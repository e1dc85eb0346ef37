package federation

import "testing"

// threeMembers are a (tier x), b (tier y) and c (no labels), in no order.
var threeMembers = []Member{{Name: "c"}, {Name: "a", Labels: map[string]string{"tier": "x"}}, {Name: "b", Labels: map[string]string{"tier": "y"}}}

func TestPlacementTable(t *testing.T) {
	everything, tierX := &Selector{}, &Selector{MatchLabels: map[string]string{"tier": "x"}}
	for name, c := range map[string]struct {
		selection Selection
		want      []string
	}{
		"no list and an empty selector: all members": {Selection{nil, everything}, []string{"a", "b", "c"}},
		"no list and a selector: those that match":   {Selection{nil, tierX}, []string{"a"}},
		"an empty list: none":                        {Selection{[]string{}, nil}, []string{}},
		"a list: these":                              {Selection{[]string{"c", "a"}, nil}, []string{"a", "c"}},
		"a list with a name twice":                   {Selection{[]string{"c", "c"}, nil}, []string{"c"}},
	} {
		t.Run(name, func(t *testing.T) {
			choice, err := Placement{Selection: c.selection}.Choose(threeMembers, nil)
			noError(t, err)
			same(t, choice, Choice{Clusters: c.want, Excluded: map[string]string{}})
		})
	}
}

func TestPlacementRefusesListAndSelector(t *testing.T) {
	for _, clusters := range [][]string{{}, {"a"}} {
		_, err := Placement{Selection: Selection{clusters, &Selector{}}}.Choose(threeMembers, nil)
		refused(t, err, "cluster_selector", "clusters and cluster_selector exclude each other")
	}
}

func TestPlacementRefusesNoSelection(t *testing.T) {
	_, err := Placement{}.Choose(threeMembers, nil)
	refused(t, err, "", "clusters", "cluster_selector")
}

func TestPlacementRefusesExcludeWithAList(t *testing.T) {
	_, err := Placement{Selection{[]string{"a"}, nil}, []string{"b"}}.Choose(threeMembers, nil)
	refused(t, err, "exclude", "cluster_selector")
}

func TestPlacementSaysWhichNamesAreNoMembers(t *testing.T) {
	choice, err := Placement{Selection: Selection{[]string{"a", "zz", "bb", "bb"}, nil}}.Choose(threeMembers, nil)
	noError(t, err)
	same(t, choice, Choice{Clusters: []string{"a"}, Excluded: map[string]string{}, Unknown: []string{"bb", "zz"}})
	refused(t, UnknownClusters(choice.Unknown, []string{"a", "b", "c"}), "clusters", `"bb" and "zz"`, `"a", "b" and "c"`)
	refused(t, UnknownClusters([]string{"x"}, nil), "clusters", "No member is registered")
}

func TestPlacementSaysWhichExcludedNamesAreNoMembers(t *testing.T) {
	choice, err := Placement{Selection{nil, &Selector{}}, []string{"a", "aa"}}.Choose(threeMembers, nil)
	noError(t, err)
	same(t, choice, Choice{Clusters: []string{"b", "c"}, Excluded: map[string]string{"a": "named in exclude"}, UnknownExcluded: []string{"aa"}})
}

func TestPlacementBySelectorRespectsAvailability(t *testing.T) {
	members := []Member{{Name: "active", Availability: Active}, {Name: "cordoned", Availability: Cordoned},
		{Name: "draining", Availability: Draining}, {Name: "offline", Availability: Offline}}
	everywhere := map[string]bool{"active": true, "cordoned": true, "draining": true, "offline": true}
	choice, err := Placement{Selection: Selection{nil, &Selector{}}}.Choose(members, everywhere)
	noError(t, err)
	same(t, choice.Clusters, []string{"active", "cordoned", "offline"})
	same(t, sortedKeys(choice.Excluded), []string{"draining"})

	choice, err = Placement{Selection: Selection{nil, &Selector{}}}.Choose(members, nil)
	noError(t, err)
	same(t, choice.Clusters, []string{"active"})
	same(t, sortedKeys(choice.Excluded), []string{"cordoned", "draining", "offline"})
}

func TestPlacementByNameIgnoresAvailability(t *testing.T) {
	members := []Member{{Name: "a", Availability: Cordoned}, {Name: "b", Availability: Draining}, {Name: "c", Availability: Offline}}
	choice, err := Placement{Selection: Selection{[]string{"a", "b", "c"}, nil}}.Choose(members, nil)
	noError(t, err)
	same(t, choice.Clusters, []string{"a", "b", "c"})
}

func TestPlacementDoesNotDependOnTheOrderOfMembers(t *testing.T) {
	reversed := []Member{threeMembers[2], threeMembers[1], threeMembers[0]}
	one, err := Placement{Selection: Selection{nil, &Selector{}}}.Choose(threeMembers, nil)
	noError(t, err)
	other, err := Placement{Selection: Selection{nil, &Selector{}}}.Choose(reversed, nil)
	noError(t, err)
	same(t, one, other)
}
