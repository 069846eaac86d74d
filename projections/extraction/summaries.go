package extraction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/events/follow"
)

// SummaryOptions configure [Summaries].
type SummaryOptions struct {
	Followers *follow.Followers
	Writer    Writer
	Reader    interface {
		Find(ctx context.Context, tenant, id string) (*domain.Knowledge, error)
		Live(ctx context.Context, by domain.Principal, ids []string) (map[string]*domain.Knowledge, error)
	}
	Summarizer Summarizer
	// Directories records the directories in which something changed; nil for none.
	Directories DirectoryStore
	// Attempts limits the attempts at an item while the summarizer is unavailable; default: 20.
	Attempts int
	Logger   *slog.Logger
}

// Summaries lets a model write abstracts and overviews of long items without an abstract. The server records them as
// a revision of the item, so it asks the model only once. It is safe for concurrent use.
type Summaries struct {
	SummaryOptions

	mu    sync.Mutex
	tried map[string]int // attempts at items of the pages at work, by event id
}

// NewSummaries makes a summarizer of items.
func NewSummaries(options SummaryOptions) *Summaries {
	options.Attempts = cmp.Or(options.Attempts, 20)
	return &Summaries{SummaryOptions: options, tried: map[string]int{}}
}

// Follow makes the summaries follow every tenant's log, from its beginning.
func (s *Summaries) Follow(router *message.Router) {
	follow.AddPreparer(router, s.Followers, domain.Summaries, s.Prepare)
}

// Prepare summarises the current text of the items in a page of the log. After an error the page is retried; finished
// summaries stay.
func (s *Summaries) Prepare(ctx context.Context, page follow.Page) (follow.Change, error) {
	newest := map[string]string{} // event ids
	for _, event := range page.Events {
		if id, is := domain.ItemOf(event.Stream); is && mayNeedSummary(event.Fact) {
			newest[id] = event.EventID
		}
	}
	for _, event := range page.Events {
		id, is := domain.ItemOf(event.Stream)
		if !is || newest[id] != event.EventID {
			continue
		}
		if err := s.summarize(ctx, event.Tenant, id, event.EventID); err != nil {
			return nil, fmt.Errorf("summarise %s: %w", event.Stream, err)
		}
	}
	s.forget(newest)
	return s.changes(ctx, page)
}

// mayNeedSummary reports whether a fact may require a new summary of the item.
func mayNeedSummary(fact domain.Fact) bool {
	switch f := fact.(type) {
	case domain.Remembered, domain.Restored, domain.Accepted, domain.Readmitted:
		return true
	case domain.Revised:
		return f.Content != nil || f.Abstract != nil
	}
	return false
}

// long is the number of tokens from which an item is summarised: its beginning no longer says enough.
const long = 2 * text.AbstractTokens

// needsSummary reports whether an item requires a summary.
func needsSummary(k *domain.Knowledge) bool {
	return k.Status == domain.Active && k.Media == domain.MediaText && k.Text.Abstract == "" &&
		text.Tokens(k.Text.Content) > long
}

func (s *Summaries) summarize(ctx context.Context, tenant, id, cause string) error {
	k, err := s.Reader.Find(ctx, tenant, id)
	switch {
	case refused(err): // it is gone
		return nil
	case err != nil:
		return err
	}
	if !needsSummary(k) || s.attempts(cause) >= s.Attempts {
		return nil
	}
	summary, err := s.Summarizer.Summarize(ctx, k.Text.Task, k.Text.Content)
	switch {
	case err == nil:
		return s.record(ctx, tenant, k, cause, summary)
	case ctx.Err() != nil:
		return err
	case errors.Is(err, errSettings): // until the settings change, every item would fail
		return fmt.Errorf("%w: %w", domain.ErrUnavailable, err)
	case errors.Is(err, domain.ErrUnavailable) && s.attempt(cause, 1) < s.Attempts:
		return err
	}
	s.attempt(cause, s.Attempts)
	s.Logger.WarnContext(ctx, "an item was not summarised, and is not until it changes", "tenant", tenant, "item", id,
		"error", err)
	return nil
}

