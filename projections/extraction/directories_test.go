package extraction_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/browse"
	"github.com/annals-kb/annals/projections/extraction"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

const guide domain.URI = "viking://resources/guide"

// browsing lets a model say what the directories of a world are about.
type browsing struct {
	*summarizing

	db          *database.DB
	shelves     browse.Directories
	directories *extraction.Directories
	later       time.Duration // by which the clock is ahead
	others      bool          // another process summarises
}

func newBrowsing(t *testing.T, db *database.DB, answers ...func(http.ResponseWriter)) *browsing {
	t.Helper()
	b := &browsing{summarizing: newSummarizing(t, db, answers...), db: db, shelves: browse.NewDirectories(db)}
	model, e := asked(t, answers...)
	b.endpoint, b.summaries.Directories = e, b.shelves
	b.begin(model)
	return b
}

// begin begins as a process does that knows nothing.
func (b *browsing) begin(model extraction.Summarizer) {
	b.directories = extraction.NewDirectories(extraction.DirectoryOptions{
		Shelves: b.shelves, Browser: b.Base.Browser, Summarizer: interrupted{model, b.summarizing},
		Clean:          events.NewScrubbingWriter(b.Log, true).Clean,
		RunExclusively: b.alone, Attempts: 3, Logger: databasetest.Log(b.T),
		Now: func() time.Time { return time.Now().Add(b.later) },
	})
}

// alone does something unless another process is at it.
func (b *browsing) alone(ctx context.Context, do func(context.Context) error) error {
	if b.others {
		return nil
	}
	return b.Followers.RunExclusively(ctx, domain.Directories, do)
}

// chapter remembers what states of itself that it is about something.
func (b *browsing) chapter(name, about string) {
	b.T.Helper()
	b.remember(name, func(c *domain.Remember) {
		c.Knowledge.Text = domain.Text{
			URI: string(guide.Join(name + ".md")), Content: about, Abstract: about + ", " +
				strings.Repeat("step by step and with every detail, ", 6),
		}
	})
}

// follows reads what is new in the log, and lets the model say what is due after so long.
func (b *browsing) follows(later time.Duration) error {
	b.T.Helper()
	page := Must(b.Log.Reader.Read(b.T.Context(), b.By.Tenant, b.position, 500))(b.T)
	if len(page) > 0 {
		change := Must(b.summaries.Prepare(b.T.Context(), follow.Page{Tenant: b.By.Tenant, Events: page}))(b.T)
		NoError(b.T, b.db.Transact(b.T.Context(),
			func(ctx context.Context, tx bun.Tx) error { return change.Write(ctx, tx) }))
		b.position += int64(len(page))
	}
	b.later = later
	return b.directories.SummarizeDue(b.T.Context())
}

// mayNeedSummary compares what is said of the guide, and how often the model was asked.
func (b *browsing) says(later time.Duration, abstract string, requests int) {
	b.T.Helper()
	NoError(b.T, b.follows(later))
	b.holds(abstract, requests)
}

func (b *browsing) holds(abstract string, requests int) {
	b.T.Helper()
	said := Must(b.shelves.Summaries(b.T.Context(), b.By.Tenant, []domain.URI{guide, "viking://resources"}))(b.T)
	if said[guide].Abstract != abstract || len(b.requests) != requests || said["viking://resources"].Abstract != "" {
		b.T.Errorf("%+v after %d requests, want %q after %d", said, len(b.requests), abstract, requests)
	}
}

// shown is what the model was shown last.
func (b *browsing) shown() string {
	b.T.Helper()
	sent := Must(json.Marshal(b.requests[len(b.requests)-1]))(b.T)
	return string(sent)
}

func said(what string) func(http.ResponseWriter) {
	return completion(fmt.Sprintf(`{"abstract":%q,"overview":"# Guide"}`, what))
}

func TestAModelSaysWhatADirectoryIsAbout(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		b := newBrowsing(t, db, said("How to deploy; ask ops@example.com."), said("How to deploy and roll back."))
		for _, name := range []string{"build", "test", "ship"} {
			b.chapter(name, "How to "+name)
		}
		b.says(time.Second, "", 0) // something may still come
		b.others = true
		b.says(time.Hour, "", 0)
		b.others = false
		b.says(time.Hour, "How to deploy; ask [REDACTED_EMAIL].", 1)
		for _, part := range []string{"viking://resources/guide", "build.md: How to build", "ship.md", "test.md"} {
			if !strings.Contains(b.shown(), part) {
				t.Errorf("%q was not shown: %s", part, b.shown())
			}
		}

		b.chapter("build", "How to build") // the same again
		words := "Other words under the same abstract."
		b.revise("build", domain.Revised{Content: &words})
		b.says(time.Hour, "How to deploy; ask [REDACTED_EMAIL].", 1)

		b.chapter("roll-back", "How to roll back")
		b.chapter("undo", "How to undo")
		b.says(time.Second, "How to deploy; ask [REDACTED_EMAIL].", 1)
		b.says(time.Hour, "How to deploy and roll back.", 2)
		if !strings.Contains(b.shown(), "undo.md") {
			t.Errorf("shown %s", b.shown())
		}

		model, again := asked(t, said("never asked"))
		b.position = 0 // from the beginning, knowing nothing
		b.begin(model)
		b.says(2*time.Hour, "How to deploy and roll back.", 2)
		if len(again.requests) != 0 {
			t.Errorf("%d requests after a restart", len(again.requests))
		}
	})
}

