package extraction_test //nolint:lll // tables of test data

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/extraction"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

const about = `{"abstract":"How deployments go.","overview":"# Deployments\n\n- on Mondays"}`

var handbook = strings.Repeat("Deployments go out on Mondays, after the tests of the week have passed. ", 40)

// summarizing lets a model summarise what is in a world's log, page by page, as a handler would.
type summarizing struct {
	*world
	*endpoint
	summaries *extraction.Summaries
	position  int64
	meanwhile func() // is done while the model writes
}

func newSummarizing(t *testing.T, db *database.DB, answers ...func(http.ResponseWriter)) *summarizing {
	t.Helper()
	model, e := asked(t, answers...)
	s := &summarizing{world: newWorld(t, db, extraction.BuiltIn{}), endpoint: e}
	s.restart(model)
	return s
}

// interrupted is a model during whose answer something else happens.
type interrupted struct {
	extraction.Summarizer
	world *summarizing
}

func (i interrupted) Summarize(ctx context.Context, task, content string) (domain.Summary, error) {
	if happens := i.world.meanwhile; happens != nil {
		i.world.meanwhile = nil
		happens()
	}
	return i.Summarizer.Summarize(ctx, task, content)
}

// restart begins at the beginning of the log, knowing nothing.
func (s *summarizing) restart(model extraction.Summarizer) {
	s.position = 0
	s.summaries = extraction.NewSummaries(extraction.SummaryOptions{
		Followers: s.Followers, Writer: events.NewScrubbingWriter(s.Log, true), Reader: s.Base.Browser, Summarizer: interrupted{model, s}, Attempts: 3, Logger: databasetest.Log(s.T),
	})
}

// take takes in what is new in the log.
func (s *summarizing) take() error {
	s.T.Helper()
	page := Must(s.Log.Reader.Read(s.T.Context(), s.By.Tenant, s.position, 500))(s.T)
	if _, err := s.summaries.Prepare(s.T.Context(), follow.Page{Tenant: s.By.Tenant, Events: page}); err != nil {
		return err
	}
	s.position += int64(len(page))
	return nil
}

// keeps reads until nothing is new, and compares an item's levels and how often the model was asked.
func (s *summarizing) keeps(id, abstract, overview string, requests int) {
	s.T.Helper()
	for range 2 {
		NoError(s.T, s.take())
	}
	k := s.item(id)
	if k.Text.Abstract != abstract || k.Text.Overview != overview || len(s.requests) != requests {
		s.T.Errorf("%q, %q after %d requests, want %q, %q after %d", k.Text.Abstract, k.Text.Overview, len(s.requests), abstract, overview, requests)
	}
}

func (s *summarizing) item(id string) *domain.Knowledge {
	s.T.Helper()
	k := Must(s.Base.Browser.Find(s.T.Context(), s.By.Tenant, id))(s.T)
	return k
}

func (s *summarizing) remember(id string, change func(*domain.Remember)) {
	s.T.Helper()
	command := domain.Remember{By: s.By, ID: id, OrRevise: true, Knowledge: domain.Remembered{
		Class: domain.Class{Type: domain.Usecase, ContextType: domain.Resource}, Owner: mia, Scopes: []domain.Scope{domain.Public}, Text: domain.Text{Content: handbook},
	}}
	if change != nil {
		change(&command)
	}
	complete := Must(command.Complete())(s.T)
	s.Submit(complete)
}

func (s *summarizing) revise(id string, changes domain.Revised) {
	s.T.Helper()
	s.Submit(domain.Revise{Target: domain.Target{By: s.By, ID: id}, Changes: changes})
}

const overview = "# Deployments\n\n- on Mondays"

func TestAModelSummarisesWhatIsLong(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		s := newSummarizing(t, db, completion(about))
		s.remember("handbook", nil)
		s.remember("short", func(c *domain.Remember) { c.Knowledge.Text.Content = "Deploy on Mondays." })
		s.remember("stated", func(c *domain.Remember) { c.Knowledge.Text.Abstract = "Mia's own" })
		s.keeps("handbook", "How deployments go.", overview, 1)
		s.keeps("short", "", "", 1)
		s.keeps("stated", "Mia's own", "", 1)
		s.remember("handbook", nil) // the same again takes nothing back
		s.keeps("handbook", "How deployments go.", overview, 1)
		if k := s.item("handbook"); k.Revision != 2 {
			t.Errorf("revision %d", k.Revision)
		}
		model, again := asked(t, completion(about))
		s.restart(model)
		s.keeps("handbook", "How deployments go.", overview, 1)
		if len(again.requests) != 0 {
			t.Errorf("%d requests after a restart", len(again.requests))
		}
		page, err := s.Log.Reader.Read(t.Context(), s.By.Tenant, 3, 1)
		if err != nil || len(page) != 1 || page[0].Actor != "agent:annals" || page[0].ReasonCode != "summarised by model gpt-test" || page[0].CausationID == "" {
			t.Errorf("%+v, %v", page, err)
		}
	})
}