// races limits how often a summary is recorded again after a conflict with another change.
const races = 5

// record records a summary, unless the content has changed or a person has written an abstract.
func (s *Summaries) record(ctx context.Context, tenant string, k *domain.Knowledge, cause string,
	summary domain.Summary,
) error {
	by := assignment{tenant: tenant}.countsOwner()
	content := k.Text.Content
	logger := s.Logger.With("tenant", tenant, "item", k.ID)
	for range races {
		if !needsSummary(k) || k.Text.Content != content {
			return nil
		}
		command := domain.Revise{
			Target:  domain.Target{By: by, ID: k.ID, Revisions: []int64{k.Revision}},
			Changes: domain.Revised{Abstract: &summary.Abstract},
		}
		if k.Text.Overview == "" {
			command.Changes.Overview = &summary.Overview
		}
		if err := command.Validate(); err != nil {
			return final(ctx, logger, err)
		}
		_, err := s.Writer.Submit(ctx, domain.Submission{Command: command, By: by, Origin: domain.Origin{
			CausationID: cause, ReasonCode: cut("summarised by "+s.Summarizer.Name(), longestReason),
		}})
		if !errors.Is(err, domain.ErrPrecondition) {
			return final(ctx, logger, err)
		}
		if k, err = s.Reader.Find(ctx, tenant, k.ID); err != nil {
			return final(ctx, logger, err)
		}
	}
	return nil
}

// longestReason limits the bytes of a model's name in an event.
const longestReason = 200

func (s *Summaries) attempts(cause string) int { return s.attempt(cause, 0) }

// attempt counts attempts.
func (s *Summaries) attempt(cause string, more int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if more > 0 {
		s.tried[cause] += more
	}
	return s.tried[cause]
}

// forget forgets the attempts of a page that is done.
func (s *Summaries) forget(newest map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cause := range newest {
		delete(s.tried, cause)
	}
}

// Status is the summaries' progress on a tenant's log.
func (s *Summaries) Status(ctx context.Context, tenant string) (domain.ProjectionStatus, error) {
	f, err := s.Followers.SubscriptionStatus(ctx, domain.Summaries, tenant)
	return f.Describe(domain.ProjectionStatus{
		Name: domain.Summaries, Version: 1, State: "active", Settings: map[string]string{"summarizer": s.Summarizer.Name()},
	}), err
}

// changedDirectories are the directories that a page of the log changes.
type changedDirectories struct {
	shelves DirectoryStore
	tenant  string
	uris    []domain.URI
	at      time.Time
}

func (t changedDirectories) Write(ctx context.Context, tx bun.IDB) error {
	return t.shelves.Mark(ctx, tx, t.tenant, t.uris, t.at)
}

func (changedDirectories) Done() {}

// changes are the directories that a page of the log changes. Directories that an item has left are recorded already.
func (s *Summaries) changes(ctx context.Context, page follow.Page) (follow.Change, error) {
	if s.Directories == nil {
		return follow.NoChange{}, nil
	}
	t := changedDirectories{shelves: s.Directories, tenant: page.Tenant}
	var ids []string
	for _, event := range page.Events {
		if id, is := domain.ItemOf(event.Stream); is && mayChangeDirectory(event.Fact) {
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

// mayChangeDirectory reports whether a fact may change the summary of an item's directory.
func mayChangeDirectory(fact domain.Fact) bool {
	switch f := fact.(type) {
	case domain.Remembered, domain.Restored, domain.Moved, domain.Rescoped, domain.Transferred, domain.Superseded,
		domain.Redacted, domain.Accepted, domain.ItemQuarantined, domain.Readmitted:
		return true
	case domain.Revised:
		return f.Content != nil || f.Abstract != nil
	}
	return false
}
