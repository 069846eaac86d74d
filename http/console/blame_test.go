package console

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/http/api"
)

// told is the history of an item with these contents, oldest first.
func told(contents ...string) []api.Event {
	var history []api.Event
	before := ""
	for i, content := range contents {
		event := api.Event{Name: "knowledge.revised", Version: int64(i + 1), Position: int64(2*i + 1)}
		if content != before {
			change := api.Change{Field: "content", Before: before, After: content}
			for _, part := range text.Diff(before, content) {
				change.Diff = append(change.Diff, api.FieldChange{Op: string(part.Op), Text: part.Text})
			}
			event.Changes = []api.Change{{Field: "task"}, change}
		}
		history, before = append(history, event), content
	}
	return history
}

func textOf(runs []run) (text string) {
	for _, one := range runs {
		text += one.Text
	}
	return text
}

func TestEveryWordHasTheEventThatWroteIt(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{"Retry", "jitter", "429s", "twice", ",", ".", "\n", "用户", "喜欢", "中文", "。", "注释", "é", "👍"})
	content := rapid.Custom(func(t *rapid.T) string {
		glue := rapid.SampledFrom([]string{" ", ""}).Draw(t, "glue")
		return strings.Join(rapid.SliceOfN(word, 0, 30).Draw(t, "words"), glue)
	})
	rapid.Check(t, func(t *rapid.T) {
		contents := rapid.SliceOfN(content, 1, 8).Draw(t, "contents")
		history := told(contents...)
		runs := blame(history)
		if got, want := textOf(runs), contents[len(contents)-1]; got != want {
			t.Fatalf("the runs are %q, the content is %q", got, want)
		}
		for i, one := range runs {
			wrote := contents[one.Event.Version-1]
			foreign := func(r rune) bool { return !strings.ContainsRune(wrote, r) }
			if one.Event != &history[one.Event.Version-1] || strings.ContainsFunc(one.Text, foreign) || one.Text == "" {
				t.Fatalf("event %d wrote %q, but not %q", one.Event.Version, wrote, one.Text)
			}
			if i > 0 && runs[i-1].Event == one.Event {
				t.Fatalf("%q and %q are of one event, but two runs", runs[i-1].Text, one.Text)
			}
		}
	})
}

func TestKeptWordsStayWithTheEventThatWroteThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		contents []string
		want     []string // each with the version of its event before it
	}{
		{[]string{"Wait two seconds.", "Wait four seconds."}, []string{"1Wait ", "2four", "1 seconds."}},
		{[]string{"代码注释用英文。", "代码和注释用英文。", "代码和注释用中文。"}, []string{"1代码", "2和", "1注释用", "3中", "1文。"}},
		{[]string{"a b c", "a c", "a b c"}, []string{"1a ", "3b ", "1c"}},
		{[]string{"a", "", "b"}, []string{"3b"}},
	} {
		var got []string
		for _, one := range blame(told(c.contents...)) {
			got = append(got, string(rune('0'+one.Event.Version))+one.Text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.contents, diff)
		}
	}
}

func TestAHistoryWithoutItsBeginningIsOfItsFirstEvent(t *testing.T) {
	t.Parallel()
	runs := blame(told("a b c", "a b c d")[1:])
	if len(runs) != 1 || textOf(runs) != "a b c d" {
		t.Errorf("got %+v", runs)
	}
}

func TestVotesInARowAreOneEntry(t *testing.T) {
	t.Parallel()
	names := []string{
		"knowledge.remembered", "knowledge.found_helpful", "knowledge.found_harmful", "knowledge.feedback_retracted",
		"knowledge.revised", "knowledge.found_helpful",
	}
	var history []api.Event
	for i, name := range names {
		history = append(history, api.Event{Name: name, Version: int64(i + 1)})
	}
	steps := timeline(history, true)
	if len(steps) != 4 || len(steps[0].Votes) != 0 {
		t.Fatalf("got %+v", steps)
	}
	folded := steps[2]
	if len(folded.Votes) != 3 || folded.Count("knowledge.found_helpful") != 1 ||
		folded.Votes[0].Version != 4 {
		t.Errorf("got %+v", folded)
	}
}

func TestARevisionNamesOnlyWhatDiffers(t *testing.T) {
	t.Parallel()
	k := api.Knowledge{
		Type: "tool", Task: "t", Content: "one\r\ntwo", Abstract: "short", Scopes: []string{"team:pay", "public"}, Owner: "user:mia",
		Polarity: "positive", Tags: api.Tags{"domain": {"http"}, "labels": {"draft", "new"}},
	}
	values := revisableValues(k)
	for name, value := range values {
		values[name] = unixLines(value) // as browsers send it
	}
	if got := revision(k, values); len(got) != 0 {
		t.Errorf("nothing was changed, but %v", got)
	}
	values["content"], values["abstract"], values["scopes"], values["tags"] = "one\nthree", "", " public \n\n", "domain: http\nfinal"
	want := map[string]any{
		"content": "one\nthree", "abstract": nil, "scopes": []string{"public"},
		"tags": map[string]any{"domain": []string{"http"}, "labels": []string{"final"}},
	}
	if diff := cmp.Diff(want, revision(k, values)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	values["tags"] = ""
	if diff := cmp.Diff(any(map[string]any{"domain": nil, "labels": nil}), revision(k, values)["tags"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
