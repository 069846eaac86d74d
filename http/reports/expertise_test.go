package reports_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/projections/browse"
)

// taught remembers an item with tags as a user.
func taught(w *World, by, id, content string, tags ...string) {
	w.T.Helper()
	w.Ask("POST", "/v1/knowledge", Object{
		"id": id, "type": "tool", "content": content, "owner": "team:pay", "scopes": []string{"team:pay"},
		"tags": Object{"labels": tags},
	}, Header("Annals-Actor: "+by)).Want(http.StatusCreated)
}

func named(w *World, member, name string) {
	w.T.Helper()
	w.Ask("PUT", "/v1/directory/"+member, Object{"display_name": name}).Want(http.StatusOK)
}

func TestWhoKnowsAboutASubjectWroteConfirmedOrWasThankedForIt(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		named(w, "user:mia", "Mia Chen")
		named(w, "user:ben", "Ben")
		taught(w, "user:mia", "a", "Kafka keeps its topics for seven days.", "kafka")
		taught(w, "user:mia", "b", "Kafka consumers commit their offsets by hand.", "kafka")
		taught(w, "user:ben", "c", "Invoices are printed on Fridays.", "invoices")
		voted(w, "a", "helpful", "ben", "ann", "mia")
		w.Ask("POST", "/v1/knowledge/a/confirm", nil, "Annals-Actor: user:ben").Want(http.StatusOK)

		got := w.Ask("GET", "/v1/expertise?q=Kafka", nil).Want(http.StatusOK).Items()
		Like(t, got, []any{
			Object{"subject": "user:mia", "name": "Mia Chen", "wrote": 2.0, "confirmed": 0.0, "thanked": 2.0, "active": true, "alone": true},
			Object{"subject": "user:ben", "name": "Ben", "wrote": 0.0, "confirmed": 1.0, "thanked": 0.0, "active": true},
		})
		w.Ask("POST", "/v1/directory/user:mia/deactivate", Object{}).Want(http.StatusOK)
		got = w.Ask("GET", "/v1/expertise?q=Kafka&limit=2", nil).Want(http.StatusOK).Items()
		Like(t, got, []any{
			Object{"subject": "user:ben", "active": true}, Object{"subject": "user:mia", "active": false},
		})
		if got[1]["alone"] != nil {
			t.Errorf("%v is deactivated, and so not the only one to ask", got[1])
		}
		Same(t, len(w.Ask("GET", "/v1/expertise?q=Kafka&scope=team:web", nil).Want(http.StatusOK).Items()), 0)
		for field, query := range map[string]string{"q": "q=%20", "scope": "q=Kafka&scope=pay", "limit": "q=Kafka&limit=101"} {
			errors := w.Ask("GET", "/v1/expertise?"+query, nil).Want(http.StatusUnprocessableEntity).Errors()
			if len(errors) != 1 || !strings.HasPrefix(errors[0], field+": ") {
				t.Errorf("%s: %q", query, errors)
			}
		}
	})
}

func TestWhatACallerMayNotReadTellsNothingAboutPeople(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		admin, mia := w.Company()
		w.Ask("POST", "/v1/knowledge", Object{
			"id": "secret", "type": "plan", "content": "Kafka moves to the cloud.", "owner": "team:board", "scopes": []string{"team:board"},
			"tags": Object{"labels": []string{"kafka"}},
		}, admin).Want(http.StatusCreated)
		for _, path := range []string{"/v1/expertise?q=Kafka", "/v1/expertise/subjects?group=team:board"} {
			for _, key := range []string{"items", "people", "subjects"} {
				if list, _ := w.Ask("GET", path, nil, mia).Want(http.StatusOK).JSON()[key].([]any); len(list) > 0 {
					t.Errorf("%s tells %v", path, list)
				}
			}
		}
	})
}

