package console_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/servertest"
)

// rewrite changes an actor in the database, with the hash of the record.
func (p *proving) rewrite(actor string) {
	p.t.Helper()
	record := must(p.log.Reader.Records(p.t.Context(), "default", 0, 1))(p.t)[0]
	record.Actor = actor
	sum := sha256.Sum256(record.Canonical())
	databasetest.Tamper(p.t, p.db, fmt.Sprintf("UPDATE events SET actor = '%s', hash = %s WHERE position = 1", actor,
		database.AppendLiteral(nil, p.db.Engine, sum[:])))
}

func TestThePageNamesAnEventThatWasRewrittenWithItsHash(t *testing.T) {
	eachProving(t, func(t *testing.T, p *proving) {
		p.open()
		p.rewrite("user:defaulu")
		p.open()
		if got := p.failed(); got != "path" {
			t.Errorf("failed: %s", got)
		}
		if got := p.Text("[data-step=path] code"); !strings.Contains(got, " ≠ ") {
			t.Errorf("the path does not name the signed leaf: %s", got)
		}
		p.WaitFor("#found:not([hidden])")
		if got := p.Text("#field") + "=" + p.Text("#was"); got != "actor=user:default" {
			t.Errorf("found %q", got)
		}
		p.Axe()
	})
}

func TestThePageVerifiesTheCertificateOfAnErasure(t *testing.T) {
	eachProving(t, func(t *testing.T, p *proving) {
		status, _, body := servertest.Send(t, http.DefaultClient, servertest.Request[string](t, http.MethodDelete,
			p.url+"/v1/knowledge/staging?erase=true&reason_code=gdpr-17", nil))
		if status != http.StatusNoContent {
			t.Fatalf("%d %s", status, body)
		}
		var events api.Page[api.Event]
		if _, err := p.api.Do(t.Context(), client.Get("v1", "events"), &events); err != nil {
			t.Fatal(err)
		}
		certificate := p.fetched("log/proof/" + events.Items[len(events.Items)-1].EventID)
		p.open()
		p.Paste("#kept", certificate)
		p.Click("#compare")
		p.WaitFor("#verdict.good")
		containsAll(t, p.Text("#says"), "knowledge.erased", "knowledge:staging", "user:default")
		p.drop(strings.Replace(certificate, `"actor":"user:default"`, `"actor":"user:mallory"`, 1))
		p.WaitFor("#differs:not([hidden])")
		if got := p.failed() + ": " + p.Text("#differs code"); got != "record: actor" {
			t.Errorf("a forged actor: %q", got)
		}
		p.drop(strings.Replace(certificate, `"stream":"knowledge:staging"`, `"stream":"knowledge:another"`, 1))
		if got := p.failed(); got != "repeated" || p.Text("[data-step=repeated] code") != "stream" {
			t.Errorf("a forged stream: %q", got)
		}
	})
}

func TestThePageVerifiesTheTextOfAnEvent(t *testing.T) {
	eachProving(t, func(t *testing.T, p *proving) {
		p.open()
		p.WaitFor("#text:not([hidden])")
		if got := p.Text("#text"); !strings.Contains(got, "is the recorded one") || !strings.Contains(got, "In the cellar.") {
			t.Errorf("got %s", got)
		}
		databasetest.Tamper(t, p.db, `UPDATE event_texts SET text = '{"content":"In the garden."}'`)
		p.open()
		p.WaitFor("#text .badge.bad")
		p.Axe()
	})
}

func TestOnlyAuditorsReadTheSaltOfAText(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		mia, _ := w.given("user:mia")
		if _, err := w.as(mia).Remember(t.Context(), client.Knowledge{ID: "hers", Type: "tool", Content: "x"}); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]int{mia: http.StatusForbidden, rootKey: http.StatusOK} {
			browser := browse(t)
			w.send(browser, "/console/login", "key", key)
			for query, want := range map[string]int{
				"after=0&through=1&texts=true": want, "after=0&through=2": http.StatusNotFound, "": http.StatusNotFound,
			} {
				status, _, body := servertest.Send(t, browser,
					servertest.Request[string](t, http.MethodGet, w.url+"/console/data/v1/log/export?"+query, nil))
				if status != want || strings.Contains(string(body), "salt") && want != http.StatusOK {
					t.Errorf("%q: %d, want %d: %s", query, status, want, body)
				}
			}
		}
	})
}

func TestThePageVerifiesAnExportedLog(t *testing.T) {
	eachProving(t, func(t *testing.T, p *proving) {
		p.remember(client.Knowledge{ID: "language", Type: "user_profile", Task: "用户的语言", Content: "用户喜欢用中文交流。"})
		for _, verdict := range []string{"helpful", "harmful", "helpful"} {
			if _, err := p.api.GiveFeedback(t.Context(), "staging", client.Vote{Verdict: verdict, Outcome: verdict}); err != nil {
				t.Fatal(err)
			}
		}
		export := func(query string) string {
			_, _, body := servertest.Send(t, http.DefaultClient,
				servertest.Request[string](t, http.MethodGet, p.url+"/v1/log/export?"+query, nil))
			return string(body)
		}
		whole := export("texts=true")
		p.open()
		for _, file := range []string{whole, export("texts=false"), export("after=2&texts=true"), export("after=3&through=4")} {
			p.drop(file)
			if got := p.Text("#verdict"); !strings.Contains(got, "the file has these events") || p.failed() != "" {
				t.Errorf("got %q, failed: %s", got, p.failed())
			}
		}
		p.Axe()
		lines := strings.SplitAfter(strings.TrimSpace(whole), "\n")
		rewritten := regexp.MustCompile(`"hash":"[0-9a-f]+"`).ReplaceAllString(lines[1], `"hash":"`+strings.Repeat("ab", 32)+`"`)
		for fails, file := range map[string]string{
			"record":          strings.Replace(whole, `"actor":"user:default"`, `"actor":"user:mallory"`, 1),
			"text":            strings.Replace(whole, "cellar", "garden", 1),
			"whole root":      strings.Join(lines[1:], ""),
			"record root":     strings.Replace(whole, lines[1], rewritten, 1),
			"root checkpoint": regexp.MustCompile(`"root":"[^"]{8}`).ReplaceAllString(whole, `"root":"AAAAAAAA`),
			"signature":       strings.ReplaceAll(whole, `\n— `, `\n— x`),
		} {
			p.drop(file)
			if got := p.failed(); got != fails {
				t.Errorf("failed: %s, want %s", got, fails)
			}
		}
		p.drop(strings.Join(lines[:len(lines)-1], "")) // without its manifest
		if got := p.Text("#verdict"); strings.HasPrefix(got, "Verified") {
			t.Error("a file that breaks off is verified")
		}
	})
}
