package scrubbing_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	. "github.com/annals-kb/annals/http/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	mail  = "jane@corp.com"
	phone = "13812345678"
	token = "glp" + "at-xK3mP9vQ2nR7sT4wY8zB"
)

// nothingRecorded fails if one of the secrets is anywhere in the log.
func nothingRecorded(w *World, secrets ...string) {
	w.T.Helper()
	log := w.Ask("GET", "/v1/events?limit=100", nil).Want(http.StatusOK)
	for _, secret := range secrets {
		Like(w.T, string(log.Body), Lacking(secret))
	}
}

func TestEverythingThatPeopleWriteIsScrubbed(t *testing.T) {
	EachWith(t, Scrubbing, func(t *testing.T, w *World) {
		secret := "mail " + mail + ", call " + phone + ", use " + token
		everywhere := Object{
			"id": "k", "type": "strategy", "owner": "user:jane@corp.com", "scopes": []string{"public", "user:jane@corp.com"},
			"task": secret, "content": secret, "abstract": secret, "overview": secret,
			"tags": Object{"contact": []string{mail, "x"}}, "meta": Object{"deep": []any{Object{"who": mail, "n": 7}}},
			"source": Object{"name": mail, "category": "exp", "urls": []string{"https://example.com/?mail=" + mail}},
			"eval":   Object{"helpful_history": []Object{{"query": secret, "outcome": secret}}},
		}
		key := Header("Idempotency-Key: one")
		first := w.Ask("POST", "/v1/knowledge", everywhere, key).Want(http.StatusCreated)
		want := Object{"email": 10.0, "phone": 6.0, "api_key": 6.0}
		Same[any](t, first.JSON()["redacted"], map[string]any(want))
		Same(t, first.Header.Get("Annals-Redacted"), "api_key=6,email=10,phone=6")
		Same(t, first.JSON()["content"], "mail [REDACTED_EMAIL], call [REDACTED_PHONE], use [REDACTED_API_KEY]")
		Same(t, first.JSON()["owner"], "user:jane@corp.com", "an entity's id was altered")
		again := w.Ask("POST", "/v1/knowledge", everywhere, key).Want(http.StatusCreated)
		if again.Header.Get("Idempotent-Replayed") != "true" || again.Header.Get("Annals-Redacted") != first.Header.Get("Annals-Redacted") {
			t.Errorf("the same request is not answered as the first time: %v", again.Header)
		}
		w.Ask("PATCH", "/v1/knowledge/k", Object{"content": "now " + secret, "tags": Object{"a": phone}, "meta": Object{"b": mail}}).Want(http.StatusOK)
		revised := w.Ask("POST", "/v1/knowledge?update=true", Object{"id": "k", "type": "strategy", "content": "then", "reason": secret}).Want(http.StatusOK)
		Same(t, revised.Header.Get("Annals-Redacted"), "api_key=1,email=1,phone=1", "revising got Annals-Redacted")
		w.Ask("POST", "/v1/knowledge/k/feedback", Object{"verdict": "helpful", "query": secret, "outcome": secret}).Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge/k/stale", Object{"reason": secret}).Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge/k/confirm", Object{"reason": secret}).Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge", Object{"id": "next", "type": "strategy", "content": "x"}).Want(http.StatusCreated)
		w.Ask("POST", "/v1/knowledge/k/supersede", Object{"by": "next", "reason": secret}).Want(http.StatusOK)
		w.Ask("POST", "/v1/knowledge/k/restore", Object{"reason": secret}).Want(http.StatusOK)
		gone := w.Ask("DELETE", "/v1/knowledge/k", Object{"reason": secret})
		Same(t, gone.Header.Get("Annals-Redacted"), "api_key=1,email=1,phone=1", "forgetting got Annals-Redacted")
		nothingRecorded(w, "call "+phone, "mail "+mail, "mail="+mail, token, `"`+mail+`"`)
	})
}

