package text_test //nolint:lll // tables of test data

import (
	"fmt"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain/text"
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
		{
			"headings and lists", "# Runbook\n\n## Steps:\n\n1. Drain the node.\n2. Reboot it\n\n### Checks\n\n- [ ] pods run\n- no alerts\n", 100,
			"Runbook: Steps: 1. Drain the node. 2. Reboot it Checks: pods run; no alerts",
		},
		{"no heading at the end", "# Runbook\n\nWhat to do when a node fails.\n\n## Steps 1.\n\n1. Drain the node and wait until all its pods have moved elsewhere.\n", 14, "Runbook: What to do when a node fails."},
		{"a long sentence under a heading", "# Title\n\n" + strings.Repeat("word ", 100), 6, "Title: word word word…"},
		{"front matter", "---\nname: x\n---\n# Skill\n\nBuilds it.\n", 100, "Skill: Builds it."},
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

func TestAPassageIsTheSectionThatIsAskedFor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		query     string
		sections  int
		maxTokens int
		want      string
	}{
		"all of it":       {"anything", 1, 1000, "Rolling back:\nStop the writers first, e.g. with Dr. Brown's script. Then restore the backup! It takes\nten minutes.\n```sh\nannals restore --from backup\n```\nRolling back › 中文说明:\n先停止写入。再恢复备份。最后验证。\n- Tell the team\n- Write it down"},
		"a section":       {"恢复备份", 2, 40, "Rolling back › 中文说明:\n先停止写入。再恢复备份。最后验证。\n- Tell the team\n- Write it down"},
		"nothing matches": {"zygomorphic", 2, 40, ""},
	} {
		if got := text.Passage(markdown, test.query, test.sections, test.maxTokens); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestAPassageHasAsManySectionsAsWanted(t *testing.T) {
	t.Parallel()
	var runbook strings.Builder
	for i := range 9 {
		fmt.Fprintf(&runbook, "## Node %d\n\nRestart node %d.\n\nThen call the next person.\n\n", i, i)
	}
	for _, sections := range []int{1, 2, 9} {
		passage := text.Passage(runbook.String(), "which person restarts it?", sections, 100)
		if got := strings.Count(passage, "Then call"); got != min(sections, 6) || strings.Count(passage, "Restart node") != got {
			t.Errorf("want %d sections, got %d:\n%s", sections, got, passage)
		}
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
		if passage := text.Passage(s, "retry the upload", 2, maxTokens); text.Tokens(passage) > maxTokens {
			t.Errorf("a passage of %d tokens, want at most %d: %q", text.Tokens(passage), maxTokens, passage)
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
