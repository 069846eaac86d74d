package projections

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Doomed are the things that an order erases, as things are now, and what else goes back to them: of an entity
// all that is its own and all that is meant for it alone, of a tenant everything, of a session what was said in it
// and its archives, otherwise one item. What is erased already is left out.
func (e *Eraser) Doomed(ctx context.Context, tenant, of string, lineage domain.Following) ([]domain.Doomed, error) {
	if err := e.refresh(ctx); err != nil {
		return nil, err
	}
	where, args := "k.id = ?", []any{of}
	var others, sessions []domain.Stream
	var err error
	if _, isTenant := domain.TenantOf(of); isTenant {
		where, args = "TRUE", nil
		others, err = e.log.Spoken(ctx, tenant)
	} else if _, _, isSession := domain.SessionOf(of); isSession {
		var stream domain.Stream
		if stream, err = e.log.State(ctx, tenant, of); stream.Exists() {
			others, err = e.log.WithTexts(ctx, tenant, []domain.Stream{stream})
			sessions = []domain.Stream{stream} // its archives may be there when nothing that was said in it is
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
	for _, s := range sessions {
		archives, err := e.archives(ctx, tenant, s)
		if err != nil {
			return nil, err
		}
		doomed = append(doomed, archives...)
	}
	for i := range doomed {
		doomed[i].Goes = true
	}
	var kin []domain.Doomed
	if lineage != domain.LineageIgnored {
		if kin, err = e.kin(ctx, tenant, of, doomed, append(others, sessions...), lineage == domain.LineageErased); err != nil {
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

// archives are the items that say what a session's archives say. They are known by their ids, so that it costs
// one look-up, whatever else the tenant has.
func (e *Eraser) archives(ctx context.Context, tenant string, of domain.Stream) ([]domain.Doomed, error) {
	session, is := of.State.(domain.Session)
	if !is || session.Archives == 0 {
		return nil, nil
	}
	found, err := e.doomedItems(ctx, tenant, "k.id IN (?)", bun.List(session.ArchiveItems(of.Name)))
	for i := range found {
		found[i].Relation, found[i].RelatedTo = domain.ArchiveOf, of.Name
	}
	return found, err
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
	relatives, err := e.learned(ctx, tenant, others)
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(items)+len(relatives))
	for _, d := range items {
		ids = append(ids, d.ID)
	}
	for _, r := range relatives {
		ids = append(ids, r.ID)
	}
	var all []domain.Doomed
	for i := -1; i < len(ids); i++ {
		if i >= 0 {
			if relatives, err = e.Lineage(ctx, tenant, ids[i]); err != nil {
				return nil, err
			}
		}
		for _, r := range relatives {
			if seen[r.Stream] {
				continue
			}
			seen[r.Stream] = true
			found, err := e.relative(ctx, tenant, r)
			if err != nil {
				return nil, err
			}
			for _, relative := range found {
				if relative.Relation == domain.ArchiveOf && seen[relative.Stream] {
					continue
				}
				seen[relative.Stream] = true
				_, erasable := relative.State.(domain.Erasable)
				relative.Goes = goes && (relative.ID != "" || erasable)
				all = append(all, relative)
			}
		}
	}
	return all, nil
}

// learned are the items that were made from what was said in sessions.
func (e *Eraser) learned(ctx context.Context, tenant string, others []domain.Stream) ([]domain.Kin, error) {
	var sessions []string
	for _, s := range others {
		if _, _, is := domain.SessionOf(s.Name); is {
			sessions = append(sessions, s.Name)
		}
	}
	return e.Learned(ctx, tenant, sessions)
}

// relative is what somebody's kin is; with a session come its archives.
func (e *Eraser) relative(ctx context.Context, tenant string, kin domain.Kin) ([]domain.Doomed, error) {
	if kin.ID != "" {
		found, err := e.doomedItems(ctx, tenant, "k.id = ?", kin.ID)
		for i := range found {
			found[i].Relation, found[i].RelatedTo = kin.Relation, kin.Of
		}
		return found, err
	}
	stream, err := e.log.State(ctx, tenant, kin.Stream)
	if err != nil {
		return nil, err
	}
	found := domain.Doomed{Stream: kin.Stream, State: stream.State, Relation: kin.Relation, RelatedTo: kin.Of}
	if own, is := stream.State.(domain.Erasable); is {
		found.Owner = own.BelongsTo()
	}
	archives, err := e.archives(ctx, tenant, stream)
	return append(archives, found), err
}
