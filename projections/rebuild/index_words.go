package rebuild

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// indexWords fills SQLite's index of terms in the order of its key, after all items are loaded. Slice by slice, each
// transaction would change pages all over the index. After an interruption it starts again and ignores existing rows.
func (r *Rebuilder) indexWords(ctx context.Context, now *run) error {
	tenants, err := r.Versions.tenants(ctx, now.version)
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		if err := r.indexTenant(ctx, now.version, tenant); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rebuilder) indexTenant(ctx context.Context, v catalogue.Version, tenant string) error {
	values := func(list []words.TermRow) [][]any { return words.TermValues(tenant, list) }
	for after := int64(0); ; {
		mark, err := events.Erasures(ctx, r.Versions.DB, tenant)
		if err != nil {
			return err
		}
		group, err := words.ReadGroup(ctx, r.Versions.DB, v, tenant, after)
		if err != nil || len(group.Items) == 0 {
			return err
		}
		err = words.EachRange(ctx, group, values, func(ctx context.Context, list [][]any) error {
			for some := range slices.Chunk(list, r.BatchRows) {
				if err := r.writeTerms(ctx, v, tenant, mark, some); err != nil {
					return err
				}
			}
			return nil
		})
		switch {
		case err == nil:
			after = group.Items[len(group.Items)-1].Number
		case !errors.Is(err, errErasedSince): // otherwise the group is read again
			return err
		}
	}
}

// writeTerms writes rows of the index of terms if the version is still being built. The error matches
// [errErasedSince] if a text was erased after the mark.
func (r *Rebuilder) writeTerms(
	ctx context.Context, v catalogue.Version, tenant string, mark int64, list [][]any,
) error {
	p := r.Versions
	script := &rows.Script{Engine: p.DB.Engine}
	words.InsertTermValues(script, v.Tables, list)
	return p.DB.TransactAsync(ctx, func(ctx context.Context, tx bun.Tx) error {
		state, err := p.state(ctx, tx, v)
		if err == nil && state != catalogue.StateBuilding {
			err = fmt.Errorf("version %d is %s: %w", v.Version, state, catalogue.ErrMoved)
		}
		if err != nil {
			return err
		}
		now, err := events.ShareTexts(ctx, tx, tenant)
		if err == nil && now != mark {
			err = errErasedSince
		}
		if err != nil {
			return err
		}
		return script.Execute(ctx, tx)
	})
}
