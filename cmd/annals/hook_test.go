package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Hosts end a hook after one and a half to three seconds. What it sent until then need not be sent again.
func TestAHookThatIsKilledStoresALongSession(t *testing.T) {
	t.Parallel()
	const messages = 1600
	dir := t.TempDir()
	transcript := filepath.Join(dir, "said.jsonl")
	var lines strings.Builder
	for i := range messages {
		fmt.Fprintf(&lines, `{"type":"assistant","sessionId":"s","timestamp":"2026-08-%02dT12:00:00Z","message":{"content":"%d: %s"}}`+"\n",
			1+i*20/messages, i, strings.Repeat("the gateway answers 429 ", 25))
	}
	if err := os.WriteFile(transcript, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + dir, "ANNALS_SERVER=" + delayed(t, startServer(t, dir, []string{"HOME=" + dir}), 30*time.Millisecond)}
	program, err := exec.LookPath("annals")
	if err != nil {
		t.Fatal(err)
	}
	annals := func(patience time.Duration, input string, args ...string) string {
		ctx, kill := context.WithTimeout(t.Context(), patience)
		defer kill()
		process := exec.CommandContext(ctx, program, args...)
		process.Dir, process.Env, process.Stdin = dir, env, strings.NewReader(input)
		said, _ := process.CombinedOutput() // it was killed
		return string(said)
	}
	shown, runs := "", 0
	for ; runs < 4 && !strings.Contains(shown, fmt.Sprintf(`"newest_message": %d,`, messages)); runs++ {
		annals(1500*time.Millisecond, `{"session_id":"s","transcript_path":"`+transcript+`"}`, "hook", "claude-code", "end")
		shown = annals(time.Minute, "", "session", "show", "claude-code-s", "--json")
	}
	if t.Logf("%d runs", runs); !strings.Contains(shown, fmt.Sprintf(`"newest_message": %d,`, messages)) {
		t.Errorf("got %s", shown)
	}
	if again := annals(time.Minute, "", "import", transcript); !strings.Contains(again, "1 session with 1,600 messages: 0 stored") {
		t.Errorf("imported as %s", again)
	}
	if shown := annals(time.Minute, "", "session", "show", "claude-code-s"); !strings.Contains(shown, "from 2026-08-01 ") || !strings.Contains(shown, " to 2026-08-20 ") {
		t.Errorf("its dates: %s", shown)
	}
}

// delayed is the URL of a server behind a network that delays each direction.
func delayed(t *testing.T, server string, by time.Duration) string {
	t.Helper()
	address := strings.TrimPrefix(server, "http://")
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	pass := func(to, from net.Conn) {
		type part struct {
			text []byte
			at   time.Time
		}
		parts := make(chan part, 1000)
		running.Go(func() {
			defer to.Close()
			for p := range parts {
				time.Sleep(time.Until(p.at))
				_, _ = to.Write(p.text)
			}
		})
		for buffer := make([]byte, 64<<10); ; {
			n, err := from.Read(buffer)
			parts <- part{append([]byte(nil), buffer[:n]...), time.Now().Add(by)}
			if err != nil {
				close(parts)
				return
			}
		}
	}
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			onward, err := new(net.Dialer).DialContext(context.WithoutCancel(t.Context()), "tcp", address)
			if err != nil {
				_ = client.Close()
				continue
			}
			running.Go(func() { pass(onward, client) })
			running.Go(func() { pass(client, onward) })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); running.Wait() })
	return "http://" + listener.Addr().String()
}