func TestWhatIsSaidOfADirectoryGoesWithItsText(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		grounds := domain.ErasureReason{ReasonCode: "gdpr-17"}
		for name, gone := range map[string]func(b *browsing, target domain.Target){
			"erased": func(b *browsing, target domain.Target) {
				b.Submit(domain.Erase{Target: target, ErasureReason: grounds})
			},
			"forgotten": func(b *browsing, target domain.Target) { b.Submit(domain.Delete{Target: target}) },
			"moved": func(b *browsing, target domain.Target) {
				b.Submit(domain.Revise{Target: target, URI: "viking://resources/elsewhere/" + target.ID + ".md"})
			},
			"given to others": func(b *browsing, target domain.Target) {
				b.Submit(domain.Revise{Target: target, Scopes: []domain.Scope{"user:mia"}})
			},
		} {
			b := newBrowsing(t, db, said("Everything."), said("Everything but one."))
			ids := []string{}
			for _, chapter := range []string{"a", "b", "c", "d"} {
				ids = append(ids, strings.ReplaceAll(name, " ", "-")+"-"+chapter)
				b.chapter(ids[len(ids)-1], "Chapter "+chapter)
			}
			b.position = b.head() - 4
			target := domain.Target{By: b.By, ID: ids[3]}
			b.meanwhile = func() { gone(b, domain.Target{By: b.By, ID: ids[2]}) } // what is made of it is not kept
			b.says(time.Hour, "Everything but one.", 2)
			if !strings.Contains(b.shown(), ids[3]) || strings.Contains(b.shown(), ids[2]) {
				t.Errorf("%s: shown %s", name, b.shown())
			}
			gone(b, target)
			b.holds("", 2)
			requests := 3
			if name == "moved" { // and what it lies in now
				requests = 4
			}
			b.says(2*time.Hour, "Everything but one.", requests)
			if name != "moved" && strings.Contains(b.shown(), ids[3]) {
				t.Errorf("%s: shown %s", name, b.shown())
			}
			for _, id := range ids {
				b.Submit(domain.Erase{Target: domain.Target{By: b.By, ID: id}, ErasureReason: grounds})
			}
		}
	})
}

func TestADirectoryIsToldToThoseWhoSeeWhatIsInIt(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		b := newBrowsing(t, db, said("What all may know."))
		for _, chapter := range []string{"a", "b", "c"} {
			b.chapter(chapter, "Chapter "+chapter)
			b.chapter("secret-"+chapter, "Mia's own")
			b.Submit(domain.Revise{Target: domain.Target{By: b.By, ID: "secret-" + chapter}, Scopes: []domain.Scope{"user:mia"}})
		}
		b.says(time.Hour, "What all may know.", 1)
		if strings.Contains(b.shown(), "Mia") {
			t.Errorf("shown %s", b.shown())
		}
		said, err := b.shelves.Summaries(t.Context(), b.By.Tenant, []domain.URI{guide})
		if err != nil || said[guide].Audience != domain.Public {
			t.Errorf("%+v, %v", said, err)
		}
	})
}

func TestWhatNeedsNoModelIsNotShownToOne(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		b := newBrowsing(t, db, said("never asked"))
		b.remember("short", func(c *domain.Remember) {
			c.Knowledge.Text = domain.Text{URI: "viking://resources/short/one.md", Content: "One."}
		})
		for _, chapter := range []string{"a", "b", "c"} {
			b.chapter(chapter, "Chapter "+chapter)
		}
		b.remember("written", func(c *domain.Remember) {
			c.Knowledge.Text = domain.Text{URI: string(guide.Join(domain.AbstractName)), Content: "Mia says what it is about."}
		})
		b.says(time.Hour, "", 0)
	})
}

func TestADirectoryThatCannotBeSummarisedIsPassedOver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers  []func(http.ResponseWriter)
		failures int
		abstract string
		requests int
	}{
		"refused":       {[]func(http.ResponseWriter){status(400)}, 0, "", 1},
		"away for ever": {[]func(http.ResponseWriter){status(503)}, 2, "", 9},
		"away for a while": {
			append(slices.Repeat([]func(http.ResponseWriter){status(503)}, 4), said("Back.")), 1, "Back.",
			5,
		},
		"a wrong key once":  {[]func(http.ResponseWriter){status(401), said("Back.")}, 1, "Back.", 2},
		"nonsense for ever": {[]func(http.ResponseWriter){completion("Sure!")}, 0, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			databasetest.Either(t, func(t *testing.T, db *database.DB) {
				b := newBrowsing(t, db, test.answers...)
				for _, chapter := range []string{"a", "b", "c"} {
					b.chapter(chapter, "Chapter "+chapter)
				}
				failures := 0
				for hour := range 6 {
					if err := b.follows(time.Duration(hour+1) * time.Hour); err != nil {
						failures++
						if strings.Contains(err.Error(), "Chapter") || errors.Is(err, context.Canceled) {
							t.Errorf("%v", err)
						}
					}
				}
				if b.holds(test.abstract, test.requests); failures != test.failures {
					t.Errorf("%d failures, want %d", failures, test.failures)
				}
			})
		})
	}
}
