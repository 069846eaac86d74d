package record

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/client"
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
