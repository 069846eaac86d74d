package past_test

import (
	"slices"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestAConfirmationExpires(t *testing.T) {
	day := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	EachAt(t, day, func(t *testing.T, w *World, now *time.Time) {
		past := PastWorld{World: w, Past: w.Reader().Past}
		until := day.AddDate(0, 1, 0)
		for _, id := range []string{"doubted", "kept", "confirmed"} {
			w.Remember(id, "the deploy window of "+id, "org:acme")
		}
		for _, id := range []string{"doubted", "kept"} {
			for _, who := range []domain.Entity{"user:ann", "user:ben"} {
				by := w.By
				by.Subject = who
				w.Submit(domain.ReportStale{Target: domain.Target{By: by, ID: id}, Reason: "says " + string(who)})
			}
		}
		w.Submit(domain.Confirm{Target: domain.Target{By: w.By, ID: "kept"}})
		for _, id := range []string{"doubted", "confirmed"} {
			w.Submit(domain.Confirm{Target: domain.Target{By: w.By, ID: id}, Until: until})
		}
		asOf := w.Head()
		past.ReadOn(2) // so that the past goes on with what it has read

		// looks are what every reader sees, with a question as of the position too.
		type looks struct {
			Marks              map[string][]string
			Confidence, Ranked float64
			Stale, Fresh       []string
			Fallen             []string // in each report
			Reported, Within   map[string]int
			Since              time.Time
			Reason             string
		}
		look := func(then domain.List, search domain.Search) looks {
			t.Helper()
			reader := w.Reader()
			l := looks{Marks: map[string][]string{}, Reported: map[string]int{}, Within: map[string]int{}}
			list := func(stale *bool) []*domain.Knowledge {
				then.By, then.Filter = w.By, domain.Filter{Stale: stale}
				page := Must(reader.List(t.Context(), then))(t)
				return page.Items
			}
			for _, k := range list(nil) {
				l.Marks[k.ID] = k.Rating().Marks()
				if k.ID == "doubted" {
					l.Confidence, l.Since, l.Reason = k.Confidence, k.Stale.Since, k.Stale.Reason
				}
			}
			for stale, ids := range map[bool]*[]string{true: &l.Stale, false: &l.Fresh} {
				for _, k := range list(&stale) {
					*ids = append(*ids, k.ID)
				}
				slices.Sort(*ids)
			}
			search.By, search.Text = w.By, "deploy window doubted"
			search.Everyone, search.Copies = true, true
			complete := Must(search.Complete())(t)
			answer := Must(reader.Search(t.Context(), complete))(t)
			for _, hit := range answer.Hits {
				if hit.ID == "doubted" {
					l.Ranked = hit.Confidence
				}
			}
			reports := w.Reports()
			for counts, q := range map[*map[string]int]domain.ReportQuery{
				&l.Reported: {Tenant: w.By.Tenant, Limit: 9}, &l.Within: {
					Tenant: w.By.Tenant, Limit: 9, From: day,
					To: until.AddDate(0, 0, 1),
				},
			} {
				standings := Must(reports.Stale(t.Context(), q))(t)
				for _, s := range standings {
					(*counts)[s.ID] = s.Count
					if !s.Expired || s.Last.IsZero() || s.Reporters != s.Count || s.ID == "doubted" && s.Confidence != 0.125 {
						t.Errorf("%+v in a report", s)
					}
				}
				q.From = until.Add(-time.Hour)
				fallen := Must(reports.Declining(t.Context(), q))(t)
				for _, s := range fallen {
					if s.Before != 0.5 || s.After != 0.125 || s.Count != 1 || !s.Last.Equal(until) {
						t.Errorf("%+v has fallen", s)
					}
					l.Fallen = append(l.Fallen, s.ID)
				}
			}
			return l
		}
		holds := func(name string, got, want looks) {
			t.Helper()
			Equal(t, got, want, "%s (-got +want)", name)
		}

		none := map[string]int{}
		fresh := looks{
			Marks:      map[string][]string{"doubted": nil, "kept": nil, "confirmed": nil},
			Confidence: 0.5, Ranked: 0.5, Fresh: []string{"confirmed", "doubted", "kept"}, Reported: none, Within: none,
		}
		*now = until.Add(-time.Microsecond)
		holds("before the date", look(domain.List{}, domain.Search{}), fresh)

		*now = until
		expired := looks{
			Marks: map[string][]string{
				"doubted": {"contested: 0 helpful, 0 harmful", "reported stale by 2", "confirmation expired"}, "kept": nil,
				"confirmed": {"confirmation expired"},
			},
			Confidence: 0.125, Ranked: 0.125, Stale: []string{"confirmed", "doubted"}, Fresh: []string{"kept"},
			Fallen:   []string{"doubted", "doubted"},
			Reported: map[string]int{"doubted": 2, "confirmed": 0}, Within: map[string]int{"doubted": 2, "confirmed": 0},
			Since: day, Reason: "says user:ben",
		}
		holds("after the date", look(domain.List{}, domain.Search{}), expired)
		k, err := w.Base.Browser.Find(t.Context(), w.By.Tenant, "doubted")
		if err != nil || !k.Expired || k.Stale.Reporters != 2 {
			t.Errorf("found %+v, %v", k, err)
		}

		fresh.Reported, fresh.Within, fresh.Fallen = expired.Reported, expired.Within, expired.Fallen // reports are of now
		holds("as of a time before the date",
			look(domain.List{AsOf: asOf, AsOfTime: day}, domain.Search{AsOf: asOf, AsOfTime: day}), fresh)
		*now = until.AddDate(0, 0, -1)
		expired.Reported, expired.Within, expired.Fallen = none, none, nil
		holds("as of a time after the date", look(domain.List{AsOf: asOf, AsOfTime: until},
			domain.Search{AsOf: asOf, AsOfTime: until}), expired)

		*now = until
		receipt := w.Submit(w.Helpful("doubted", "t"))
		if k := receipt.Knowledge; !k.Expired || k.Stale.Reporters != 2 || k.Confidence != 0.1875 {
			t.Errorf("a vote answers %v, %+v, %v", k.Expired, k.Stale, k.Confidence)
		}
		by := w.By
		by.Subject = "user:ann"
		w.Submit(domain.ReportStale{Target: domain.Target{By: by, ID: "doubted"}, Reason: "says it again"})
		past.ReadOn(100)
		if got := w.ItemsAt(w.Head())["doubted"].At(*now); got.Stale.Reporters != 2 || got.Stale.Reason != "says it again" ||
			!got.Stale.Since.Equal(day) {
			t.Errorf("folded from the log it is %+v", got.Stale)
		}
		Equal(t, Folded(w.Items()), w.Stored(), "the tables (-log +tables)")
		if version := w.Rebuild(); w.Version() != version {
			t.Errorf("version %d is read, want the rebuilt %d", w.Version(), version)
		}
	})
}
