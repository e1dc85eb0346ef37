package provider

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/kubefed/terraform-provider-kubefed/internal/fleet"
)

// The keys in private state.
const (
	recordKey = "record"
	factsKey  = "facts"
)

// private is what private state holds of a federated resource; both are nil before it is created.
type private struct {
	record *fleet.Record
	facts  *fleet.Facts
}

func (p private) ready(member string) bool {
	return p.facts != nil && slices.Contains(p.facts.Ready, member)
}

type privateReader interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

type privateWriter interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

func readPrivate(ctx context.Context, from privateReader) (p private, diags diag.Diagnostics) {
	record, found := from.GetKey(ctx, recordKey)
	diags.Append(found...)
	facts, found := from.GetKey(ctx, factsKey)
	diags.Append(found...)
	if diags.HasError() {
		return p, diags
	}
	var err error
	if p.record, err = fleet.ParseRecord(record); err == nil {
		p.facts, err = fleet.ParseFacts(facts)
	}
	if err != nil {
		diags.AddError("Unable to read the private state", err.Error())
	}
	return p, diags
}

func (p private) write(ctx context.Context, to privateWriter) (diags diag.Diagnostics) {
	record, err := p.record.Bytes()
	if err == nil {
		diags.Append(to.SetKey(ctx, recordKey, record)...)
	}
	if err == nil && p.facts != nil {
		var facts []byte
		if facts, err = p.facts.Bytes(); err == nil {
			diags.Append(to.SetKey(ctx, factsKey, facts)...)
		}
	}
	if err != nil {
		diags.AddError("Unable to write the private state", err.Error())
	}
	return diags
}
