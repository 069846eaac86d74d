package record

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/servertest"
)

// connected is a client of a server that answers with handler.
func connected(t *testing.T, handler http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	api, err := terminal.Remote{
		Server: server.URL, Timeout: 5 * time.Second, As: "agent:x", OnBehalfOf: "user:1",
	}.Connect()
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func TestAnImportOutlastsABusyServer(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	api := connected(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			servertest.Refusing(503, `{"title":"busy","status":503}`)(w, r)
			return
		}
		_, _ = w.Write([]byte(`{"id":"a","status":"created"}` + "\n"))
	})
	s := &sender{Server: api, Patience: time.Minute}
	b := Batch{
		Records: []Record{{Number: 1, Err: errTooLong}, {Number: 2, Raw: []byte("{}")}},
		Sent:    []int{1},
	}
	began := time.Now()
	answers, err := s.Send(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if why := answers[0].Why(); why == nil || why.Status != http.StatusRequestEntityTooLarge || why.Fix == "" ||
		answers[1].Status != "created" {
		t.Errorf("answers %+v", answers)
	}
	if waited := time.Since(began); waited < time.Second {
		t.Errorf("asked again after %s, want at least the Retry-After of 1s", waited)
	}
}

func TestAnImportOutlastsATimeOutThatTakesItsPatience(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	api := connected(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return
		}
		_, _ = w.Write([]byte(`{"id":"a","status":"created"}` + "\n"))
	}).Within(500 * time.Millisecond)
	b := Batch{Records: []Record{{Number: 1, Raw: []byte("{}")}}, Sent: []int{0}}
	answers, err := (&sender{Server: api, Patience: 400 * time.Millisecond}).Send(t.Context(), b)
	if err != nil || answers[0].Status != "created" {
		t.Errorf("got %+v, %v", answers, err)
	}
}

func TestAnImportSendsAgainWhatTheServerCouldNotTake(t *testing.T) {
	t.Parallel()
	var bodies []string
	answers := []string{
		`{"id":"1","status":"created"}` + "\n" + `{"status":"error","error":{"status":422,"title":"bad"}}` + "\n" +
			`{"status":"error","error":{"status":503,"title":"shutting down"}}` + "\n",
		`{"id":"3","status":"created"}` + "\n" + `{"id":"4","status":"cre`,
		`{"id":"4","status":"unchanged"}` + "\n",
	}
	api := connected(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		_, _ = w.Write([]byte(answers[len(bodies)-1]))
	})
	b := Batch{Sent: []int{0, 1, 2, 3}}
	for i := range 4 {
		b.Records = append(b.Records, Record{Number: i + 1, Raw: fmt.Appendf(nil, "%d", i+1)})
	}
	got, err := (&sender{Server: api, Patience: time.Minute}).Send(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	servertest.Same(t, bodies, []string{"1\n2\n3\n4\n", "3\n4\n", "4\n"})
	var statuses []string
	for _, answer := range got {
		statuses = append(statuses, answer.Status)
	}
	servertest.Same(t, statuses, []string{"created", "error", "created", "unchanged"})
}

func TestAnImportGivesUpOnAServerThatStaysAwayOrRefuses(t *testing.T) {
	t.Parallel()
	b := Batch{Records: []Record{{Number: 1, Raw: []byte("{}")}}, Sent: []int{0}}
	for status, want := range map[int]int{503: terminal.ExitUnavailable, 403: terminal.ExitRefused} {
		s := &sender{Server: connected(t, servertest.Refusing(status, `{"title":"no"}`)), Patience: 0}
		if _, err := s.Send(t.Context(), b); terminal.AsFailure(err).Code != want {
			t.Errorf("status %d: %v", status, err)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	s := &sender{Server: connected(t, servertest.Refusing(503, `{"title":"no"}`)), Patience: time.Hour}
	if _, err := s.Send(ctx, b); err == nil {
		t.Error("an interrupted import went on waiting")
	}
}

// The server has both records, and somebody revised the second. Two records of one item are sent, and so is one that
// the server would refuse.
func TestAnImportOfNotesSendsOnlyWhatDiffers(t *testing.T) {
	t.Parallel()
	me := &domain.Principal{Tenant: "default", Subject: "user:1"}
	b := Batch{Sent: []int{0, 1, 2, 3, 4, 5}}
	has := api.Fingerprints{}
	for i, raw := range []string{
		`{"id":"same","type":"tool","content":"1"}`, `{"id":"revised","type":"tool","content":"1"}`,
		`{"id":"twice","type":"tool","content":"1"}`, `{"id":"twice","type":"tool","content":"1"}`,
		`{"id":"new","type":"tool","content":"1"}`, `{"id":"refused","content":"1"}`,
	} {
		b.Records = append(b.Records, Record{Number: i + 1, Raw: []byte(raw)})
		var in api.Knowledge
		if err := json.Unmarshal([]byte(raw), &in); err != nil {
			t.Fatal(err)
		}
		if command, err := serve.RememberOf(in, *me).Complete(); in.ID != "new" && err == nil {
			if in.ID == "revised" {
				command.Knowledge.Text.Content = "2"
			}
			has.Items = append(has.Items, api.Fingerprint{
				ID: in.ID, Revision: 7, Fingerprint: command.Knowledge.Fingerprint(command.Knowledge.Text),
			})
		}
	}
	for known, want := range map[bool]string{
		true: "revised twice twice new refused", false: "same revised twice twice new refused",
	} {
		var sent []string
		api := connected(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/v1/knowledge/fingerprints" && known:
				_ = json.NewEncoder(w).Encode(has)
				return
			case r.URL.Path == "/v1/knowledge/fingerprints": // the server is older
				servertest.Refusing(http.StatusNotFound, `{"title":"no such route","status":404}`)(w, r)
				return
			}
			var record struct{ ID string }
			for lines := json.NewDecoder(r.Body); lines.Decode(&record) == nil; {
				sent = append(sent, record.ID)
				_, _ = fmt.Fprintf(w, `{"id":%q,"status":"created"}`+"\n", record.ID)
			}
		})
		answers, err := (&sender{Server: api, me: me}).Send(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		servertest.Same(t, strings.Join(sent, " "), want)
		same := answers[0].Status == "unchanged" && answers[0].Revision == 7
		if same != known || answers[4].Status != "created" {
			t.Errorf("answers %+v", answers)
		}
	}
}

func TestADryRunAsksForManyItemsAtOnce(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		var in api.FingerprintsOf
		if r.URL.Path == "/v1/whoami" {
			_, _ = w.Write([]byte(`{"tenant":"default","subject":"user:1","role":"member"}`))
		} else if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.IDs) > batchRecords {
			t.Errorf("%s asks for %d items: %v", r.URL.Path, len(in.IDs), err)
		} else {
			_, _ = w.Write([]byte(`{"items":[]}`))
		}
	}))
	defer server.Close()
	notes := t.TempDir()
	for i := range 2*batchRecords + 1 {
		path := filepath.Join(notes, fmt.Sprintf("%d.md", i))
		if err := os.WriteFile(path, fmt.Appendf(nil, "# Note\n\nNumber %d.\n", i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	i := ImportCommand{
		Remote: terminal.Remote{Server: server.URL, Timeout: 5 * time.Second}, File: notes, Format: "markdown", DryRun: true,
	}
	if err := i.Run(t.Context(), &terminal.Console{Out: &out, Styled: &out, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%d new · 0 revised", 2*batchRecords+1); !strings.Contains(out.String(), want) {
		t.Errorf("%q is not in %s", want, out.String())
	}
	servertest.Same(t, asked.Load(), int64(4), "requests")
}
