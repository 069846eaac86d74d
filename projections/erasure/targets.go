package erasure

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// Doomed lists what an order erases now, and what was made from that. Of an entity it erases what the entity owns and
// what only the entity may see; of a tenant everything; of a session its messages and archives; otherwise one item.
// Erased items are left out, but their relations are followed: an order that was interrupted stays the same order.
func (e *Eraser) Doomed(
	ctx context.Context, tenant, of string, lineage domain.LineageMode,
) ([]domain.ErasureTarget, error) {
	named, err := e.named(ctx, tenant, of)
	if err != nil {
		return nil, err
	}
	var kin []domain.ErasureTarget
	if _, isTenant := domain.TenantOf(of); lineage != domain.LineageIgnored && !isTenant { // a tenant has all
		if kin, err = e.relatedTargets(ctx, tenant, named, lineage == domain.LineageErased); err != nil {
			return nil, err
		}
	}
	doomed := notErased(named.items)
	for i := range doomed {
		doomed[i].WillErase = true
	}
	for _, s := range named.written {
		d := domain.ErasureTarget{Stream: s.Name, State: s.State, WillErase: true}
		if b, is := s.State.(domain.OwnedState); is {
			d.Owner = b.StateOwner()
		}
		doomed = append(doomed, d)
	}
	return append(doomed, kin...), nil
}

// named is what an order names.
type named struct {
	items   []domain.ErasureTarget // including erased ones
	others  []domain.Stream        // streams that had a text, even if it is gone
	written []domain.Stream        // those of them that have a text
}

func (e *Eraser) named(ctx context.Context, tenant, of string) (n named, err error) {
	where, args := "k.id = ?", []any{of}
	if _, isTenant := domain.TenantOf(of); isTenant {
		where, args = "TRUE", nil
		n.written, err = e.log.Erasures.StreamsWithText(ctx, tenant)
	} else if _, _, isSession := domain.SessionOf(of); isSession {
		return e.namedSession(ctx, tenant, of)
	} else if strings.Contains(of, ":") {
		alone, marshalErr := json.Marshal([]string{of})
		if marshalErr != nil {
			return n, marshalErr
		}
		where, args = "(k.owner = ? OR CAST(k.scopes AS text) = ?)", []any{of, string(alone)}
		n.others, n.written, err = e.log.Erasures.StreamsOf(ctx, tenant, domain.Entity(of))
	}
	if err != nil {
		return n, err
	}
	n.items, err = e.targetItems(ctx, tenant, where, args...)
	return n, err
}

// namedSession is a session with its archives. Archives may exist after the session's messages are gone.
func (e *Eraser) namedSession(ctx context.Context, tenant, of string) (n named, err error) {
	stream, err := e.log.Reader.State(ctx, tenant, of)
	if err != nil || !stream.Exists() {
		return n, err
	}
	n.others = []domain.Stream{stream}
	if n.written, err = e.log.Erasures.WithTexts(ctx, tenant, n.others); err != nil {
		return n, err
	}
	n.items, err = e.archives(ctx, tenant, stream)
	return n, err
}

// targetItems are items with what decides whether they may be erased.
func (e *Eraser) targetItems(
	ctx context.Context, tenant, where string, args ...any,
) (doomed []domain.ErasureTarget, err error) {
	table, err := e.table(ctx)
	if err != nil {
		return nil, err
	}
	err = database.ForEach(ctx, e.DB, func(rows *sql.Rows) error {
		var d domain.ErasureTarget
		var scopes string
		var context domain.ContextType
		var category domain.Category
		var kind domain.Type
		err := rows.Scan(&d.ID, &d.Owner, &d.Status, &d.Held, &scopes, &d.Title, &d.URI, &context, &category, &kind)
		d.Unnamed = domain.URIOf(d.ID, "", context, category, kind)
		_ = json.Unmarshal([]byte(scopes), &d.Scopes) // what cannot be read passes to nobody
		d.Stream = domain.KnowledgeStream(d.ID)
		doomed = append(doomed, d)
		return err
	}, `
		SELECT k.id, k.owner, k.status, k.held, coalesce(CAST(k.scopes AS text), ''),
			substr(coalesce(nullif(k.task, ''), nullif(k.abstract, ''), k.content, ''), 1, 80),
			coalesce(k.uri, ''), k.context_type, coalesce(k.category, ''), k.type
		FROM ? AS k
		WHERE k.tenant = ? AND `+where+`
		ORDER BY k.number`, append([]any{table, tenant}, args...)...)
	if err != nil {
		return nil, rows.Failed(ctx, "find what to erase", err)
	}
	return doomed, nil
}

