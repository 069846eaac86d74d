package proofs_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/annals-kb/annals/events/proof"
	. "github.com/annals-kb/annals/http/servertest"
)

// proofsIn reads a report from a file, and verifies it.
func proofsIn(t *testing.T, file, key string) (proof.Proofs, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "known.html")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	proofs, is, err := proof.ReadProofs(path)
	if !is {
		t.Errorf("no report: %.200s", file)
	}
	if err == nil {
		_, err = proofs.Check(key)
	}
	return proofs, err
}

func TestAReportOfWhatWasKnownIsVerifiedOffline(t *testing.T) {
	eachProven(t, func(t *testing.T, w *World, key string) {
		w.FollowPast()
		write := func(item Object) { w.Ask("POST", "/v1/knowledge", item).Want(http.StatusCreated) }
		write(Shared("kept", "Kafka keeps </script><b>messages\u202e for seven days.", "user:mia", "user:mia"))
		write(Shared("erased", "Kafka passwords lie in the vault.", "user:mia", "user:mia"))
		write(Shared("from", "Kafka is described in a plan.", "user:bob", "user:bob"))
		w.Ask("PATCH", "/v1/knowledge/kept", Object{"content": "Kafka keeps messages for ten days."}).Want(http.StatusOK)
		const report = "/v1/reports/known?about=kafka&on=today"
		page := string(w.Ask("GET", report, nil, "Accept: text/html").Want(http.StatusOK).Body)
		for _, text := range []string{"Kafka keeps messages for ten days.", "annals verify FILE --key KEY", "Kafka passwords lie in the vault."} {
			if !strings.Contains(page, text) {
				t.Errorf("the page lacks %q", text)
			}
		}
		if strings.Count(page, "<script") != 1 || strings.Count(page, "</script>") != 1 {
			t.Errorf("a text ends the data:\n%s", page)
		}
		got, err := proofsIn(t, page, key)
		if err != nil || len(got.Events) != 4 {
			t.Fatalf("%d events, %v", len(got.Events), err)
		}
		if _, said := got.Events[0].Says(); !strings.Contains(said, "messages\u202e for seven days.") {
			t.Errorf("the text of the event is not proven: %s", said)
		}
		asked := string(w.Ask("GET", report+"&proof=true", nil).Want(http.StatusOK).Body)
		if _, err := proofsIn(t, asked, key); err != nil {
			t.Errorf("as JSON: %v", err)
		}
		if _, err := proofsIn(t, string(w.Ask("GET", report, nil).Want(http.StatusOK).Body), key); err == nil {
			t.Error("a report without proofs is verified")
		}

		for what, change := range map[string]func(string) string{
			"a text": func(s string) string { return strings.Replace(s, "for ten days.\\\"", "for two days.\\\"", 1) },
			"an actor": func(s string) string {
				return strings.Replace(s, `"actor":"user:default"`, `"actor":"user:mallory"`, 1)
			},
			"a missing event": func(s string) string { return without(s, `{"event_id":"`+got.Events[0].EventID) },
			"a path":          func(s string) string { return strings.Replace(s, `"path":["`, `"path":["A`, 1) },
			"the end":         func(s string) string { return s[:len(s)/2] },
		} {
			changed := change(page)
			if _, err := proofsIn(t, changed, key); err == nil || changed == page {
				t.Errorf("%s was changed, and the report is verified", what)
			}
		}
		if _, err := proofsIn(t, page, "annals.example+00000000+AAAA"); err == nil {
			t.Error("another key verifies it")
		}

		w.Ask("DELETE", "/v1/knowledge/erased?erase=true&reason_code=gdpr-17", nil).Want(http.StatusNoContent)
		page = string(w.Ask("GET", report, nil, "Accept: text/html").Want(http.StatusOK).Body)
		if strings.Contains(page, "passwords") {
			t.Error("an erased text is in the file")
		}
		page = string(w.Ask("GET", report+"&language=zh", nil, "Accept: text/html", For("user:mia")).Want(http.StatusOK).Body)
		if _, err := proofsIn(t, page, key); err != nil || strings.Contains(page, `\"salt\"`) || strings.Contains(page, `"salt"`) {
			t.Errorf("for a member: %v, or with salts", err)
		}
		if !strings.Contains(page, "后来发生的事") {
			t.Error("it is not in Chinese")
		}
		w.Ask("GET", report, nil, "Accept: image/png").Want(http.StatusNotAcceptable)
	})
}

// without is a text without an object of a list, which begins so and is not the last.
func without(text, begin string) string {
	before, rest, _ := strings.Cut(text, begin)
	_, after, _ := strings.Cut(rest, `{"event_id":"`)
	return before + `{"event_id":"` + after
}
