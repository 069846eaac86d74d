package projections

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Doomed are the things that an order erases, as things are now, and what else goes back to them: of an entity
// all that is its own and all that is meant for it alone, of a tenant everything, otherwise one item. What is
// erased already is left out.
func (e *Eraser) Doomed(ctx context.Context, tenant, of string, lineage domain.Following) ([]domain.Doomed, error) {
	if err := e.refresh(ctx); err != nil {
		return nil, err
	}
	where, args := "k.id = ?", []any{of}
	var others []domain.Stream
	var err error
	if _, isTenant := domain.TenantOf(of); isTenant {
		where, args = "TRUE", nil
		others, err = e.log.Spoken(ctx, tenant)
	} else if _, _, isSession := domain.SessionOf(of); isSession {
		where = "k.id = ?"
		var stream domain.Stream
		if stream, err = e.log.State(ctx, tenant, of); stream.Exists() {
			others, err = e.log.WithTexts(ctx, tenant, []domain.Stream{stream})
		}
	} else if strings.Contains(of, ":") {
		alone, marshalErr := json.Marshal([]string{of})
		if marshalErr != nil {
			return nil, marshalErr
		}
		where, args = "(k.owner = ? OR CAST(k.scopes AS text) = ?)", []any{of, string(alone)}
		others, err = e.log.Belonging(ctx, tenant, domain.Entity(of))
	}
	if err != nil {
		return nil, err
	}
	doomed, err := e.doomedItems(ctx, tenant, where, args...)
	if err != nil {
		return nil, err
	}
	for i := range doomed {
		doomed[i].Goes = true
	}
	var kin []domain.Doomed
	if lineage != domain.LineageIgnored {
		if kin, err = e.kin(ctx, tenant, of, doomed, others, lineage == domain.LineageErased); err != nil {
			return nil, err
		}
	}
	for _, s := range others {
		d := domain.Doomed{Stream: s.Name, State: s.State, Goes: true}
		if b, is := s.State.(domain.Belonging); is {
			d.Owner = b.BelongsTo()
		}
		doomed = append(doomed, d)
	}
	return append(doomed, kin...), nil
}

func (e *Eraser) doomedItems(ctx context.Context, tenant, where string, args ...any) (doomed []domain.Doomed, err error) {
	err = database.ForEach(ctx, e.db, func(rows *sql.Rows) error {
		var d domain.Doomed
		err := rows.Scan(&d.ID, &d.Owner, &d.Status, &d.Held)
		d.Stream = domain.KnowledgeStream(d.ID)
		doomed = append(doomed, d)
		return err
	}, `
		SELECT k.id, k.owner, k.status, k.held
		FROM ? AS k
		WHERE k.tenant = ? AND k.status <> 'erased' AND `+where+`
		ORDER BY k.number`, append([]any{e.tables().knowledge, tenant}, args...)...)
	if err != nil {
		return nil, e.failed(ctx, "find what to erase", err)
	}
	return doomed, nil
}

// kin is what items go back to, and what goes back to them, and is no item of theirs. Of a tenant all is.
func (e *Eraser) kin(ctx context.Context, tenant, of string, items []domain.Doomed, others []domain.Stream, goes bool) ([]domain.Doomed, error) {
	if _, isTenant := domain.TenantOf(of); isTenant {
		return nil, nil
	}
	seen := set{}
	for _, d := range items {
		seen[d.Stream] = true
	}
	for _, s := range others {
		seen[s.Name] = true
	}
	var all []domain.Doomed
	for _, d := range items {
		relatives, err := e.Lineage(ctx, tenant, d.ID)
		if err != nil {
			return nil, err
		}
		for _, r := range relatives {
			if seen[r.Stream] {
				continue
			}
			seen[r.Stream] = true
			found := []domain.Doomed{{Stream: r.Stream}}
			if r.ID != "" {
				if found, err = e.doomedItems(ctx, tenant, "k.id = ?", r.ID); err != nil {
					return nil, err
				}
			}
			for _, relative := range found {
				relative.Relation, relative.RelatedTo = r.Relation, r.Of
				if relative.Goes = goes && r.ID != ""; r.ID == "" {
					stream, err := e.log.State(ctx, tenant, r.Stream)
					if err != nil {
						return nil, err
					}
					own, erasable := stream.State.(domain.Erasable)
					if relative.State, relative.Goes = stream.State, goes && erasable; erasable {
						relative.Owner = own.BelongsTo()
					}
				}
				all = append(all, relative)
			}
		}
	}
	return all, nil
}
