package text_test

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/text"
)

const markdown = `# Rolling back

Stop the writers first, e.g. with Dr. Brown's script. Then restore the backup! It takes
ten minutes.

` + "```sh\nannals restore --from backup\n```" + `

## 中文说明

先停止写入。再恢复备份。最后验证。

- Tell the team
- Write it down
`

func TestAnAbstractIsWhatTheTextSaysFirst(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		text      string
		maxTokens int
		want      string
	}{
		{"nothing", "", 10, ""},
		{"short", "Prefers tabs.", 100, "Prefers tabs."},
		{"title and sentences", markdown, 22, "Rolling back: Stop the writers first, e.g. with Dr. Brown's script."},
		{"chinese", "先停止写入。再恢复备份。最后验证。", 12, "先停止写入。再恢复备份。"},
		{"lines become one", "one\ntwo\n\nthree", 100, "one two three"},
		{"no code", "```\ncode()\n```\nThe code above runs.", 100, "The code above runs."},
		{"nothing but code", "```\ncode()\n```", 100, "``` code() ```"},
		{"one long sentence", "one two three four five six seven eight nine ten", 6, "one two three four…"},
		{"one long chinese sentence", "先停止写入再恢复备份最后验证", 6, "先停止写入…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := text.Abstract(test.text, test.maxTokens); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAnOverviewHasTheHeadingsAndHowEachParagraphBegins(t *testing.T) {
	t.Parallel()
	const want = "# Rolling back\n\nStop the writers first, e.g. with Dr. Brown's script. Then restore the backup!\n\n" +
		"## 中文说明\n\n先停止写入。再恢复备份。\n\n- Tell the team\n- Write it down"
	if got := text.Overview(markdown, 56); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := text.Overview(markdown, 1000); got != markdown {
		t.Errorf("what fits became %q", got)
	}
}

func FuzzAbstractAndOverviewFit(f *testing.F) {
	for i, s := range append(samples, englishText, chineseText, codeText, markdown) {
		f.Add(s, i)
	}
	f.Fuzz(func(t *testing.T, s string, maxTokens int) {
		maxTokens = maxTokens%100 + 5
		if maxTokens < 5 {
			return
		}
		abstract, overview := text.Abstract(s, maxTokens), text.Overview(s, maxTokens)
		if got := text.Tokens(abstract); got > maxTokens {
			t.Errorf("an abstract of %d tokens, want at most %d: %q", got, maxTokens, abstract)
		}
		if got := text.Tokens(overview); got > maxTokens {
			t.Errorf("an overview of %d tokens, want at most %d: %q", got, maxTokens, overview)
		}
		if strings.Contains(abstract, "\n") {
			t.Errorf("the abstract %q has lines", abstract)
		}
		if strings.TrimSpace(s) != "" && abstract == "" {
			t.Errorf("%q has no abstract", s)
		}
	})
}
