package extraction

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

// DirectoryStore stores summaries of directories, and which directories have changed since.
type DirectoryStore interface {
	Mark(ctx context.Context, tx bun.IDB, tenant string, uris []domain.URI, at time.Time) error
	Next(ctx context.Context, now, quiet, overdue time.Time) (domain.DirectoryTask, bool, error)
	Keep(ctx context.Context, t domain.DirectoryTask, summary domain.DirectorySummary, parents []domain.URI,
		at time.Time) error
	Leave(ctx context.Context, t domain.DirectoryTask, then time.Time) error
	Summaries(ctx context.Context, tenant string, uris []domain.URI) (map[domain.URI]domain.DirectorySummary, error)
}

// Browser reads the items and files of directories.
type Browser interface {
	Places(ctx context.Context, directory domain.Directory) ([]domain.DirectoryEntry, error)
	At(ctx context.Context, tenant string, uri domain.URI) (*domain.Knowledge, error)
}

// DirectoryOptions configure [Directories].
type DirectoryOptions struct {
	Shelves    DirectoryStore
	Browser    Browser
	Summarizer Summarizer
	// Clean scrubs the text that the model wrote for a tenant.
	Clean func(ctx context.Context, tenant, content string) (string, error)
	// RunExclusively runs do, unless another process that shares the database is running it.
	RunExclusively func(ctx context.Context, do func(ctx context.Context) error) error
	// Attempts limits the attempts at a directory while the summarizer is unavailable; default: 20.
	Attempts int
	Logger   *slog.Logger
	// Now is the source of the time; default: time.Now.
	Now func() time.Time
}

// Directories lets a model summarise directories from the abstracts of their contents, some time after a change. It
// writes a new summary only if those abstracts have changed. It is safe for concurrent use.
type Directories struct{ DirectoryOptions }

// NewDirectories makes a summarizer of directories.
func NewDirectories(options DirectoryOptions) *Directories {
	options.Attempts = cmp.Or(options.Attempts, 20)
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Directories{options}
}

// A directory must be unchanged for some time before it is summarised, unless it is overdue.
const (
	pollInterval = 5 * time.Second // to look for directories that are due
	quiet        = 30 * time.Second
	overdue      = 10 * time.Minute
)

// Run summarises directories that are due until ctx ends.
func (d *Directories) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := d.SummarizeDue(ctx); err != nil && ctx.Err() == nil {
			d.Logger.WarnContext(ctx, "directories were not summarised; it is tried again", "error", err, "after",
				pollInterval.String())
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
		}
	}
}

// SummarizeDue summarises the directories that are due, one after the other.
func (d *Directories) SummarizeDue(ctx context.Context) error {
	if _, due, err := d.next(ctx); err != nil || !due {
		return err
	}
	return d.RunExclusively(ctx, d.summarizeAll)
}

func (d *Directories) next(ctx context.Context) (domain.DirectoryTask, bool, error) {
	now := d.Now()
	return d.Shelves.Next(ctx, now, now.Add(-quiet), now.Add(-overdue))
}

func (d *Directories) summarizeAll(ctx context.Context) error {
	for ctx.Err() == nil {
		t, due, err := d.next(ctx)
		if err != nil || !due {
			return err
		}
		if err := d.summarize(database.ForTenant(ctx, t.Tenant), t); err != nil {
			return err
		}
	}
	return nil
}

