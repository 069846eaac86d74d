package contain

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// Containments answers questions about containments, and makes the commands for them. It is safe for concurrent use.
type Containments struct {
	View    func(context.Context) (catalogue.View, error)
	Log     *events.Log
	Answers Answers // nil without receipts
}

// Answers are what callers were told.
type Answers interface {
	// AnswersWith counts the answers that had any of some items, by their numbers, and names whom they were given to.
	AnswersWith(ctx context.Context, tenant string, numbers []int64) (answers int64, to []domain.Entity, err error)
}

// Preview finds what a containment would do, and changes nothing. The error matches [domain.ErrNotFound] if the caller
// may not see an item that it names.
func (c *Containments) Preview(
	ctx context.Context, by domain.Principal, t domain.Tainting,
) (domain.ContainmentEffect, error) {
	v, err := c.View(ctx)
	if err != nil {
		return domain.ContainmentEffect{}, err
	}
	s := &spread{view: v, tenant: by.Tenant, from: t}
	if !t.Since.IsZero() {
		if s.since, _, err = events.Since(ctx, v.DB, by.Tenant, t.Since); err != nil {
			return domain.ContainmentEffect{}, err
		}
	}
	if err := s.read(ctx); err != nil {
		return domain.ContainmentEffect{}, err
	}
	for _, id := range t.Items {
		if s.items[id] == "" {
			return domain.ContainmentEffect{}, domain.NotFound(id)
		}
	}
	e := domain.ContainmentEffect{Answers: -1}
	if err := c.divide(ctx, by, t, s, &e); err != nil {
		return domain.ContainmentEffect{}, err
	}
	if t.Actor != "" {
		err = c.votes(ctx, by, t, s, &e)
	}
	if err == nil {
		err = c.revived(ctx, by, s, &e)
	}
	if err == nil && c.Answers != nil {
		numbers := make([]int64, len(e.Items))
		for i, one := range e.Items {
			numbers[i] = one.Number
		}
		e.Answers, e.Told, err = c.Answers.AnswersWith(ctx, by.Tenant, numbers)
	}
	digest(&e)
	return e, err
}

// atOnce limits the values of one statement.
const atOnce = 500

// standing is what rights over items depend on.
const standing = "k.id, k.number, k.owner, k.scopes, k.status, k.baseline, k.version"

// divide separates the items that the caller may contain from the others.
func (c *Containments) divide(
	ctx context.Context, by domain.Principal, t domain.Tainting, s *spread, e *domain.ContainmentEffect,
) error {
	var hidden string
	counts := map[domain.Scope]int{}
	err := s.eachStanding(ctx, slices.Sorted(maps.Keys(s.items)), func(k *domain.Knowledge) {
		sees := by.MaySee(k)
		switch {
		case !sees && slices.Contains(t.Items, k.ID):
			hidden = k.ID
		case !sees || !by.MayContain(k):
			e.Others++
		case k.Status == domain.IsQuarantined:
			e.Already++
		case k.Status != domain.IsErased:
			e.Items = append(e.Items, domain.Affected{ID: k.ID, Number: k.Number, Why: s.items[k.ID]})
			for _, scope := range k.Scopes {
				counts[scope]++
			}
		}
	})
	if err == nil && hidden != "" {
		err = domain.NotFound(hidden)
	}
	slices.SortFunc(e.Items, func(a, b domain.Affected) int { return cmp.Compare(a.Number, b.Number) })
	for scope, items := range counts {
		e.Scopes = append(e.Scopes, domain.ContainedScope{Scope: scope, Items: items})
	}
	slices.SortFunc(e.Scopes, func(a, b domain.ContainedScope) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Scope, b.Scope))
	})
	return err
}

