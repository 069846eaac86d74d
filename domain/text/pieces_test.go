package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain/text"
)

func TestPiecesEndWhereTheTextPauses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		maxTokens int
		pieces    []string
	}{
		{"nothing", 10, nil},
		{"what fits stays whole", 100, []string{"One. Two.\n\nThree."}},
		{"paragraphs", 10, []string{"One two three four five.\n\n", "Six seven eight nine ten."}},
		{"sentences", 9, []string{"One two three four. ", "Five six seven, e.g. eight. ", "Nine!"}},
		{"chinese sentences", 9, []string{"第一步停止写入。", "第二步恢复备份！”", "完成。"}},
		{"lines of code", 12, []string{"```go\na := one()\n", "b := two()\nc()\n```\n"}},
		{"items", 6, []string{"- the first item here\n", "- the second item here\n", "- 3"}},
		{"words", 3, []string{"one two ", "three four ", "five"}},
		{"characters", 2, []string{"数据", "库迁", "移"}},
		{"a heading stays with what it heads", 16, []string{
			"Introduction of a few words here.\n\n", "# Title\n\nText under the title of six words.\n",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := text.Pieces(strings.Join(test.pieces, ""), test.maxTokens)
			if diff := cmp.Diff(got, test.pieces); diff != "" {
				t.Errorf("got - want +:\n%s", diff)
			}
		})
	}
}

func FuzzPieces(f *testing.F) {
	for i, s := range append(samples, englishText, chineseText, codeText, markdown) {
		f.Add(s, i)
	}
	f.Fuzz(func(t *testing.T, s string, maxTokens int) {
		maxTokens %= 40
		pieces := text.Pieces(s, maxTokens)
		if got := strings.Join(pieces, ""); got != s {
			t.Errorf("joined %q, want %q", got, s)
		}
		for _, piece := range pieces {
			if utf8.ValidString(s) && !utf8.ValidString(piece) {
				t.Errorf("a character was cut in %q", piece)
			}
			if got := text.Tokens(piece); got > max(maxTokens, 1) && utf8.RuneCountInString(piece) > 1 {
				t.Errorf("a piece of %d tokens, want at most %d: %q", got, maxTokens, piece)
			}
		}
	})
}
