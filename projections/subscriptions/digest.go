package subscriptions

import (
	"cmp"
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// mostCounted limits the events that are read for a digest.
const mostCounted = 20_000

// Digest counts what happened in a scope, as far as the caller may read it.
func (s *Subscriptions) Digest(ctx context.Context, q domain.DigestQuery) (domain.ScopeDigest, error) {
	d := digest{m: s.matcher(q.By.Tenant), by: q.By, sections: map[string]map[string]*domain.DigestItem{}}
	query := domain.EventQuery{
		Tenant: q.By.Tenant, Scope: q.Scope, From: q.From, To: q.To, Limit: events.PageSize, Names: domain.DigestedNames(),
	}
	for read := 0; ; {
		found, next, err := s.Log.Finder.Find(ctx, query)
		if err != nil {
			return domain.ScopeDigest{}, err
		}
		for _, e := range found {
			if err := d.take(ctx, e); err != nil {
				return domain.ScopeDigest{}, err
			}
		}
		if read += len(found); next == 0 || read >= mostCounted {
			return d.made(ctx, next != 0)
		}
		d.m = s.matcher(q.By.Tenant) // forget the texts of items
		query.After = next
	}
}

// digest is a digest while it is counted: its items by section and id.
type digest struct {
	m        *matcher
	by       domain.Principal
	events   int
	sections map[string]map[string]*domain.DigestItem
}

func (d *digest) take(ctx context.Context, e domain.Event) error {
	e, may, err := d.m.visible(ctx, d.by, e)
	if err != nil || !may {
		return err
	}
	d.events++
	id, _ := domain.ItemOf(e.Stream)
	if e.Name == (domain.Restored{}).Name() {
		delete(d.sections[domain.DigestSuperseded], id)
		delete(d.sections[domain.DigestDeleted], id)
	}
	section := domain.DigestSectionOf(e.Name)
	k, err := d.m.item(ctx, id)
	if err != nil {
		return err
	}
	if gone := k.Status == domain.IsDeleted || k.Status == domain.IsErased; gone && section != domain.DigestDeleted {
		return nil
	}
	if d.sections[domain.DigestNew][id] != nil && (section == domain.DigestNew || section == domain.DigestChanged) {
		return nil // it is new once, however often it changed since
	}
	if d.sections[section] == nil {
		d.sections[section] = map[string]*domain.DigestItem{}
	}
	item := d.sections[section][id]
	if item == nil {
		item = &domain.DigestItem{ID: id}
		d.sections[section][id] = item
	}
	item.Count, item.Last, item.Position = item.Count+1, e.RecordedAt, e.Position
	item.Who = cmp.Or(e.OnBehalfOf, e.Actor)
	if f, is := e.Fact.(domain.Superseded); is {
		item.By = f.By
	}
	return nil
}

// made orders the sections, and adds titles to the first items.
func (d *digest) made(ctx context.Context, more bool) (domain.ScopeDigest, error) {
	out := domain.ScopeDigest{Events: d.events, More: more, Sections: map[string]domain.DigestSection{}}
	for name, items := range d.sections {
		section := domain.DigestSection{Total: len(items)}
		for _, item := range items {
			section.Items = append(section.Items, *item)
		}
		slices.SortFunc(section.Items, func(a, b domain.DigestItem) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(b.Position, a.Position))
		})
		section.Items = section.Items[:min(len(section.Items), domain.MostDigested)]
		for i := range section.Items {
			item := &section.Items[i]
			k, err := d.m.item(ctx, item.ID)
			if err != nil {
				return out, err
			}
			if k != nil && k.Status != domain.IsDeleted && d.by.MaySee(k) {
				item.Title = domain.TitleOf(k)
			}
		}
		out.Sections[name] = section
	}
	return out, nil
}