func TestEveryLineSaysWhatWasRedacted(t *testing.T) {
	EachWith(t, Scrubbing, func(t *testing.T, w *World) {
		lines := w.Ask("POST", "/v1/knowledge", []Object{
			{"id": "a", "type": "strategy", "content": "write to " + mail},
			{"id": "b", "type": "strategy", "content": "nothing"},
			{"id": "c", "type": "strategy", "content": "c", "uri": "viking://x/" + token},
		}).Want(http.StatusOK).Lines()
		Same[any](t, lines[0]["redacted"], map[string]any{"email": 1.0})
		Like(t, lines[1:], []any{Object{"redacted": nil}, Object{"status": "error"}})
		nothingRecorded(w, mail, token)
	})
}

func TestNamesWithSecretsAreRefused(t *testing.T) {
	EachWith(t, Scrubbing, func(t *testing.T, w *World) {
		for field, with := range map[string]Object{
			"uri": {"uri": "viking://x/" + token}, "tags": {"tags": Object{token: "x"}}, "meta": {"meta": Object{token: 1}},
		} {
			with["type"], with["content"] = "strategy", "x"
			refused := w.Ask("POST", "/v1/knowledge", with).Want(http.StatusUnprocessableEntity)
			if diff := cmp.Diff(refused.Fields(), []string{field}); diff != "" || strings.Contains(string(refused.Body), token) {
				t.Errorf("%s: %s", diff, refused.Body)
			}
		}
	})
}

func TestATenantHasRulesOfItsOwn(t *testing.T) {
	EachWith(t, Scrubbing, func(t *testing.T, w *World) {
		rules := Object{"off": []string{"phone"}, "patterns": []Object{{"class": "employee", "expression": `\bEMP-\d{5}\b`}}}
		w.Ask("PUT", "/v1/scrubbing", rules).Want(http.StatusOK)
		rules["active"] = true
		Same[any](t, w.Ask("GET", "/v1/scrubbing", nil).Want(http.StatusOK).JSON()["off"], []any{"phone"})
		k := w.Ask("POST", "/v1/knowledge", Object{"type": "strategy", "content": "EMP-12345 has " + phone + " and " + mail}).Want(http.StatusCreated)
		Same(t, k.JSON()["content"], "[REDACTED_EMPLOYEE] has "+phone+" and [REDACTED_EMAIL]")
		before := w.Ask("GET", "/v1/events?limit=100", nil).Items()
		w.Ask("PUT", "/v1/scrubbing", Object{"off": []string{"phone"}, "patterns": rules["patterns"]}).Want(http.StatusOK)
		Same(t, len(w.Ask("GET", "/v1/events?limit=100", nil).Items()), len(before), "the same rules again were recorded")
		refused := w.Ask("PUT", "/v1/scrubbing", Object{"off": []string{"gone"}, "patterns": []Object{{"class": "x", "expression": "(" + mail}}}).
			Want(http.StatusUnprocessableEntity)
		if diff := cmp.Diff(refused.Fields(), []string{"off[0]", "patterns[0]"}); diff != "" || strings.Contains(string(refused.Body), mail) {
			t.Errorf("%s: %s", diff, refused.Body)
		}
	})
}

func changeOfScrubbing(off ...string) domain.Submission {
	by := domain.Principal{Tenant: domain.DefaultTenant, Subject: "user:default", Role: domain.Admin}
	return domain.Submission{By: by, Command: domain.ChangeScrubbing{By: by, Rules: domain.Scrubbing{Off: off}}}
}

func TestRulesAreSeenByOtherServers(t *testing.T) {
	EachWith(t, Scrubbing, func(t *testing.T, w *World) {
		there := events.NewScrubbingWriter(w.Log, true)
		w.Ask("POST", "/v1/knowledge", Object{"type": "strategy", "content": phone}).Want(http.StatusCreated)
		result, err := there.Submit(t.Context(), changeOfScrubbing("phone"))
		if err != nil || result.Outcome == "unchanged" {
			t.Fatal(result.Outcome, err)
		}
		databasetest.Until(t, "the rules of another server are followed", func() bool {
			k := w.Ask("POST", "/v1/knowledge", Object{"type": "strategy", "content": phone}).Want(http.StatusCreated)
			return k.JSON()["content"] == phone
		})
	})
}