func TestASummaryGoesWithItsContent(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		s := newSummarizing(t, db, completion(about), completion(`{"abstract":"Now on Tuesdays.","overview":"mail ops@example.com, key AKIAIOSFODNN7EXAMPLE"}`))
		s.remember("handbook", nil)
		s.keeps("handbook", "How deployments go.", overview, 1)
		tuesdays := strings.ReplaceAll(handbook, "Mondays", "Tuesdays")
		s.revise("handbook", domain.Revised{Content: &tuesdays})
		if k := s.item("handbook"); k.Text.Abstract != "" || k.Text.Overview != "" {
			t.Errorf("the summary of another content stays: %q", k.Text.Abstract)
		}
		NoError(t, s.take())
		if k := s.item("handbook"); k.Text.Abstract != "Now on Tuesdays." || strings.Contains(k.Text.Overview, "AKIA") {
			t.Errorf("%q, %q", k.Text.Abstract, k.Text.Overview)
		}
		own := "Mia's own"
		s.revise("handbook", domain.Revised{Abstract: &own})
		s.revise("handbook", domain.Revised{Content: &handbook})
		s.keeps("handbook", own, "", 2)
	})
}

func TestASummaryLosesAgainstPeople(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		own, fridays := "Mia's own", strings.ReplaceAll(handbook, "Mondays", "Fridays")
		for name, test := range map[string]struct {
			changes  domain.Revised
			abstract string
			requests int
		}{
			"an abstract":    {domain.Revised{Abstract: &own}, own, 1},
			"a content":      {domain.Revised{Content: &fridays}, "How deployments go.", 2},
			"something else": {domain.Revised{Tags: &domain.Tags{"a": {"b"}}}, "How deployments go.", 1},
		} {
			s := newSummarizing(t, db, completion(about))
			id := strings.ReplaceAll(name, " ", "-")
			s.remember(id, nil)
			s.position = s.head() - 1
			s.meanwhile = func() { s.revise(id, test.changes) }
			want := overview
			if test.abstract == own {
				want = ""
			}
			s.keeps(id, test.abstract, want, test.requests)
		}
	})
}

func (s *summarizing) head() int64 {
	s.T.Helper()
	position, _, err := s.Log.Reader.Head(s.T.Context(), s.By.Tenant)
	if err != nil {
		s.T.Fatal(err)
	}
	return position
}

func TestWhatCannotBeSummarisedIsPassedOver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers  []func(http.ResponseWriter)
		pages    int // until nothing is left to do
		abstract string
		requests int
	}{
		"broken once":       {[]func(http.ResponseWriter){status(500), completion(about)}, 1, "How deployments go.", 2},
		"busy once":         {[]func(http.ResponseWriter){status(429, "Retry-After", "1"), completion(about)}, 1, "How deployments go.", 2},
		"no JSON once":      {[]func(http.ResponseWriter){completion("Sure!"), completion(about)}, 1, "How deployments go.", 2},
		"empty once":        {[]func(http.ResponseWriter){completion(`{"abstract":" "}`), completion(about)}, 1, "How deployments go.", 2},
		"nonsense for ever": {[]func(http.ResponseWriter){completion("Sure!")}, 1, "", 2},
		"refused":           {[]func(http.ResponseWriter){status(400)}, 1, "", 1},
		"away for ever":     {[]func(http.ResponseWriter){status(503)}, 3, "", 9},
		"away for a while":  {[]func(http.ResponseWriter){status(503), status(503), status(503), status(503), completion(about)}, 2, "How deployments go.", 5},
		"a wrong key for a while": {
			[]func(http.ResponseWriter){status(401), status(401), status(401), status(401), status(401), completion(about)}, 6, "How deployments go.", 6,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			databasetest.Either(t, func(t *testing.T, db *database.DB) {
				s := newSummarizing(t, db, test.answers...)
				s.remember("handbook", nil)
				for page := 1; page < test.pages; page++ {
					if err := s.take(); !errors.Is(err, domain.ErrUnavailable) || strings.Contains(err.Error(), "Mondays") {
						t.Errorf("page %d: %v", page, err)
					}
				}
				NoError(t, s.take())
				if k := s.item("handbook"); k.Text.Abstract != test.abstract || len(s.requests) != test.requests {
					t.Errorf("%q after %d requests", k.Text.Abstract, len(s.requests))
				}
			})
		})
	}
}

func TestWhatIsSentIsBounded(t *testing.T) {
	t.Parallel()
	model, e := asked(t, completion(about))
	Must(model.Summarize(t.Context(), "deploying", strings.Repeat("word ", 12_000)))(t)
	if sent := len(fmt.Sprint(e.requests[0]["messages"])); sent > 42_000 || sent < 40_000 {
		t.Errorf("%d bytes are sent", sent)
	}
}

func TestSummariesFollowTheLog(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		s := newSummarizing(t, db, completion(about))
		router := Must(follow.NewRouter(databasetest.Log(t)))(t)
		s.summaries.Follow(router)
		ran := make(chan error, 1)
		go func() { ran <- router.Run(context.WithoutCancel(t.Context())) }()
		<-router.Running()
		s.remember("handbook", nil)
		position := s.head()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		Report(t, s.Followers.Await(ctx, domain.Summaries, s.By.Tenant, position))
		if k := s.item("handbook"); k.Text.Abstract != "How deployments go." {
			t.Errorf("%q", k.Text.Abstract)
		}
		if status, err := s.summaries.Status(ctx, s.By.Tenant); err != nil || status.Settings["summarizer"] != "model gpt-test" || status.Position < position {
			t.Errorf("%+v, %v", status, err)
		}
		Report(t, errors.Join(router.Close(), <-ran))
	})
}
