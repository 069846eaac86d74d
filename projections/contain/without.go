package contain

import (
	"cmp"
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// Without is [Containments.Fold], as far as a principal may see it: the most trusted active items, and how many there
// are.
func (c *Containments) Without(
	ctx context.Context, by domain.Principal, t domain.Tainting, most int,
) (best []*domain.Knowledge, active int, err error) {
	w, err := c.Fold(ctx, by.Tenant, t)
	best, active = w.Best(by, most)
	return best, active, err
}

// Without is the knowledge as if a source had never written. It is folded from the log alone: events of the source,
// events that were made from these, and copies are left out.
type Without struct {
	Items map[string]*domain.Knowledge // without the texts of contents

	left  map[string]bool // the ids of events that are left out; true if something is made of what they say
	gone  map[string]bool // the streams of items that are left out
	texts map[text]bool   // what was said, and whether what said it first is left out
	skips map[string]bool // streams whose next revision is part of a merge that is left out
}

// Fold folds the log of a tenant without a source. The items that are named count as its own.
func (c *Containments) Fold(ctx context.Context, tenant string, t domain.Tainting) (Without, error) {
	v, err := c.View(ctx)
	if err != nil {
		return Without{}, err
	}
	w := Without{
		Items: map[string]*domain.Knowledge{}, left: map[string]bool{}, gone: map[string]bool{},
		texts: map[text]bool{}, skips: map[string]bool{},
	}
	for after := int64(0); ; {
		page, err := c.Log.Reader.Read(ctx, tenant, after, events.PageSize)
		if err != nil {
			return w, err
		}
		for _, e := range page {
			w.take(e, t, v.Version.Policy)
		}
		if len(page) < events.PageSize {
			return w, nil
		}
		after = page[len(page)-1].Position
	}
}

// take folds an event, or leaves it out.
func (w *Without) take(e domain.Event, t domain.Tainting, policy domain.ConfidencePolicy) {
	id, isItem := domain.ItemOf(e.Stream)
	if w.leavesOut(e, id, t) {
		w.leave(e, isItem)
		return
	}
	if !isItem {
		return
	}
	k := w.Items[id]
	if k == nil {
		k = &domain.Knowledge{ID: id}
		w.Items[id] = k
	}
	switch f := e.Fact.(type) {
	case domain.Remembered:
		w.says(f.Text.Content, false)
	case domain.Revised:
		if f.Content != nil {
			w.says(*f.Content, false)
		}
	}
	at, fact := e.Metadata(), e.Fact
	at.Version = k.Version + 1 // some are left out
	if merged, is := fact.(domain.Merged); is {
		merged.Votes = slices.DeleteFunc(slices.Clone(merged.Votes), func(v domain.Vote) bool {
			_, out := w.left[v.EventID]
			return out
		})
		merged.Helpful, merged.Harmful = 0, 0 // of releases that carried no votes
		fact = merged
	}
	if k.Evolve(fact, at, policy) == nil {
		k.Text.Content, k.Text.Abstract, k.Text.Overview = "", "", "" // they would take too much memory
	}
}

// leavesOut tells whether an event is of the source, or was made of what was left out.
func (w *Without) leavesOut(e domain.Event, id string, t domain.Tainting) bool {
	if w.gone[e.Stream] || id != "" && slices.Contains(t.Items, id) || w.isOf(e, t) {
		return true
	}
	from := func(ids []string) bool { return slices.ContainsFunc(ids, func(id string) bool { return w.left[id] }) }
	switch f := e.Fact.(type) {
	case domain.Remembered:
		said, long := textOf(f.Text.Content)
		return from(f.DerivedFrom) || long && w.texts[said]
	case domain.Merged:
		return from(f.DerivedFrom)
	case domain.Superseded:
		return w.gone[domain.KnowledgeStream(f.By)] || w.left[e.CausationID]
	case domain.Revised:
		if w.skips[e.Stream] {
			delete(w.skips, e.Stream)
			return true
		}
		if f.Content != nil {
			said, long := textOf(*f.Content)
			return long && w.texts[said]
		}
	}
	return false
}

// isOf tells whether an event is of the source.
func (w *Without) isOf(e domain.Event, t domain.Tainting) bool {
	if !t.Selects() || e.RecordedAt.Before(t.Since) {
		return false
	}
	stream, trace := sessionOf(t.Session)
	f, begins := e.Fact.(domain.Remembered)
	switch {
	case t.Actor != "" && e.Actor != t.Actor && e.OnBehalfOf != t.Actor,
		t.Source != "" && !(begins && comesFrom(f.Source, t.Source)),
		t.Session != "" && e.Stream != stream && !(begins && f.Source.TraceID == trace):
		return false
	}
	return true
}

// leave notes what was left out.
func (w *Without) leave(e domain.Event, isItem bool) {
	content := ""
	w.left[e.EventID] = !isItem || w.gone[e.Stream]
	switch f := e.Fact.(type) {
	case domain.Remembered:
		content, w.gone[e.Stream], w.left[e.EventID] = f.Text.Content, true, true
	case domain.Revised:
		if w.left[e.EventID] = true; f.Content != nil {
			content = *f.Content
		}
	case domain.Merged:
		w.left[e.EventID], w.skips[e.Stream] = true, f.Revises
	}
	w.says(content, true)
}

// says notes who said something first.
func (w *Without) says(content string, left bool) {
	said, long := textOf(content)
	if _, known := w.texts[said]; long && !known {
		w.texts[said] = left
	}
}

// Best are the items that readers would see, the most trusted first, as far as a principal may see them.
func (w *Without) Best(by domain.Principal, most int) (best []*domain.Knowledge, active int) {
	for _, k := range w.Items {
		if k.Status == domain.Active && by.MaySee(k) {
			best = append(best, k)
		}
	}
	slices.SortFunc(best, func(a, b *domain.Knowledge) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.Helpful, a.Helpful),
			cmp.Compare(a.Number, b.Number))
	})
	return best[:min(len(best), most)], len(best)
}
