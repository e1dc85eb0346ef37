package federation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Rollout is the order in which members are brought up to date. The zero value is all of them at once, and no failure.
type Rollout struct {
	Groups         []Group
	MaxConcurrency Amount        // how many members of a group at once
	MaxFailures    int64         // how many members may fail before no further one is begun
	MinReady       time.Duration // how long a member has to stay ready before it is done
}

// Group is a part of the members that a rollout finishes before it begins the next.
type Group struct {
	Selection
	Name string // for messages; may be empty
}

// Amount is a number of members, or a part of them in percent. The zero value is all.
type Amount struct {
	Number  int
	Percent bool
}

// ParseAmount reads a whole number from 1 on ("2"), or a percentage from 1% to 100% ("25%").
func ParseAmount(text string) (Amount, error) {
	digits, percent := strings.CutSuffix(text, "%")
	number, err := strconv.Atoi(digits)
	if err != nil || digits != strconv.Itoa(number) || number < 1 || (percent && number > 100) {
		return Amount{}, fmt.Errorf("%q is no number of members. Write a whole number from 1 on, or a percentage from 1%% to 100%%", text)
	}
	return Amount{number, percent}, nil
}

// Of is how many of n members an amount is: a percentage rounds up, so it is one at least unless there is none.
func (a Amount) Of(n int) int {
	switch {
	case a.Number == 0:
		return n
	case a.Percent:
		return (n*a.Number + 99) / 100
	}
	return min(a.Number, n)
}

// Stage is what a rollout does before anything of the next stage is begun.
type Stage struct {
	Group   string   // "" for the members that are in no group
	Members []string // sorted
	AtOnce  int      // how many of them are under way at once
}

// Validate checks the selection of every group. Errors are InputErrors with paths below the rollout.
func (r Rollout) Validate() error {
	_, err := r.compile()
	return err
}

func (r Rollout) compile() ([]matcher, error) {
	var errs []error
	matchers := make([]matcher, len(r.Groups))
	for i, group := range r.Groups {
		var err error
		if matchers[i], err = group.compile(); err != nil {
			for _, fault := range Findings(err) {
				fault.Detail = "In " + r.Label(i) + ": " + fault.Detail
			}
			errs = append(errs, Below(err, "groups", strconv.Itoa(i)))
		}
	}
	if len(errs) > 0 {
		return nil, joined(errs)
	}
	return matchers, nil
}

// Stages puts members into the order of the rollout: those of each group, then those that are in none. Groups without any of them are left
// out. A member that is in two groups is an InputError at the second one, with a path below the rollout.
func (r Rollout) Stages(members []Member) ([]Stage, error) {
	matchers, err := r.compile()
	if err != nil {
		return nil, err
	}
	inGroup := make([][]string, len(r.Groups)+1)
	twice := map[[2]int][]string{} // the first two groups of a member → members
	for _, member := range members {
		var groups []int
		for i, m := range matchers {
			if m.matches(member) {
				groups = append(groups, i)
			}
		}
		switch len(groups) {
		case 0:
			inGroup[len(r.Groups)] = append(inGroup[len(r.Groups)], member.Name)
		case 1:
			inGroup[groups[0]] = append(inGroup[groups[0]], member.Name)
		default:
			both := [2]int(groups[:2])
			twice[both] = append(twice[both], member.Name)
		}
	}
	if len(twice) > 0 {
		return nil, r.inTwo(twice)
	}
	return r.stages(inGroup), nil
}

// stages makes stages of the members of each group and, last, of those in none.
func (r Rollout) stages(inGroup [][]string) []Stage {
	var stages []Stage
	for i, names := range inGroup {
		slices.Sort(names)
		if names = slices.Compact(names); len(names) == 0 {
			continue
		}
		stage := Stage{Members: names, AtOnce: r.MaxConcurrency.Of(len(names))}
		if i < len(r.Groups) {
			stage.Group = r.Label(i)
		}
		stages = append(stages, stage)
	}
	return stages
}

// Label names group number i, from 0 on, in messages.
func (r Rollout) Label(i int) string {
	if name := r.Groups[i].Name; name != "" {
		return fmt.Sprintf("group %q", name)
	}
	return fmt.Sprintf("group %d", i+1)
}

func (r Rollout) inTwo(twice map[[2]int][]string) error {
	var faults []*InputError
	for first := range r.Groups {
		for second := range r.Groups {
			names := twice[[2]int{first, second}]
			if len(names) == 0 {
				continue
			}
			slices.Sort(names)
			faults = append(faults, &InputError{Path: []string{"groups", strconv.Itoa(second)}, Summary: "Member in two groups",
				Detail: fmt.Sprintf("%s: in %s, and in %s before it. A member is in one group at most, and one in none comes last.",
					quotedList(slices.Compact(names)), r.Label(second), r.Label(first))})
		}
	}
	return joinFindings(faults)
}
