package text_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/annals-kb/annals/domain/text"
)

func TestADifferenceIsOfWordsAndOfChineseCharacters(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, before, after, want string }{
		{"nothing", "", "", ""},
		{"the same", "retry 429s", "retry 429s", "retry 429s"},
		{"all of it", "", "retry", "{+retry}"},
		{"nothing left", "retry", "", "[-retry]"},
		{"one word", "Retry 429s with jitter", "Retry 503s with jitter", "Retry [-429s]{+503s} with jitter"},
		{"a word more", "Retry with jitter", "Retry slowly with jitter", "Retry {+slowly }with jitter"},
		{"two words in a row", "call it once a day", "call it twice an hour", "call it [-once a day]{+twice an hour}"},
		{"chinese", "用户偏好 TypeScript，注重类型安全", "用户偏好 Go，注重类型安全", "用户偏好 [-TypeScript]{+Go}，注重类型安全"},
		{"one chinese character", "先停止写入", "先停止读入", "先停止[-写]{+读}入"},
		{"punctuation", "stop.", "stop!", "stop[-.]{+!}"},
		{"lines", "one\ntwo\nthree", "one\nthree", "one\n[-two\n]three"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := marked(text.Diff(test.before, test.after)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func marked(edits []text.Edit) string {
	var s strings.Builder
	for _, e := range edits {
		switch e.Op {
		case text.Removed:
			s.WriteString("[-" + e.Text + "]")
		case text.Added:
			s.WriteString("{+" + e.Text + "}")
		default:
			s.WriteString(e.Text)
		}
	}
	return s.String()
}

func TestADifferenceHasBothTexts(t *testing.T) {
	t.Parallel()
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "bb", "写", "入", " ", ", ", "\n", "😀", "\xff", "é"}), 0, 60)
	rapid.Check(t, func(t *rapid.T) {
		before := strings.Join(words.Draw(t, "before"), "")
		after := strings.Join(words.Draw(t, "after"), "")
		var was, is strings.Builder
		for _, e := range text.Diff(before, after) {
			if e.Op != text.Added {
				was.WriteString(e.Text)
			}
			if e.Op != text.Removed {
				is.WriteString(e.Text)
			}
		}
		if diff := cmp.Diff([]string{was.String(), is.String()}, []string{before, after}); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestLongTextsThatHaveNothingInCommonAreReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	before, after := strings.Repeat("old ", 4000), strings.Repeat("new\n", 4000)
	want := []text.Edit{{Op: text.Removed, Text: before}, {Op: text.Added, Text: after}}
	if diff := cmp.Diff(text.Diff(before, after), want); diff != "" {
		t.Error(diff)
	}
}