// notErased leaves out what is erased.
func notErased(items []domain.ErasureTarget) []domain.ErasureTarget {
	return slices.DeleteFunc(slices.Clone(items), func(d domain.ErasureTarget) bool { return d.Status == domain.IsErased })
}

// archives are the items of a session's archives. Their ids follow from the session, so this is one look-up by id.
func (e *Eraser) archives(ctx context.Context, tenant string, of domain.Stream) ([]domain.ErasureTarget, error) {
	session, is := of.State.(domain.Session)
	if !is || session.Archives == 0 {
		return nil, nil
	}
	found, err := e.targetItems(ctx, tenant, "k.id IN (?)", bun.List(session.ArchiveItems(of.Name)))
	for i := range found {
		found[i].Relation, found[i].RelatedTo = domain.ArchiveOf, of.Name
	}
	return found, err
}

// relatedTargets follows relations from what is named to what was made from it, and so on. Of sessions it follows
// only archives.
func (e *Eraser) relatedTargets(
	ctx context.Context, tenant string, n named, goes bool,
) (all []domain.ErasureTarget, err error) {
	seen := rows.Set{}
	var next []string
	for _, d := range n.items {
		seen[d.Stream] = true
		next = append(next, d.ID)
	}
	var sessions []string
	for _, s := range slices.Concat(n.others, n.written) {
		if _, _, is := domain.SessionOf(s.Name); is && !seen[s.Name] {
			sessions = append(sessions, s.Name)
		}
		seen[s.Name] = true
	}
	found, err := e.Learned(ctx, tenant, sessions)
	for err == nil {
		var relatives []domain.ErasureTarget
		if relatives, err = e.related(ctx, tenant, found, seen); err != nil {
			break
		}
		for _, r := range relatives {
			if r.ID != "" && r.Relation != domain.ArchiveOf {
				next = append(next, r.ID)
			}
			_, erasable := r.State.(domain.Erasable)
			r.WillErase = goes && (r.ID != "" || erasable)
			all = append(all, r)
		}
		if len(next) == 0 {
			return slices.DeleteFunc(all, func(d domain.ErasureTarget) bool { return d.Status == domain.IsErased }), nil
		}
		some := next[:min(len(next), relatedAtOnce)]
		next = next[len(some):]
		found, err = e.Relatives(ctx, tenant, some)
	}
	return nil, rows.Failed(ctx, "follow the lineage", err)
}

// relatedAtOnce is how many items are followed per query.
const relatedAtOnce = 200

// related makes targets of relations that were not seen yet. A session brings its archives, and is left out if it has
// no text.
func (e *Eraser) related(
	ctx context.Context, tenant string, kin []domain.LineageRelation, seen rows.Set,
) (found []domain.ErasureTarget, err error) {
	why := map[string]domain.LineageRelation{}
	var ids []string
	var others []domain.LineageRelation
	for _, k := range kin {
		switch {
		case seen[k.Stream]:
		case k.ID != "":
			ids = append(ids, k.ID)
		default:
			others = append(others, k)
		}
		if !seen[k.Stream] {
			seen[k.Stream], why[k.ID] = true, k
		}
	}
	for some := range slices.Chunk(ids, relatedAtOnce) {
		items, err := e.targetItems(ctx, tenant, "k.id IN (?)", bun.List(some))
		if err != nil {
			return nil, err
		}
		for _, d := range items {
			d.Relation, d.RelatedTo = why[d.ID].Relation, why[d.ID].Of
			found = append(found, d)
		}
	}
	for _, k := range others {
		some, err := e.relatedSession(ctx, tenant, k)
		if err != nil {
			return nil, err
		}
		for _, d := range some {
			if d.Relation == domain.ArchiveOf && seen[d.Stream] {
				continue
			}
			seen[d.Stream] = true
			found = append(found, d)
		}
	}
	return found, nil
}

// relatedSession is a session, or another stream that is no item, after its archives.
func (e *Eraser) relatedSession(
	ctx context.Context, tenant string, kin domain.LineageRelation,
) ([]domain.ErasureTarget, error) {
	stream, err := e.log.Reader.State(ctx, tenant, kin.Stream)
	if err != nil {
		return nil, err
	}
	all, err := e.archives(ctx, tenant, stream)
	if err != nil {
		return nil, err
	}
	written, err := e.log.Erasures.WithTexts(ctx, tenant, []domain.Stream{stream})
	if err != nil || len(written) == 0 {
		return all, err
	}
	d := domain.ErasureTarget{Stream: kin.Stream, State: stream.State, Relation: kin.Relation, RelatedTo: kin.Of}
	if own, is := stream.State.(domain.Erasable); is {
		d.Owner = own.StateOwner()
	}
	return append(all, d), nil
}
