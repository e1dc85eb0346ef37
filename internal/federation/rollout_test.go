package federation

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestAmountIsANumberOrAPercentage(t *testing.T) {
	for text, want := range map[string]map[int]int{ // of so many members → so many
		"1":    {0: 0, 1: 1, 7: 1},
		"3":    {0: 0, 1: 1, 3: 3, 7: 3},
		"1%":   {0: 0, 1: 1, 100: 1, 101: 2},
		"25%":  {1: 1, 4: 1, 5: 2, 8: 2},
		"100%": {0: 0, 1: 1, 7: 7},
	} {
		amount, err := ParseAmount(text)
		noError(t, err)
		for n, of := range want {
			if got := amount.Of(n); got != of {
				t.Errorf("%s of %d is %d, want %d", text, n, got, of)
			}
		}
	}
	same(t, Amount{}.Of(7), 7)
	for _, text := range []string{"", "0", "0%", "-1", "-1%", "101%", "1.5", "1.5%", "+2", "02", " 2", "2 %", "%", "half", "99999999999999999999"} {
		if amount, err := ParseAmount(text); err == nil {
			t.Errorf("%q is read as %v", text, amount)
		}
	}
}

func group(name string, clusters ...string) Group {
	return Group{Selection{Clusters: append([]string{}, clusters...)}, name}
}

func TestRolloutStages(t *testing.T) {
	tier := Group{Selection{Selector: &Selector{MatchLabels: map[string]string{"tier": "x"}}}, "x"}
	for name, c := range map[string]struct {
		rollout Rollout
		want    []Stage
	}{
		"nothing: all at once":                {Rollout{}, []Stage{{"", []string{"a", "b", "c"}, 3}}},
		"a number at once":                    {Rollout{MaxConcurrency: Amount{Number: 2}}, []Stage{{"", []string{"a", "b", "c"}, 2}}},
		"a percentage is of each group":       {Rollout{[]Group{group("1", "c", "a")}, Amount{50, true}, 0, 0}, []Stage{{`group "1"`, []string{"a", "c"}, 1}, {"", []string{"b"}, 1}}},
		"groups in order, the others last":    {Rollout{Groups: []Group{group("late", "b"), tier}}, []Stage{{`group "late"`, []string{"b"}, 1}, {`group "x"`, []string{"a"}, 1}, {"", []string{"c"}, 1}}},
		"a group by label":                    {Rollout{Groups: []Group{tier}}, []Stage{{`group "x"`, []string{"a"}, 1}, {"", []string{"b", "c"}, 2}}},
		"a group of others only is left out":  {Rollout{Groups: []Group{group("", "z"), group("", "a")}}, []Stage{{"group 2", []string{"a"}, 1}, {"", []string{"b", "c"}, 2}}},
		"everything in groups: nothing after": {Rollout{Groups: []Group{group("", "c"), group("", "b", "a")}}, []Stage{{"group 1", []string{"c"}, 1}, {"group 2", []string{"a", "b"}, 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			stages, err := c.rollout.Stages(threeMembers)
			noError(t, err)
			same(t, stages, c.want)
		})
	}
	stages, err := Rollout{Groups: []Group{tier}}.Stages(nil)
	noError(t, err)
	same(t, stages, []Stage(nil))
}

func TestRolloutRefusesAMemberInTwoGroupsAtTheSecond(t *testing.T) {
	everyone := Group{Selection{Selector: &Selector{}}, "everyone"}
	_, err := Rollout{Groups: []Group{group("canary", "c", "a"), group("other", "z"), everyone}}.Stages(threeMembers)
	refused(t, err, "groups.2", `"a" and "c": in group "everyone", and in group "canary" before it`)
}

func TestRolloutRefusesAGroupThatChoosesNothing(t *testing.T) {
	refused(t, Rollout{Groups: []Group{group("a"), {Name: "b"}}}.Validate(), "groups.1", `In group "b"`, "cluster_selector")
	both := Selection{Clusters: []string{"a"}, Selector: &Selector{}}
	refused(t, Rollout{Groups: []Group{{Selection: both}}}.Validate(), "groups.0.cluster_selector", "In group 1", "exclude each other")
	noError(t, Rollout{Groups: []Group{group("a"), group("b", "a")}}.Validate())
}

// Laws: every member is in exactly one stage, no stage is empty, and the order in which members come does not matter.
func TestRolloutPutsEveryMemberIntoOneStage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := make([]Member, rapid.IntRange(0, 12).Draw(t, "members"))
		names := make([]string, len(members))
		groups := make([]Group, rapid.IntRange(0, 4).Draw(t, "groups"))
		for i := range groups {
			groups[i] = Group{Selection: Selection{Selector: &Selector{MatchLabels: map[string]string{"g": fmt.Sprint(i)}}}}
		}
		for i := range members {
			names[i] = fmt.Sprintf("m%02d", i)
			members[i] = Member{Name: names[i], Labels: map[string]string{"g": fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "group"))}}
		}
		rollout := Rollout{Groups: groups, MaxConcurrency: Amount{rapid.IntRange(0, 100).Draw(t, "amount"), rapid.Bool().Draw(t, "percent")}}
		stages, err := rollout.Stages(members)
		noError(t, err)
		again, err := rollout.Stages(rapid.Permutation(members).Draw(t, "order"))
		noError(t, err)
		same(t, again, stages)
		var all []string
		for _, stage := range stages {
			if len(stage.Members) == 0 || stage.AtOnce < 1 || stage.AtOnce > len(stage.Members) {
				t.Errorf("a stage is %+v", stage)
			}
			all = append(all, stage.Members...)
		}
		slices.Sort(all)
		if !slices.Equal(all, names) {
			t.Errorf("the stages have %v of %v", all, names)
		}
	})
}
