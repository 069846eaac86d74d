package http_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// What the server tells language models about itself works as written.
func TestWhatLanguageModelsAreToldWorks(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		text := string(w.ask("GET", "/llms.txt", nil).want(200).body)
		var made struct{ ID string }
		item := w.ask("POST", "/v1/knowledge", map[string]any{"type": "strategy", "content": "Retry 429s with jitter"}).want(201)
		if err := json.Unmarshal(item.body, &made); err != nil {
			t.Fatal(err)
		}
		examples := regexp.MustCompile("`(GET|POST|PATCH) (/[^`]+)`(?: with `([^`]+)`)?").FindAllStringSubmatch(text, -1)
		if len(examples) < 7 {
			t.Errorf("%d requests are told", len(examples))
		}
		for _, example := range examples {
			var body any
			if example[3] != "" {
				body = json.RawMessage(example[3])
			} else if example[1] == "PATCH" {
				body = map[string]any{"content": "Retry 429s with jitter, twice"}
			}
			if answer := w.ask(example[1], strings.ReplaceAll(example[2], "{id}", made.ID), body); answer.status >= 300 {
				t.Errorf("%s: %d %s", example[0], answer.status, answer.body)
			}
		}
		for _, link := range regexp.MustCompile(`\]\((/[^)]+)\)`).FindAllStringSubmatch(text, -1) {
			if answer := w.ask("GET", link[1], nil); answer.status == 404 && link[1] != "/mcp" && link[1] != "/console/" {
				t.Errorf("%s leads nowhere", link[1])
			}
		}
	})
}
