package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

type receiverKey struct{}

// receiver receives webhooks, and verifies them as a receiver in the world would.
type receiver struct {
	mu     sync.Mutex
	status int // 0 to give no answer
	secret string
	got    []string // a line for each: status, id, type, subject and the content
	free   chan struct{}
}

// receiving starts a receiver, and lets RECEIVER be its URL.
func receiving(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 0, "receiving")
	r := &receiver{status: http.StatusOK, free: make(chan struct{})}
	at := httptest.NewServer(r)
	ts.Defer(at.Close)
	ts.Defer(func() { close(r.free) })
	receivers(ts)[ts.Name()] = r
	ts.Setenv("RECEIVER", at.URL+"/hook")
}

func receivers(ts *testscript.TestScript) map[string]*receiver {
	return ts.Value(receiverKey{}).(map[string]*receiver)
}

// answering lets the receiver answer with a status; 0 lets it give no answer.
func answering(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 1, "answering STATUS")
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	r := receivers(ts)[ts.Name()]
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// subscribed lets SUBSCRIPTION be the subscription that was made last, and tells the receiver, if any, its secret.
func subscribed(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 0, "subscribed")
	if r := receivers(ts)[ts.Name()]; r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.secret = regexp.MustCompile(`whsec_\S+`).FindString(ts.ReadFile("stdout"))
	}
	ts.Setenv("SUBSCRIPTION", regexp.MustCompile(`[0-9a-f-]{36}`).FindString(ts.ReadFile("stderr")+ts.ReadFile("stdout")))
}

// received waits until the receiver has so many events, and writes a line for each into the file received.
func received(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 1, "received N")
	wanted, err := strconv.Atoi(args[0])
	ts.Check(err)
	r := receivers(ts)[ts.Name()]
	var got []string
	within(ts, time.Minute, args[0]+" events", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		got = slices.Clone(r.got)
		return len(got) >= wanted
	})
	ts.Check(os.WriteFile(ts.MkAbs("received"), []byte(strings.Join(got, "\n")+"\n"), 0o600))
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	var event struct {
		ID, SpecVersion, Source, Type, Subject string
		Data                                   struct{ Text struct{ Content string } }
	}
	_ = json.Unmarshal(body, &event)
	r.mu.Lock()
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", q.Header.Get("webhook-id"), q.Header.Get("webhook-timestamp"), body)
	signature := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	line := fmt.Sprintf("%d %s %s %s %s", r.status, event.ID, event.Type, event.Subject, event.Data.Text.Content)
	switch {
	case !slices.Contains(strings.Fields(q.Header.Get("webhook-signature")), signature):
		line = "WRONG SIGNATURE " + line
	case event.ID != q.Header.Get("webhook-id"), event.SpecVersion != "1.0", event.Source != "urn:annals:default",
		!strings.HasPrefix(q.Header.Get("Content-Type"), "application/cloudevents+json"):
		line = "WRONG EVENT " + line
	}
	r.got = append(r.got, line)
	status := r.status
	r.mu.Unlock()
	if status == 0 {
		<-r.free
		return
	}
	w.WriteHeader(status)
}
