package registry

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"
)

// Report is what a member is like at this moment.
type Report struct {
	Entry       // region and zones are those of the nodes where the user gave none
	Ready       bool
	Reason      string // why it is not ready
	Version     string // of Kubernetes
	Allocatable *Capacity
	Free        *Capacity // nil, both: not known
}

// surveyAtOnce bounds how many members are asked at a time.
const surveyAtOnce = 16

// Survey asks every member how it is, all at once within a bound, and reports by name. A member that does not answer is a report too. The errors
// are those of Members.
func (r *Registry) Survey(ctx context.Context) ([]Report, error) {
	entries, err := r.Members(ctx)
	if err != nil {
		return nil, err
	}
	reports := make([]Report, len(entries))
	var group errgroup.Group
	group.SetLimit(surveyAtOnce)
	for i, e := range entries {
		group.Go(func() error {
			reports[i] = r.report(ctx, e)
			return nil
		})
	}
	return reports, group.Wait()
}

func (r *Registry) report(ctx context.Context, e Entry) Report {
	report := Report{Entry: e}
	err := r.look(ctx, &report)
	var later *NotJoinedError
	switch {
	case errors.As(err, &later):
		report.Reason = "not joined yet"
	case err != nil:
		report.Reason = err.Error()
	default:
		report.Ready = true
	}
	return report
}

func (r *Registry) look(ctx context.Context, report *Report) error {
	c, err := r.open(ctx, report.Name)
	if err != nil {
		return err
	}
	if _, err := c.plain.Kinds(ctx); err != nil {
		return err
	}
	if report.Version, err = c.plain.Version(ctx); err != nil {
		return err
	}
	if report.Region == "" && report.Zones == nil {
		where, err := r.NodeTopology(ctx, report.Name)
		if err != nil {
			return err
		}
		report.Region, report.Zones = where.Region, where.Zones
	}
	report.Allocatable, report.Free, err = capacity(ctx, c.plain)
	return err
}