// eachStanding reads items as far as rights depend on them.
func (s *spread) eachStanding(ctx context.Context, ids []string, each func(k *domain.Knowledge)) error {
	for chunk := range slices.Chunk(ids, atOnce) {
		query := s.view.DB.NewSelect().TableExpr("? AS k", s.view.Tables.Knowledge).ColumnExpr(standing).
			Where("k.tenant = ?", s.tenant).Where("k.id IN (?)", bun.List(chunk))
		err := rows.ScanEach(ctx, s.view.DB.DB, query, func(r *rows.Row, unreadable error) {
			if unreadable == nil {
				each(&r.Knowledge)
			}
		})
		if err != nil {
			return rows.Failed(ctx, "read affected items", err)
		}
	}
	return nil
}

// votes finds the actor's votes on items that are not affected, and that the caller may contain.
func (c *Containments) votes(
	ctx context.Context, by domain.Principal, t domain.Tainting, s *spread, e *domain.ContainmentEffect,
) error {
	query := s.view.DB.NewSelect().TableExpr("? AS v", s.view.Tables.Votes).ColumnExpr("v.id, v.event_id").
		Where("v.tenant = ?", s.tenant).Where("v.voter = ?", t.Actor).Where("v.verdict IN ('helpful', 'harmful')").
		OrderExpr("v.id, v.event_id")
	if !t.Since.IsZero() {
		query = query.Where("v.at >= ?", database.At(t.Since))
	}
	on := map[string][]string{}
	err := database.ForEach(ctx, s.view.DB, func(row *sql.Rows) error {
		var id, vote string
		err := row.Scan(&id, &vote)
		if s.items[id] == "" {
			on[id] = append(on[id], vote)
		}
		return err
	}, query.String())
	if err != nil {
		return rows.Failed(ctx, "read votes", err)
	}
	may := map[string]bool{}
	err = s.eachStanding(ctx, slices.Sorted(maps.Keys(on)), func(k *domain.Knowledge) {
		may[k.ID] = by.MaySee(k) && by.MayContain(k) && k.Status != domain.IsErased
	})
	for _, id := range slices.Sorted(maps.Keys(on)) {
		if may[id] {
			e.Votes = append(e.Votes, domain.VotesOn{ID: id, Votes: on[id]})
		}
	}
	return err
}

// revived finds the items whose place affected ones have taken.
func (c *Containments) revived(ctx context.Context, by domain.Principal, s *spread, e *domain.ContainmentEffect) error {
	superseded := map[string]string{}
	for chunk := range slices.Chunk(e.Items, atOnce) {
		ids := make([]string, len(chunk))
		for i, one := range chunk {
			ids[i] = one.ID
		}
		query := s.view.DB.NewSelect().TableExpr("?", s.view.IndexHint("replaced")).ColumnExpr("k.id, k.superseded_by").
			Where("k.tenant = ?", s.tenant).Where("k.superseded_by <> ''").Where("k.superseded_by IN (?)", bun.List(ids)).
			Where("k.status = 'superseded'")
		err := database.ForEach(ctx, s.view.DB, func(row *sql.Rows) error {
			var id, successor string
			err := row.Scan(&id, &successor)
			if s.items[id] == "" {
				superseded[id] = successor
			}
			return err
		}, query.String())
		if err != nil {
			return rows.Failed(ctx, "find what they superseded", err)
		}
	}
	return s.eachStanding(ctx, slices.Sorted(maps.Keys(superseded)), func(k *domain.Knowledge) {
		if by.MaySee(k) && by.MayContain(k) {
			e.Revived = append(e.Revived, domain.Revive{
				Target: domain.Target{By: by, ID: k.ID}, Successor: superseded[k.ID],
			})
		}
	})
}

// digest sets the digest of an effect.
func digest(e *domain.ContainmentEffect) {
	hash := sha256.New()
	for _, i := range e.Items {
		_, _ = fmt.Fprintln(hash, i.ID)
	}
	for _, v := range e.Votes {
		_, _ = fmt.Fprintln(hash, v.ID, strings.Join(v.Votes, " "))
	}
	e.Digest = fmt.Sprintf("%x", hash.Sum(nil)[:8])
}
