package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/http/servertest"
)

// eachScrubbing runs a test on both engines, on a server that scrubs.
func eachScrubbing(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		test(t, newWorld(t, db, events.Options{}, func(cfg *servertest.Config) {
			writer := events.NewScrubbingWriter(cfg.Writer.(*events.Log), true)
			cfg.Writer, cfg.Scrubbing, cfg.Recorded = writer, writer, writer
		}))
	})
}

const (
	mail  = "jane@corp.com"
	phone = "13812345678"
	token = "glp" + "at-xK3mP9vQ2nR7sT4wY8zB"
)

// fieldsOf are the fields that a problem names.
func fieldsOf(a *answer) []string {
	var fields []string
	for _, e := range a.errors() {
		field, _, _ := strings.Cut(e, ":")
		fields = append(fields, field)
	}
	return fields
}

// nothingRecorded fails if one of the secrets is anywhere in the log.
func (w *world) nothingRecorded(secrets ...string) {
	w.t.Helper()
	log := w.ask("GET", "/v1/events?limit=100", nil).want(http.StatusOK)
	for _, secret := range secrets {
		like(w.t, string(log.body), lacking(secret))
	}
}

func TestEverythingThatPeopleWriteIsScrubbed(t *testing.T) {
	eachScrubbing(t, func(t *testing.T, w *world) {
		secret := "mail " + mail + ", call " + phone + ", use " + token
		everywhere := object{
			"id": "k", "type": "strategy", "owner": "user:jane@corp.com", "scopes": []string{"public", "user:jane@corp.com"},
			"task": secret, "content": secret, "abstract": secret, "overview": secret,
			"tags": object{"contact": []string{mail, "x"}}, "meta": object{"deep": []any{object{"who": mail, "n": 7}}},
			"source": object{"name": mail, "category": "exp", "urls": []string{"https://example.com/?mail=" + mail}},
			"eval":   object{"helpful_history": []object{{"query": secret, "outcome": secret}}},
		}
		key := header("Idempotency-Key: one")
		first := w.ask("POST", "/v1/knowledge", everywhere, key).want(http.StatusCreated)
		want := object{"email": 10.0, "phone": 6.0, "api_key": 6.0}
		same[any](t, first.json()["redacted"], map[string]any(want))
		same(t, first.header.Get("Annals-Redacted"), "api_key=6,email=10,phone=6")
		same(t, first.json()["content"], "mail [REDACTED_EMAIL], call [REDACTED_PHONE], use [REDACTED_API_KEY]")
		same(t, first.json()["owner"], "user:jane@corp.com", "an entity's id was altered")
		again := w.ask("POST", "/v1/knowledge", everywhere, key).want(http.StatusCreated)
		if again.header.Get("Idempotent-Replayed") != "true" || again.header.Get("Annals-Redacted") != first.header.Get("Annals-Redacted") {
			t.Errorf("the same request is not answered as the first time: %v", again.header)
		}
		w.ask("PATCH", "/v1/knowledge/k", object{"content": "now " + secret, "tags": object{"a": phone}, "meta": object{"b": mail}}).want(http.StatusOK)
		revised := w.ask("POST", "/v1/knowledge?update=true", object{"id": "k", "type": "strategy", "content": "then", "reason": secret}).want(http.StatusOK)
		same(t, revised.header.Get("Annals-Redacted"), "api_key=1,email=1,phone=1", "revising got Annals-Redacted")
		w.ask("POST", "/v1/knowledge/k/feedback", object{"verdict": "helpful", "query": secret, "outcome": secret}).want(http.StatusOK)
		w.ask("POST", "/v1/knowledge/k/stale", object{"reason": secret}).want(http.StatusOK)
		w.ask("POST", "/v1/knowledge/k/confirm", object{"reason": secret}).want(http.StatusOK)
		w.ask("POST", "/v1/knowledge", object{"id": "next", "type": "strategy", "content": "x"}).want(http.StatusCreated)
		w.ask("POST", "/v1/knowledge/k/supersede", object{"by": "next", "reason": secret}).want(http.StatusOK)
		w.ask("POST", "/v1/knowledge/k/restore", object{"reason": secret}).want(http.StatusOK)
		gone := w.ask("DELETE", "/v1/knowledge/k", object{"reason": secret})
		same(t, gone.header.Get("Annals-Redacted"), "api_key=1,email=1,phone=1", "forgetting got Annals-Redacted")
		w.nothingRecorded("call "+phone, "mail "+mail, "mail="+mail, token, `"`+mail+`"`)
	})
}

