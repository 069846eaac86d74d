package agents

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAnImportedSessionHasTheIDThatItsHooksTell(t *testing.T) {
	const id = "019dec85-0000-7000-8000-000000000001"
	for host, file := range map[string]struct{ name, text string }{
		"claude-code": {id, `{"type":"summary","summary":"x"}
{"type":"user","sessionId":"of a fork","message":{"role":"user","content":"say \"parts\": x"}}`},
		"codex":  {"rollout-2026-09-27T09-00-00-" + id, "\x00 damaged\n" + `{"type":"session_meta","payload":{"id":"` + id + `"}}`},
		"gemini": {"session-2026-09-27T09-00-019dec85", `{"sessionId":"` + id + `","projectHash":"1","kind":"main"}`},
		"qwen": {"copied", `{"type":"system","sessionId":"` + id + `"}
{"type":"user","sessionId":"` + id + `","message":{"role":"user","parts":[{"text":"x"}]}}`},
	} {
		path := filepath.Join(t.TempDir(), file.name+".jsonl")
		if err := os.WriteFile(path, []byte(file.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if of, got := identify(path); of != host || got != id {
			t.Errorf("%s: got %s of %q", host, got, of)
		}
	}
}
