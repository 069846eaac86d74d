package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

type followerKey struct{}

// follower follows a stream of server-sent events as a browser does: when the stream ends, it asks for what comes after
// the last event that it received.
type follower struct {
	mu       sync.Mutex
	position int64
	got      []string // a line for each event: position, name and stream
	again    []string // those that came after a later one
}

// following follows a stream of the server until the script ends, also when the server is killed and started again.
func following(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 1, "following PATH")
	f := ts.Value(followerKey{}).(*follower)
	ctx, leave := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	url := ts.Getenv("ANNALS_SERVER") + args[0]
	reading.Go(func() {
		again := time.NewTicker(10 * time.Millisecond)
		defer again.Stop()
		for last := ""; ctx.Err() == nil; {
			last = f.read(ctx, url, last)
			select {
			case <-again.C:
			case <-ctx.Done():
			}
		}
	})
	ts.Defer(func() { leave(); reading.Wait() })
}

// read receives events until the stream ends, and returns the id of the last one.
func (f *follower) read(ctx context.Context, url, last string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return last
	}
	request.Header.Set("Accept", "text/event-stream")
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return last // the server is away
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	id := ""
	var e struct {
		Position     int64
		Name, Stream string
	}
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		switch field, value, _ := strings.Cut(lines.Text(), ": "); {
		case field == "id":
			id = value
		case field == "data":
			_ = json.Unmarshal([]byte(value), &e) // without a name, followed fails
		case field == "" && id != "": // the event is complete
			f.take(e.Position, fmt.Sprintln(e.Position, e.Name, e.Stream))
			last, id = id, ""
		}
	}
	return last
}

func (f *follower) take(position int64, line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if position <= f.position {
		f.again = append(f.again, line)
	}
	f.position, f.got = position, append(f.got, line)
}

// followed waits until N events were received, each once, and writes a line for each into the file followed.
func followed(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 1, "followed N")
	wanted, err := strconv.Atoi(args[0])
	ts.Check(err)
	f := ts.Value(followerKey{}).(*follower)
	var got []string
	within(ts, time.Minute, args[0]+" events", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		if got = slices.Clone(f.got); len(f.again) > 0 {
			ts.Fatalf("%d of %d events came again: %v", len(f.again), len(got), f.again)
		}
		return len(got) >= wanted
	})
	ts.Check(os.WriteFile(ts.MkAbs("followed"), []byte(strings.Join(got, "")), 0o600))
}