func TestEveryLineSaysWhatWasRedacted(t *testing.T) {
	eachScrubbing(t, func(t *testing.T, w *world) {
		lines := w.ask("POST", "/v1/knowledge", []object{
			{"id": "a", "type": "strategy", "content": "write to " + mail},
			{"id": "b", "type": "strategy", "content": "nothing"},
			{"id": "c", "type": "strategy", "content": "c", "uri": "viking://x/" + token},
		}).want(http.StatusOK).lines()
		same[any](t, lines[0]["redacted"], map[string]any{"email": 1.0})
		like(t, lines[1:], []any{object{"redacted": nil}, object{"status": "error"}})
		w.nothingRecorded(mail, token)
	})
}

func TestNamesWithSecretsAreRefused(t *testing.T) {
	eachScrubbing(t, func(t *testing.T, w *world) {
		for field, with := range map[string]object{
			"uri": {"uri": "viking://x/" + token}, "tags": {"tags": object{token: "x"}}, "meta": {"meta": object{token: 1}},
		} {
			with["type"], with["content"] = "strategy", "x"
			refused := w.ask("POST", "/v1/knowledge", with).want(http.StatusUnprocessableEntity)
			if diff := cmp.Diff(fieldsOf(refused), []string{field}); diff != "" || strings.Contains(string(refused.body), token) {
				t.Errorf("%s: %s", diff, refused.body)
			}
		}
	})
}

func TestATenantHasRulesOfItsOwn(t *testing.T) {
	eachScrubbing(t, func(t *testing.T, w *world) {
		rules := object{"off": []string{"phone"}, "patterns": []object{{"class": "employee", "expression": `\bEMP-\d{5}\b`}}}
		w.ask("PUT", "/v1/scrubbing", rules).want(http.StatusOK)
		rules["active"] = true
		same[any](t, w.ask("GET", "/v1/scrubbing", nil).want(http.StatusOK).json()["off"], []any{"phone"})
		k := w.ask("POST", "/v1/knowledge", object{"type": "strategy", "content": "EMP-12345 has " + phone + " and " + mail}).want(http.StatusCreated)
		same(t, k.json()["content"], "[REDACTED_EMPLOYEE] has "+phone+" and [REDACTED_EMAIL]")
		before := w.ask("GET", "/v1/events?limit=100", nil).items()
		w.ask("PUT", "/v1/scrubbing", object{"off": []string{"phone"}, "patterns": rules["patterns"]}).want(http.StatusOK)
		same(t, len(w.ask("GET", "/v1/events?limit=100", nil).items()), len(before), "the same rules again were recorded")
		refused := w.ask("PUT", "/v1/scrubbing", object{"off": []string{"gone"}, "patterns": []object{{"class": "x", "expression": "(" + mail}}}).
			want(http.StatusUnprocessableEntity)
		if diff := cmp.Diff(fieldsOf(refused), []string{"off[0]", "patterns[0]"}); diff != "" || strings.Contains(string(refused.body), mail) {
			t.Errorf("%s: %s", diff, refused.body)
		}
	})
}

func changeOfScrubbing(off ...string) domain.Submission {
	by := domain.Principal{Tenant: domain.DefaultTenant, Subject: "user:default", Role: domain.Admin}
	return domain.Submission{By: by, Command: domain.ChangeScrubbing{By: by, Rules: domain.Scrubbing{Off: off}}}
}

func TestRulesAreSeenByOtherServers(t *testing.T) {
	eachScrubbing(t, func(t *testing.T, w *world) {
		there := events.NewScrubbingWriter(w.log, true)
		w.ask("POST", "/v1/knowledge", object{"type": "strategy", "content": phone}).want(http.StatusCreated)
		result, err := there.Submit(t.Context(), changeOfScrubbing("phone"))
		if err != nil || result.Outcome == "unchanged" {
			t.Fatal(result.Outcome, err)
		}
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
			k := w.ask("POST", "/v1/knowledge", object{"type": "strategy", "content": phone}).want(http.StatusCreated)
			if k.json()["content"] == phone {
				return
			}
			if time.Now().After(deadline) {
				t.Fatal("the rules of another server are not followed")
			}
		}
	})
}

