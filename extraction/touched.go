package extraction

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// touched are directories in which a page of the log says that something changed.
type touched struct {
	shelves Shelves
	tenant  string
	uris    []domain.URI
	at      time.Time
}

// Write implements [events.Change].
func (t touched) Write(ctx context.Context, tx bun.IDB) error {
	return t.shelves.Mark(ctx, tx, t.tenant, t.uris, t.at)
}

// Done implements [events.Change].
func (touched) Done() {}

// changes are the directories in which a page of the log says that something changed. Those that something has left know it already.
func (s *Summaries) changes(ctx context.Context, page events.Page) (events.Change, error) {
	if s.Directories == nil {
		return nothing{}, nil
	}
	t := touched{shelves: s.Directories, tenant: page.Tenant}
	var ids []string
	for _, event := range page.Events {
		if id, is := domain.ItemOf(event.Stream); is && tells(event.Fact) {
			ids, t.at = append(ids, id), event.RecordedAt
		}
	}
	everybody := domain.SystemPrincipal()
	everybody.Tenant = page.Tenant
	items, err := s.Reader.Live(ctx, everybody, ids)
	if err != nil {
		return nil, fmt.Errorf("find what changed: %w", err)
	}
	for _, k := range items {
		t.uris = append(t.uris, domain.URI(k.Text.URI).SummarizedDirectories()...)
	}
	return t, nil
}

// tells whether what is said of an item's directory may be other after a fact.
func tells(fact domain.Fact) bool {
	switch f := fact.(type) {
	case domain.Remembered, domain.Restored, domain.Moved, domain.Rescoped, domain.Transferred, domain.Superseded, domain.Redacted:
		return true
	case domain.Revised:
		return f.Content != nil || f.Abstract != nil
	}
	return false
}
