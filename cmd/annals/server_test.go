package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/annals-kb/annals/cmd/annals/serve"
)

type serverKey struct{}

// server is the process that a script has started, if any.
type server struct {
	process *exec.Cmd
	log     bytes.Buffer // read it when the process has ended
}

func serverOf(ts *testscript.TestScript) *server { return ts.Value(serverKey{}).(*server) }

// serving starts annals serve and waits until it says where.
func serving(ts *testscript.TestScript, neg bool, args []string) {
	s := serverOf(ts)
	usage(ts, neg || s.process != nil, "serving [FLAGS…], one at a time")
	program, err := exec.LookPath("annals")
	ts.Check(err)
	s.log.Reset()
	s.process = exec.CommandContext(context.Background(), program, append([]string{"serve", "--json"}, args...)...)
	s.process.Dir, s.process.Stderr = ts.MkAbs("."), &s.log
	for _, name := range []string{
		"PATH", "HOME", "TMPDIR", "TZ", "DATABASE_URL", "ANNALS_LISTEN", "ANNALS_DATA", "ANNALS_ROOT_KEY",
		"ANNALS_EMBEDDING_URL", "ANNALS_EMBEDDING_MODEL", "ANNALS_EMBEDDING_KEY", "ANNALS_EMBEDDING_DIMS",
		"ANNALS_EMBEDDING_PREVIOUS_MODEL",
		"ANNALS_LLM_URL", "ANNALS_LLM_MODEL", "ANNALS_LLM_KEY",
	} {
		s.process.Env = append(s.process.Env, name+"="+ts.Getenv(name))
	}
	ready, err := started(s.process)
	if err != nil {
		_ = s.process.Wait()
		s.process = nil
		ts.Fatalf("the server did not start: %v\n%s", err, s.log.String())
	}
	address, err := url.Parse(ready.URL)
	ts.Check(err)
	_, token, _ := strings.Cut(ready.First, "#token=")
	ts.Setenv("FIRST_ADMIN", token)
	ts.Setenv("ANNALS_SERVER", ready.URL)
	ts.Setenv("ANNALS_LISTEN", address.Host)
}

// started starts a server and waits until it says where.
func started(process *exec.Cmd) (ready serve.Welcome, err error) {
	said, err := process.StdoutPipe()
	if err == nil {
		err = process.Start()
	}
	if err == nil {
		err = json.NewDecoder(said).Decode(&ready)
	}
	return ready, err
}

// startServer runs a server for as long as the test, and returns its URL. It must end well.
func startServer(t *testing.T, dir string, env []string) string {
	t.Helper()
	url, _ := startProcess(t, dir, env)
	return url
}

// startProcess is startServer that also returns the process. Unless env says otherwise, it encodes no sentences.
func startProcess(t *testing.T, dir string, env []string) (string, *os.Process) {
	t.Helper()
	program, err := exec.LookPath("annals")
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer // read it when the process has ended
	process := exec.CommandContext(context.WithoutCancel(t.Context()), program, "serve", "--json")
	process.Dir, process.Env, process.Stderr = dir, append([]string{"ANNALS_EMBEDDING_MODEL=words"}, env...), &log
	t.Cleanup(func() {
		_ = process.Process.Signal(syscall.SIGTERM)
		if err := process.Wait(); err != nil {
			t.Errorf("the server did not end well: %v\n%s", err, log.String())
		}
	})
	ready, err := started(process)
	if err != nil {
		t.Fatalf("the server did not start: %v", err)
	}
	return ready.URL, process.Process
}

// shutdown asks the server to end, which it must do well and without losing a line about it.
func shutdown(ts *testscript.TestScript, neg bool, args []string) {
	s := serverOf(ts)
	usage(ts, neg || s.process == nil, "shutdown [POSITION], after serving")
	reach(ts, args)
	ts.Check(s.process.Process.Signal(syscall.SIGTERM))
	timer := time.AfterFunc(20*time.Second, func() { _ = s.process.Process.Kill() })
	err := s.process.Wait()
	timer.Stop()
	s.process = nil
	if err != nil {
		ts.Fatalf("the server did not end well: %v\n%s", err, s.log.String())
	}
}

// crash kills the server, as soon as its log has reached a position.
func crash(ts *testscript.TestScript, neg bool, args []string) {
	s := serverOf(ts)
	usage(ts, neg || s.process == nil, "crash [POSITION], after serving")
	reach(ts, args)
	ts.Check(s.process.Process.Kill())
	_ = s.process.Wait() // it was killed
	s.process = nil
}

// reach waits until the log has reached the position, if one is given.
func reach(ts *testscript.TestScript, args []string) {
	if len(args) == 0 {
		return
	}
	wanted, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	within(ts, 30*time.Second, "position "+args[0], func() bool { return head(ts) >= wanted })
}

// head is the position of the newest event.
func head(ts *testscript.TestScript) int64 {
	var list struct {
		Items []struct {
			Position int64 `json:"position"`
		} `json:"items"`
	}
	_, said := sent(ts, http.MethodGet, "/v1/events?order=desc&limit=1", "")
	ts.Check(json.Unmarshal([]byte(said), &list))
	if len(list.Items) == 0 {
		return 0
	}
	return list.Items[0].Position
}

// end stops what a failed script left running, and shows what the server had to say.
func (s *server) end(t testing.TB) {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
	}
	if t.Failed() {
		t.Logf("the server's log:\n%s", s.log.String())
	}
}

// caller calls one server.
type caller struct {
	t      *testing.T
	server string
}

// calls returns the status, the body and the Annals-Position of an answer.
func (c caller) calls(method, path, body string) (status int, said, position string) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.server+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Close = true // the server ends a connection that was idle for two minutes
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error(), ""
	}
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error(), ""
	}
	return answer.StatusCode, string(content), answer.Header.Get("Annals-Position")
}

// gets fails unless the answer has the status and the words.
func (c caller) gets(wanted int, words, method, path, body string) (position string) {
	c.t.Helper()
	status, said, position := c.calls(method, path, body)
	if status != wanted || !strings.Contains(said, words) {
		c.t.Errorf("%s %s: got %d %s, want %d with %q", method, path, status, said, wanted, words)
	}
	return position
}

func (c caller) remembers(id string) (position string) {
	c.t.Helper()
	return c.gets(http.StatusCreated, id, http.MethodPost, "/v1/knowledge",
		`{"id":"`+id+`","type":"strategy","content":"retry with jitter: `+id+`","scopes":["public"]}`)
}