func TestAWriteMayRefuseWhatWouldBeRemoved(t *testing.T) {
	eachScrubbing(t, func(t *testing.T, w *world) {
		const refuse, key = header("Annals-Redaction: refuse"), header("Idempotency-Key: k")
		refused := w.ask("POST", "/v1/knowledge", item("k", "Call "+phone), refuse, key).want(http.StatusConflict).json()
		same(t, []any{refused["type"], refused["detail"]}, []any{"urn:annals:problem:redacted", "it has phone=1"})
		w.ask("GET", "/v1/knowledge/k", nil).want(http.StatusNotFound)
		w.ask("POST", "/v1/knowledge", item("k", "Call them"), refuse).want(http.StatusCreated)
		w.ask("PATCH", "/v1/knowledge/k", object{"content": "Call " + phone}, refuse).want(http.StatusConflict)
		w.ask("POST", "/v1/knowledge/k/stale", object{"reason": "ask " + mail}, refuse).want(http.StatusConflict)
		w.ask("POST", "/v1/knowledge", item("b", "x"), header("Annals-Redaction: maybe")).want(http.StatusUnprocessableEntity)
		w.nothingRecorded(phone, mail)
	})
}

func TestAScopeMayAllowOfficeNumbers(t *testing.T) {
	eachScrubbing(t, func(t *testing.T, w *world) {
		office := func(id, content string, scopes ...string) object {
			of := item(id, content)
			of["scopes"] = scopes
			return of
		}
		content := func(id string) string {
			return fmt.Sprint(w.ask("GET", "/v1/knowledge/"+id, nil).want(http.StatusOK).json()["content"])
		}
		const said = "Call " + phone + " or mail " + mail
		bad := w.ask("PUT", "/v1/scrubbing", object{"allow": []string{"nobody=phone"}}).want(http.StatusUnprocessableEntity)
		same(t, fieldsOf(bad), []string{"allow[0]"})
		w.ask("PUT", "/v1/scrubbing", object{"allow": []string{"org:acme=fax"}}).want(http.StatusUnprocessableEntity)
		rules := object{"allow": []string{"org:acme=email", "org:acme=phone", "team:desk=phone"}}
		w.ask("PUT", "/v1/scrubbing", rules).want(http.StatusOK)
		same(t, w.ask("GET", "/v1/scrubbing", nil).want(http.StatusOK).json()["allow"], any([]any{"org:acme=email", "org:acme=phone", "team:desk=phone"}))

		w.ask("POST", "/v1/knowledge", office("both", said, "org:acme")).want(http.StatusCreated)
		w.ask("POST", "/v1/knowledge", office("one", said, "org:acme", "team:desk")).want(http.StatusCreated)
		w.ask("POST", "/v1/knowledge", office("none", said, "org:acme", "public")).want(http.StatusCreated)
		same(t, []string{content("both"), content("one"), content("none")}, []string{
			said, "Call " + phone + " or mail [REDACTED_EMAIL]", "Call [REDACTED_PHONE] or mail [REDACTED_EMAIL]",
		})
		w.ask("PATCH", "/v1/knowledge/both", object{"content": "Now " + phone}).want(http.StatusOK)
		same(t, content("both"), "Now "+phone)
		problems := w.ask("PATCH", "/v1/knowledge/both", object{"scopes": []string{"public"}}).want(http.StatusUnprocessableEntity).errors()
		same(t, problems, []string{"scopes: do not all allow what its text has (phone=1): revise the text first"})
		found := w.ask("GET", "/v1/scrubbing/findings", nil).want(http.StatusOK).json()["items"]
		same(t, len(found.([]any)), 0)
		w.ask("PUT", "/v1/scrubbing", object{"allow": []string{}}).want(http.StatusOK)
		found = w.ask("GET", "/v1/scrubbing/findings", nil).want(http.StatusOK).json()["items"]
		if len(found.([]any)) == 0 {
			t.Error("what no scope allows any more is not found")
		}
	})
}
