package past

import (
	"cmp"

	"github.com/annals-kb/annals/domain"
)

// textPositions are the positions of the events that have the texts of an item; 0 for none.
type textPositions struct {
	task, content, abstract, overview, tags, meta, uri int64
	reason                                             int64 // of a report of staleness
	suspended                                          int64 // of the reports before a confirmation with an end
}

// note notes the positions of a fact's texts.
func (p *textPositions) note(fact domain.Fact, position int64) {
	at := func(present bool) int64 {
		if present {
			return position
		}
		return 0
	}
	switch f := fact.(type) {
	case domain.Remembered:
		t := f.Text
		*p = textPositions{
			task: at(t.Task != ""), content: at(t.Content != ""), abstract: at(t.Abstract != ""), overview: at(t.Overview != ""),
			tags: at(len(t.Tags) > 0), meta: at(len(t.Meta) > 0), uri: at(t.URI != ""),
		}
	case domain.Revised:
		for _, field := range []struct {
			place *int64
			given bool
		}{
			{&p.task, f.Task != nil},
			{&p.content, f.Content != nil},
			{&p.abstract, f.Abstract != nil},
			{&p.overview, f.Overview != nil},
			{&p.tags, f.Tags != nil},
			{&p.meta, f.Meta != nil},
		} {
			if field.given {
				*field.place = position
			}
		}
	case domain.Moved:
		p.uri = position
	case domain.ReportedStale:
		if f.Reason != "" {
			p.reason = position
		}
	case domain.Confirmed:
		p.suspended = cmp.Or(p.reason, p.suspended)
		if f.Until.IsZero() {
			p.suspended = 0
		}
		p.reason = 0
	case domain.Erased:
		*p = textPositions{}
	}
}

// all are the positions to read, including that of the item's first event.
func (p textPositions) all(number int64) []int64 {
	list := []int64{number}
	for _, position := range []int64{
		p.task, p.content, p.abstract, p.overview, p.tags, p.meta, p.uri, p.reason,
		p.suspended,
	} {
		if position > 0 {
			list = append(list, position)
		}
	}
	return list
}

// restore adds to an item what the rows of the past leave out, from the facts at these positions. What merges added to
// DerivedFrom is in the item's history alone.
func (p textPositions) restore(k *domain.Knowledge, facts map[int64]domain.Fact) {
	if first, ok := facts[k.Number].(domain.Remembered); ok {
		k.Source, k.DerivedFrom, k.Baseline = first.Source, first.DerivedFrom, domain.DefaultBaseline()
		if first.Baseline != nil {
			k.Baseline = *first.Baseline
		}
	}
	text := func(position int64, revised func(domain.Revised) *string, remembered func(domain.Text) string) string {
		switch f := facts[position].(type) {
		case domain.Remembered:
			return remembered(f.Text)
		case domain.Revised:
			return *cmp.Or(revised(f), new(string))
		}
		return ""
	}
	k.Text = domain.Text{
		Task: text(p.task, func(f domain.Revised) *string { return f.Task },
			func(t domain.Text) string { return t.Task }),
		Content: text(p.content, func(f domain.Revised) *string { return f.Content },
			func(t domain.Text) string { return t.Content }),
		Abstract: text(p.abstract, func(f domain.Revised) *string { return f.Abstract },
			func(t domain.Text) string { return t.Abstract }),
		Overview: text(p.overview, func(f domain.Revised) *string { return f.Overview },
			func(t domain.Text) string { return t.Overview }),
	}
	switch f := facts[p.tags].(type) {
	case domain.Remembered:
		k.Text.Tags = f.Text.Tags
	case domain.Revised:
		if f.Tags != nil {
			k.Text.Tags = *f.Tags
		}
	}
	switch f := facts[p.meta].(type) {
	case domain.Remembered:
		k.Text.Meta = f.Text.Meta
	case domain.Revised:
		if f.Meta != nil {
			k.Text.Meta = *f.Meta
		}
	}
	switch f := facts[p.uri].(type) {
	case domain.Remembered:
		k.Text.URI = f.Text.URI
	case domain.Moved:
		k.Text.URI = f.URI
	}
	if f, ok := facts[p.reason].(domain.ReportedStale); ok {
		k.Stale.Reason = f.Reason
	}
	if f, ok := facts[p.suspended].(domain.ReportedStale); ok {
		k.Suspended.Reason = f.Reason
	}
}
