package viking_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// asked is a question of testdata/calibration.txt.
type asked struct {
	language, kind, text string
	answer               string // the content of the item that answers it; empty if none does
}

func calibration(t *testing.T) (items []string, questions []asked) {
	t.Helper()
	content, err := os.ReadFile("testdata/calibration.txt")
	if err != nil {
		t.Fatal(err)
	}
	language, item := "", ""
	for line := range strings.Lines(string(content)) {
		kind, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case kind == "" || kind == "#":
		case kind[0] == '[':
			language = map[string]string{"[en]": "English", "[zh]": "Chinese"}[kind]
		case kind == "=":
			item = text
			items = append(items, item)
		case kind == "?":
			questions = append(questions, asked{language, "an answer", text, item})
		case kind == "!":
			questions = append(questions, asked{language, "none", text, ""})
		case kind == "~":
			questions = append(questions, asked{language, "none, a word in common", text, ""})
		default:
			t.Fatalf("what is %q", line)
		}
	}
	return items, questions
}

// Clients of OpenViking leave out what scores less than 0.35.
func TestARightAnswerPassesAndWhatIsUnrelatedDoesNot(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		w.learning()
		w.embedding()
		items, questions := calibration(t)
		for _, item := range items {
			w.remember(object{"content": item, "category": "patterns"})
		}
		w.ask("POST", "/api/v1/system/wait", object{"timeout": 20}).object()
		type figures struct {
			questions, passed int
			lowest, unrelated float64 // the lowest score of a right answer, and the highest of anything else
		}
		measured := map[string]*figures{}
		for _, q := range questions {
			row := q.language + " | " + q.kind
			if measured[row] == nil {
				measured[row] = &figures{lowest: 1}
			}
			f, right := measured[row], 0.0
			f.questions++
			result := w.find(object{"query": q.text, "limit": 100, "score_threshold": 0})
			for _, m := range result["memories"].([]any) {
				score, abstract := m.(object)["score"].(float64), m.(object)["abstract"].(string)
				if q.answer != "" && strings.HasPrefix(q.answer, strings.TrimSuffix(abstract, "…")) {
					right = score
					continue
				}
				if f.unrelated = max(f.unrelated, score); score >= 0.5 && q.kind == "none" {
					t.Errorf("%s: %q scores %.2f", q.text, abstract, score)
				}
			}
			kept := w.find(object{"query": q.text, "score_threshold": 0.35})["memories"].([]any)
			f.passed += min(len(kept), 1)
			if q.answer == "" {
				continue
			}
			if f.lowest = min(f.lowest, right); right < 0.5 || len(kept) > 2 {
				t.Errorf("%s: the right answer scores %.2f, and %d items pass", q.text, right, len(kept)) // two languages
			}
		}
		manual, err := os.ReadFile("../../docs/openviking.md")
		if err != nil {
			t.Fatal(err)
		}
		for row, f := range measured {
			lowest := fmt.Sprintf("%.2f", f.lowest)
			if f.lowest == 1 {
				lowest = "–"
			}
			line := fmt.Sprintf("| %s | %d | %d | %s | %.2f |", row, f.questions, f.passed, lowest, f.unrelated)
			like(t, string(manual), containing(line))
		}
	})
}