func TestSubjectsAreTheTagsOfAGroupOrAMemberWithWhoWroteAboutThem(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		named(w, "team:pay", "Payments")
		for _, user := range []string{"user:mia", "user:ben"} {
			named(w, user, "")
			w.Ask("PUT", "/v1/directory/"+user+"/groups/team:pay", Object{"role": "member"}).Want(http.StatusOK)
		}
		taught(w, "user:mia", "a", "Kafka keeps its topics for seven days.", "kafka", "retention")
		taught(w, "user:mia", "b", "Kafka consumers commit their offsets by hand.", "kafka")
		taught(w, "user:ben", "c", "Kafka needs a lot of disk.", "kafka")
		taught(w, "user:ben", "d", "Invoices are printed on Fridays.", "invoices")

		group := w.Ask("GET", "/v1/expertise/subjects?group=team:pay", nil).Want(http.StatusOK).JSON()
		Like(t, group, Object{
			"kind": "tag",
			"subjects": []any{
				Object{"name": "kafka", "items": 3.0},
				Object{"name": "invoices", "alone": "user:ben"},
				Object{"name": "retention", "items": 1.0, "alone": "user:mia"},
			},
			"people": []any{
				Object{"subject": "user:mia", "counts": []any{2.0, 0.0, 1.0}}, Object{"subject": "user:ben", "counts": []any{1.0, 1.0, 0.0}},
			},
		})
		member := w.Ask("GET", "/v1/expertise/subjects?member=user:ben", nil).Want(http.StatusOK).JSON()
		Like(t, member, Object{
			"subjects": []any{Object{"name": "kafka"}, Object{"name": "invoices", "alone": "user:ben"}},
			"people": []any{
				Object{"subject": "user:ben", "counts": []any{1.0, 1.0}}, Object{"subject": "user:mia", "counts": []any{2.0, 0.0}},
			},
		})
		w.Ask("GET", "/v1/expertise/subjects", nil).Want(http.StatusUnprocessableEntity)
		w.Ask("GET", "/v1/expertise/subjects?group=team:pay&member=user:ben", nil).Want(http.StatusUnprocessableEntity)
	})
}

func TestWithoutTagsTheSubjectsAreCategoriesOrElseTypes(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		taught(w, "user:mia", "a", "Kafka keeps its topics for seven days.")
		kind := func() any { return w.Ask("GET", "/v1/expertise/subjects?group=team:pay", nil).JSON()["kind"] }
		Same(t, kind(), any("type"))
		w.Ask("PATCH", "/v1/knowledge/a", Object{"category": "tools"}).Want(http.StatusOK)
		Same(t, kind(), any("category"))
	})
}

func TestTheWeeksOfAScopeCountEachItemOnce(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for _, id := range []string{"a", "b", "c"} {
			taught(w, "user:mia", id, "What "+id+" is about.")
		}
		w.Remember("elsewhere", "Not of the team.")
		voted(w, "a", "harmful", "ann", "ben")
		w.Ask("POST", "/v1/knowledge/a/stale", Object{"reason": "it moved"}, "Annals-Actor: user:ann").Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge/b/confirm", nil).Want(http.StatusOK)
		w.Ask("DELETE", "/v1/knowledge/c", nil).Want(http.StatusNoContent)

		q := domain.ReportQuery{Tenant: domain.DefaultTenant, Scope: "team:pay", To: time.Now().Add(time.Minute)}
		count := func(q domain.ReportQuery) []domain.Week {
			ctx := database.ForTenant(t.Context(), domain.DefaultTenant)
			got, err := browse.Reports{Browser: w.Knowledge.Browser, Log: w.Log}.Weeks(ctx, q, 2)
			if err != nil {
				t.Fatal(err)
			}
			for i, week := range got {
				Same(t, week.Since, q.To.AddDate(0, 0, 7*(i-2)))
				got[i].Since = time.Time{}
			}
			return got
		}
		Same(t, count(q), []domain.Week{{}, {Learnt: 2, Confirmed: 1, Wrong: 1}})
		q.Only = &domain.Principal{Tenant: domain.DefaultTenant, Subject: "user:eve", Role: domain.Member}
		Same(t, count(q), []domain.Week{{}, {}})
		q.Only, q.To = nil, q.To.AddDate(0, 0, 7)
		Same(t, count(q), []domain.Week{{Learnt: 2, Confirmed: 1, Wrong: 1}, {}})
	})
}