func (d *Directories) summarize(ctx context.Context, t domain.DirectoryTask) error {
	shown, audience, err := d.shown(ctx, t)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(d.Summarizer.Name() + "\n" + string(audience) + "\n" + shown))
	summary := domain.DirectorySummary{Audience: audience, MadeOf: fmt.Sprintf("%x", sum)}
	switch {
	case shown == "": // the contents need no summary
		return d.Shelves.Keep(ctx, t, domain.DirectorySummary{}, nil, d.Now())
	case summary.MadeOf == t.MadeOf:
		return d.Shelves.Leave(ctx, t, time.Time{})
	}
	summary.Summary, err = d.Summarizer.Summarize(ctx, "What lies in the directory "+string(t.URI), shown)
	switch {
	case err == nil:
		return d.keep(ctx, t, summary)
	case ctx.Err() != nil:
		return err
	case errors.Is(err, errSettings): // until the settings change, every directory would fail
		return errors.Join(err, d.Shelves.Leave(ctx, t, d.Now().Add(time.Minute)))
	}
	if t.Attempts++; errors.Is(err, domain.ErrUnavailable) && t.Attempts < d.Attempts {
		return errors.Join(err, d.Shelves.Leave(ctx, t, d.Now().Add(min(time.Hour, time.Second<<t.Attempts))))
	}
	d.Logger.WarnContext(ctx, "a directory was not summarised, and is not until it changes", "tenant", t.Tenant, "error",
		err)
	return d.Shelves.Leave(ctx, t, time.Time{})
}

func (d *Directories) keep(ctx context.Context, t domain.DirectoryTask, summary domain.DirectorySummary) (err error) {
	if summary.Abstract, err = d.Clean(ctx, t.Tenant, summary.Abstract); err != nil {
		return err
	}
	if summary.Overview, err = d.Clean(ctx, t.Tenant, summary.Overview); err != nil {
		return err
	}
	above := t.URI.SummarizedDirectories()
	return d.Shelves.Keep(ctx, t, summary, above[max(0, len(above)-1):], d.Now())
}

// mostShown limits the entries of a directory that a model is shown.
const mostShown = 200

// shown is the input of a model for a directory: what the widest audience sees in it. It is empty if the directory
// needs no model: a person or a skill describes it, or its contents fit into an abstract.
func (d *Directories) shown(ctx context.Context, t domain.DirectoryTask) (shown string, audience domain.Scope,
	err error,
) {
	for _, name := range []string{domain.AbstractName, domain.OverviewName} {
		switch written, err := d.Browser.At(ctx, t.Tenant, t.URI.Join(name)); {
		case err == nil && written.Status == domain.Active && !written.Text.IsDirectoryNameOnly():
			return "", "", nil
		case err != nil && !errors.Is(err, domain.ErrNotFound):
			return "", "", err
		}
	}
	everybody := domain.SystemPrincipal()
	everybody.Tenant = t.Tenant
	all, err := d.Browser.Places(ctx, domain.Directory{By: everybody, URI: t.URI, Limit: mostShown})
	if err != nil {
		return "", "", err
	}
	var first []*domain.Knowledge
	for _, place := range all {
		first = append(first, place.First)
	}
	if audience = domain.WidestAudience(first); audience == "" {
		return "", "", nil
	}
	places, err := d.Browser.Places(ctx,
		domain.Directory{By: domain.AudiencePrincipal(t.Tenant, audience), URI: t.URI, Limit: mostShown})
	if err != nil {
		return "", "", err
	}
	var below []domain.URI
	for _, place := range places {
		if place.IsDir {
			below = append(below, place.URI)
		}
	}
	summaries, err := d.Shelves.Summaries(ctx, t.Tenant, below)
	if err != nil {
		return "", "", err
	}
	var list, abstracts strings.Builder
	for _, place := range places {
		name, short := place.URI.Name(), ""
		switch s := summaries[place.URI]; {
		case name == domain.SkillName:
			return "", "", nil
		case strings.HasPrefix(name, "."):
			continue
		case place.IsDir && s.Abstract != "" && s.Audience == audience:
			name, short = name+"/", s.Abstract
		default:
			short = cmp.Or(place.First.Text.Abstract, text.Abstract(place.First.Text.Content, text.AbstractTokens))
		}
		abstracts.WriteString(short + " ")
		list.WriteString("- " + name + ": " + strings.ReplaceAll(short, "\n", " ") + "\n")
	}
	if text.Tokens(abstracts.String()) <= text.AbstractTokens {
		return "", "", nil
	}
	return list.String(), audience, nil
}