func TestAWriteMayRefuseWhatWouldBeRemoved(t *testing.T) {
	EachWith(t, Scrubbing, func(t *testing.T, w *World) {
		const refuse, key = Header("Annals-Redaction: refuse"), Header("Idempotency-Key: k")
		refused := w.Ask("POST", "/v1/knowledge", Item("k", "Call "+phone), refuse, key).Want(http.StatusConflict).JSON()
		Same(t, []any{refused["type"], refused["detail"]}, []any{"urn:annals:problem:redacted", "it has phone=1"})
		w.Ask("GET", "/v1/knowledge/k", nil).Want(http.StatusNotFound)
		w.Ask("POST", "/v1/knowledge", Item("k", "Call them"), refuse).Want(http.StatusCreated)
		w.Ask("PATCH", "/v1/knowledge/k", Object{"content": "Call " + phone}, refuse).Want(http.StatusConflict)
		w.Ask("POST", "/v1/knowledge/k/stale", Object{"reason": "ask " + mail}, refuse).Want(http.StatusConflict)
		w.Ask("POST", "/v1/knowledge", Item("b", "x"), Header("Annals-Redaction: maybe")).Want(http.StatusUnprocessableEntity)
		nothingRecorded(w, phone, mail)
	})
}

func TestAScopeMayAllowOfficeNumbers(t *testing.T) {
	EachWith(t, Scrubbing, func(t *testing.T, w *World) {
		office := func(id, content string, scopes ...string) Object {
			of := Item(id, content)
			of["scopes"] = scopes
			return of
		}
		content := func(id string) string {
			return fmt.Sprint(w.Ask("GET", "/v1/knowledge/"+id, nil).Want(http.StatusOK).JSON()["content"])
		}
		const said = "Call " + phone + " or mail " + mail
		bad := w.Ask("PUT", "/v1/scrubbing", Object{"allow": []string{"nobody=phone"}}).Want(http.StatusUnprocessableEntity)
		Same(t, bad.Fields(), []string{"allow[0]"})
		w.Ask("PUT", "/v1/scrubbing", Object{"allow": []string{"org:acme=fax"}}).Want(http.StatusUnprocessableEntity)
		rules := Object{"allow": []string{"org:acme=email", "org:acme=phone", "team:desk=phone"}}
		w.Ask("PUT", "/v1/scrubbing", rules).Want(http.StatusOK)
		Same(t, w.Ask("GET", "/v1/scrubbing", nil).Want(http.StatusOK).JSON()["allow"], any([]any{"org:acme=email", "org:acme=phone", "team:desk=phone"}))

		w.Ask("POST", "/v1/knowledge", office("both", said, "org:acme")).Want(http.StatusCreated)
		w.Ask("POST", "/v1/knowledge", office("one", said, "org:acme", "team:desk")).Want(http.StatusCreated)
		w.Ask("POST", "/v1/knowledge", office("none", said, "org:acme", "public")).Want(http.StatusCreated)
		Same(t, []string{content("both"), content("one"), content("none")}, []string{
			said, "Call " + phone + " or mail [REDACTED_EMAIL]", "Call [REDACTED_PHONE] or mail [REDACTED_EMAIL]",
		})
		w.Ask("PATCH", "/v1/knowledge/both", Object{"content": "Now " + phone}).Want(http.StatusOK)
		Same(t, content("both"), "Now "+phone)
		problems := w.Ask("PATCH", "/v1/knowledge/both", Object{"scopes": []string{"public"}}).Want(http.StatusUnprocessableEntity).Errors()
		Same(t, problems, []string{"scopes: do not all allow what its text has (phone=1): revise the text first"})
		found := w.Ask("GET", "/v1/scrubbing/findings", nil).Want(http.StatusOK).JSON()["items"]
		Same(t, len(found.([]any)), 0)
		w.Ask("PUT", "/v1/scrubbing", Object{"allow": []string{}}).Want(http.StatusOK)
		found = w.Ask("GET", "/v1/scrubbing/findings", nil).Want(http.StatusOK).JSON()["items"]
		if len(found.([]any)) == 0 {
			t.Error("what no scope allows any more is not found")
		}
	})
}
