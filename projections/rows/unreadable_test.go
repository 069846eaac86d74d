package rows_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// An item whose row cannot be read is left out of every answer and named in the log. The other items stay.
func TestAnItemThatCannotBeReadHidesNoOther(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		nonsense := map[string]string{"tags": `'"nonsense"'`, "scopes": `'"nonsense"'`, "baseline": `'"nonsense"'`}
		if db.Engine == database.SQLite { // whose columns hold any text
			nonsense["tags"], nonsense["scopes"], nonsense["source"] = `'nonsense'`, `'nonsense"]'`, `'{'`
		}
		for column, value := range nonsense {
			t.Run(column, func(t *testing.T) {
				var logged bytes.Buffer
				w := NewWorld(t, db, projections.Settings{Logger: slog.New(slog.NewTextHandler(&logged, nil))}).
					In("tenant-" + column)
				ids := []string{"a", "b", "c", "d", "e"}
				for i, id := range ids {
					w.Know(id, domain.Remembered{
						Class: domain.Class{Type: domain.Strategy}, Owner: "org:acme", Scopes: []domain.Scope{domain.Public},
						Text: domain.Text{
							Content: "retry payments with backoff " + id, URI: fmt.Sprintf("viking://x/%s/1", id),
							Tags: domain.Tags{"area": {"pay"}},
						},
					})
					w.Submit(domain.GiveFeedback{
						Target: domain.Target{By: w.By, ID: id}, Verdict: domain.Harmful,
						TraceID: fmt.Sprint("t", i),
					})
					w.Submit(domain.ReportStale{Target: domain.Target{By: w.By, ID: id}, Reason: "gone"})
				}
				w.Understand()
				statement := fmt.Sprintf("UPDATE knowledge_1 SET %s = %s WHERE tenant = '%s' AND id = 'c'", column,
					value, w.By.Tenant)
				NoError(t, Corrupt(t.Context(), db, statement))
				left := []string{"a", "b", "d", "e"}
				said := func(what string, got []string, want ...string) {
					t.Helper()
					slices.Sort(got)
					Equal(t, got, want, "%s (-got +want)", what)
					if n := strings.Count(logged.String(), "items=[c]"); n != 1 ||
						!strings.Contains(logged.String(), "level=ERROR") || strings.Contains(logged.String(), "nonsense") {
						t.Errorf("%s: the log names the item %d times, want once and without its text:\n%s", what, n, &logged)
					}
					logged.Reset()
				}

				for _, limit := range []int{2, 10} {
					var listed []string
					logged.Reset()
					for list := (domain.List{By: w.By, Limit: limit}); ; {
						page := Must(w.Base.Browser.List(t.Context(), list))(t)
						for _, k := range page.Items {
							listed = append(listed, k.ID)
						}
						if list.Before = page.Next; page.Next == 0 {
							break
						}
					}
					if limit == 10 {
						said("lists", listed, left...)
					} else if len(listed) != len(left) {
						t.Errorf("got %v on pages of %d", listed, limit)
					}
				}
				said("searches", w.Find(domain.Search{Text: "retry payments with backoff c", Limit: 10}), left...)
				if got := w.Find(domain.Search{Text: "retry payments with backoff c", Limit: 4}); len(got) != 4 {
					t.Errorf("got %v, want others in the place of what cannot be read", got)
				}
				logged.Reset()
				var tree []string
				places, err := w.Base.Browser.Places(t.Context(), domain.Directory{By: w.By, URI: "viking://x", Limit: 5})
				if err != nil || len(places) != 5 || places[2].First != nil {
					t.Errorf("got %v, %v, want five directories, of which one has no first item", places, err)
				}
				places, err = w.Base.Browser.Places(t.Context(), domain.Directory{By: w.By, URI: "viking://x/c", Limit: 5})
				if err != nil || len(places) > 0 {
					t.Errorf("got %v, %v, want nothing", places, err)
				}
				logged.Reset()
				items := Must(w.Base.Browser.Below(t.Context(), domain.Walk{By: w.By, Below: "viking://x", Limit: 4}))(t)
				for _, k := range items {
					tree = append(tree, k.ID)
				}
				said("trees", tree, left...)

				reports := w.Reports()
				for name, report := range map[string]func() ([]domain.ReportItem, error){
					"harm":      func() ([]domain.ReportItem, error) { return reports.Harm(t.Context(), asked(w)) },
					"stale":     func() ([]domain.ReportItem, error) { return reports.Stale(t.Context(), asked(w)) },
					"declining": func() ([]domain.ReportItem, error) { return reports.Declining(t.Context(), asked(w)) },
				} {
					rows, err := report()
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					var got []string
					for _, s := range rows {
						got = append(got, s.ID)
					}
					if column == "scopes" { // the only column of these that a report reads
						said(name, got, left...)
					}
				}
				for name, f := range map[string]domain.Filter{
					"a tag": {Tags: domain.Tags{"area": {"pay"}}}, "a key": {Tags: domain.Tags{"area": {}}},
					"a scope": {Scope: domain.Public},
				} {
					page, err := w.Base.Browser.List(t.Context(), domain.List{By: w.By, Filter: f})
					if err != nil || len(page.Items) != 4 {
						t.Errorf("a list by %s: got %d items, %v, want 4", name, len(page.Items), err)
					}
					if got := w.Find(domain.Search{Text: "retry", Filter: f, Limit: 10}); len(got) != 4 {
						t.Errorf("a search by %s: got %v, want 4", name, got)
					}
				}
				if _, err := w.Base.Browser.Learned(t.Context(), w.By.Tenant, []string{"session:none"}); err != nil {
					t.Error(err)
				}

				_, err = w.Base.Browser.Find(t.Context(), w.By.Tenant, "c")
				_, placed := w.Base.Browser.At(t.Context(), w.By.Tenant, "viking://x/c/1")
				for _, err := range []error{err, placed} {
					refusal, ok := errors.AsType[*domain.Refusal](err)
					if !ok || !errors.Is(refusal, domain.ErrBroken) || !strings.Contains(refusal.Detail, "of c ") ||
						refusal.Fix == "" {
						t.Errorf("reading it: got %v, want a refusal that names it and says what to do", err)
					}
				}
				w.Reader() // which has the tables of the past
				checked := Must(projections.Check(t.Context(), db, projections.Settings{}, nil))(t)
				if want := fmt.Sprintf("tenant %s, item c: its rows or words are not what the log says",
					w.By.Tenant); !slices.Contains(checked.Wrong, want) {
					t.Errorf("the check says %q, want %q", checked.Wrong, want)
				}
			})
		}
	})
}

// asked is a report on all of a tenant.
func asked(w *World) domain.ReportQuery { return domain.ReportQuery{Tenant: w.By.Tenant, Limit: 10} }
