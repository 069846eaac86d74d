package console

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// statesOf is the table of an item's states in the glossary: the Chinese words by the English ones.
func statesOf(t *testing.T) map[string]string {
	t.Helper()
	glossary, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(glossary), "| state | 中文 |")
	states := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z][^|]+) \| ([^|]+) \|`).FindAllStringSubmatch(table, -1) {
		states[row[1]] = row[2]
	}
	return states
}

func TestAStateHasOneWordInEachLanguage(t *testing.T) {
	t.Parallel()
	states, english := statesOf(t), map[string]string{}
	if len(states) < 20 {
		t.Fatalf("the glossary has %d states", len(states))
	}
	for state, word := range states {
		if english[word] != "" {
			t.Errorf("%s and %s are both %s", state, english[word], word)
		}
		english[word] = state
		for _, said := range []string{state, strings.ToUpper(state[:1]) + state[1:]} {
			if got, is := inChinese()[said]; is && got != word && said != "Verified" { // the column of a confirmation
				t.Errorf("%s is %s in the glossary and %s on pages", said, word, got)
			}
		}
	}
}

// A view marks an item with a state of the glossary, and with no other word.
func TestNoViewHasAnotherWordForAState(t *testing.T) {
	t.Parallel()
	states := statesOf(t)
	text := regexp.MustCompile(`\{\{t "([^"%]+)"\}\}`)
	badge := regexp.MustCompile(`class="badge (?:good|warn|bad)">(?:\{\{if[^}]*\}\})?\{\{t "([^"%]+)"\}\}`)
	besides := map[string]bool{"incomplete": true} // an answer
	check := func(view, said string) {
		isState := !strings.HasSuffix(said, ".")
		if state := strings.ToLower(said[:1]) + said[1:]; isState && states[state] == "" && !besides[said] {
			t.Errorf("%s says %q, which is not in the glossary", view, said)
		}
	}
	parts, err := viewFiles.ReadFile("views/parts.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"badges", "queue"} {
		_, part, _ := strings.Cut(string(parts), `{{define "`+name+`"}}`)
		part, _, _ = strings.Cut(part, "{{define")
		for _, said := range text.FindAllStringSubmatch(part, -1) {
			check(name, said[1])
		}
	}
	for _, view := range []string{"home", "review", "search", "item", "knowledge", "team"} {
		source, err := viewFiles.ReadFile("views/" + view + ".html")
		if err != nil {
			t.Fatal(err)
		}
		for _, said := range badge.FindAllStringSubmatch(string(source), -1) {
			check(view, said[1])
		}
	}
}
