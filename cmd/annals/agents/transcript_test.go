package agents

import (
	"reflect"
	"strings"
	"testing"
)

func TestATranscriptIsWhatUserAndAssistantSaid(t *testing.T) {
	const at = `"timestamp":"2026-08-10T12:00:04Z"`
	want := []message{
		{"user", "fix the test", "2026-08-10T12:00:04Z"}, {"assistant", "It was the clock.", "2026-08-10T12:00:04Z"},
	}
	for host, lines := range map[string][]string{
		"claude-code": {
			`{"type":"user",` + at + `,"message":{"role":"user","content":"fix the test"}}`,
			`{"type":"user","isMeta":true,"message":{"role":"user","content":"caveat"}}`,
			`{"type":"assistant","isSidechain":true,"message":{"role":"assistant","content":[{"type":"text","text":"aside"}]}}`,
			`{"type":"user","message":{"role":"user","content":"<command-name>/clear</command-name>"}}`,
			`{"type":"assistant",` + at + `,"message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"It was the clock."},{"type":"tool_use","name":"Read"}]}}`,
			`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"a file"}]}}`,
			`{"type":"summary","summary":"Fix the test"}`,
			`{"type":"assistant","message":{"role":"assi`,
		},
		"codex": {
			`{` + at + `,"type":"session_meta","payload":{"id":"1","cwd":"/src"}}`,
			`{` + at + `,"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"be kind"}]}}`,
			`{` + at + `,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x"}]}}`,
			`{` + at + `,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"fix the test"}]}}`,
			`{` + at + `,"type":"event_msg","payload":{"type":"user_message","message":"fix the test"}}`,
			`{` + at + `,"type":"response_item","payload":{"type":"function_call_output","output":"ok"}}`,
			`{` + at + `,"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It was the clock."}]}}`,
		},
		"gemini": {
			`{"sessionId":"1","kind":"main"}`,
			`{"id":"a",` + at + `,"type":"user","content":"fix the"}`,
			`{"id":"a",` + at + `,"type":"user","content":"fix the test"}`,
			`{"id":"b",` + at + `,"type":"gemini","content":[{"text":"It was the clock."}]}`,
			`{"id":"c",` + at + `,"type":"info","content":"saved"}`,
		},
		"qwen": {
			`{"uuid":"a",` + at + `,"type":"user","message":{"role":"user","parts":[{"text":"fix the test"}]}}`,
			`{"uuid":"b",` + at + `,"type":"assistant","message":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"It was the clock."}]}}`,
			`{"uuid":"c",` + at + `,"type":"tool_result","message":{"role":"user","parts":[{"text":"ok"}]}}`,
		},
	} {
		said, err := transcript(host, strings.NewReader(strings.Join(lines, "\n")))
		if err != nil || !reflect.DeepEqual(said, want) {
			t.Errorf("%s: %v, %q", host, err, said)
		}
	}
	cursor, err := transcript("cursor", strings.NewReader(`{"role":"user","message":{"content":[{"type":"text","text":"fix"}]}}`))
	if err != nil || !reflect.DeepEqual(cursor, []message{{Role: "user", Content: "fix"}}) {
		t.Errorf("cursor: %v, %q", err, cursor)
	}
	if said, err := transcript("codex", strings.NewReader("a diary\n")); err == nil {
		t.Errorf("a diary became %q", said)
	}
}
