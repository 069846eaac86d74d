package briefing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// found are items as searches give them, "id aspect text".
func found(lines ...string) *selection {
	s := &selection{need: domain.Need{By: domain.OpenPrincipal()}}
	for _, line := range lines {
		id, rest, _ := strings.Cut(line, " ")
		aspect, said, _ := strings.Cut(rest, " ")
		k := &domain.Knowledge{ID: id, ContextType: domain.Memory, Owner: "user:default", Text: domain.Text{Content: said}}
		switch domain.Aspect(aspect) {
		case domain.Preferences:
			k.Type = domain.UserProfile
		case domain.Skills:
			k.ContextType = domain.Skill
		case domain.Cases:
			k.Type = domain.Usecase
		case domain.Tools:
			k.Type = domain.Tool
		case domain.Failures:
			k.Polarity = domain.Negative
		}
		s.add(domain.Found{Knowledge: k, Hit: domain.Hit{Candidate: domain.Candidate{ID: id}}})
	}
	return s
}

func TestABriefingHasASectionForEachKind(t *testing.T) {
	t.Parallel()
	b := compose(found(
		"t tools xlsx_to_csv fails on .xlsm",
		"p preferences Prefers bar charts\n\n## AVOID\n- nothing",
		"q preferences Saves XLSX, not CSV",
		"n antipatterns Do not parse xlsx with a regular expression",
		"s skills sales-dashboard-builder: eight steps",
		"c cases Cleaned NaN rows before adding up",
		"d cases Another case",
	).best(), "", 1800, "")
	want := `## User Preferences

- Prefers bar charts
  AVOID:
  - nothing
- Saves XLSX, not CSV

## Skills

- sales-dashboard-builder: eight steps

## Similar Cases

- Cleaned NaN rows before adding up
- Another case

## Tools

- xlsx_to_csv fails on .xlsm

## Pitfalls

- Do not parse xlsx with a regular expression
`
	if diff := cmp.Diff(b.Injection, want); diff != "" {
		t.Error(diff)
	}
	want = `User prefers: Prefers bar charts ## AVOID - nothing
User prefers: Saves XLSX, not CSV
Skill that fits: sales-dashboard-builder: eight steps
Similar case: Cleaned NaN rows before adding up
Pitfall: Do not parse xlsx with a regular expression
`
	if diff := cmp.Diff(b.Hints, want); diff != "" {
		t.Error(diff)
	}
}

func TestNothingKnownIsNothingSaid(t *testing.T) {
	t.Parallel()
	if b := compose(nil, "", 1800, ""); b.Injection != "" || b.Hints != "" || b.Tokens != 0 {
		t.Errorf("got %+v", b)
	}
}

func TestWhatSaysTheSameIsToldOnce(t *testing.T) {
	t.Parallel()
	best := found("a tools Use  curl -f", "b tools use curl\n-f", "a tools something else", "c patterns USE CURL -F", "d tools Another").best()
	var ids []string
	for _, item := range best {
		ids = append(ids, item.ID)
	}
	if diff := cmp.Diff(ids, []string{"a", "d"}); diff != "" {
		t.Error(diff)
	}
}

func TestWhatAnotherItemSaysAsWellIsToldOnce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ items, want []string }{
		"another says more":     {[]string{"a cases Problem: it hangs. Fix: use curl -f. Then retry.", "b patterns Use curl -f"}, []string{"a"}},
		"more comes later":      {[]string{"a cases Use curl -f.", "b cases Fix: use curl -f"}, []string{"b"}},
		"in Chinese":            {[]string{"a cases 问题：下载卡住。解决：升级驱动。", "b patterns 升级驱动"}, []string{"a"}},
		"the opposite":          {[]string{"a patterns Do not use curl", "b patterns Use curl"}, []string{"a", "b"}},
		"more than a statement": {[]string{"a patterns Use curl with care", "b patterns Use curl"}, []string{"a", "b"}},
		"a number goes on":      {[]string{"a tools Port: 1.5", "b tools Port: 1"}, []string{"a", "b"}},
		"what failed":           {[]string{"a patterns Use curl", "b antipatterns Failed: use curl"}, []string{"a", "b"}},
	} {
		var ids []string
		for _, item := range found(test.items...).best() {
			ids = append(ids, item.ID)
		}
		if diff := cmp.Diff(ids, test.want); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestConversationsAreNoLessons(t *testing.T) {
	t.Parallel()
	s := found("archive cases The chromedriver does not start", "case cases Upgrade Chrome", "note patterns Something noted in a session")
	s.items[0].Knowledge.Text.URI = domain.ArchiveURI("user:mia", "run-7", 1)
	s.items[2].Knowledge.Text.URI = "viking://session/mia/run-7/notes.md"
	var ids []string
	for _, item := range s.best() {
		ids = append(ids, item.ID)
	}
	if diff := cmp.Diff(ids, []string{"case", "note"}); diff != "" {
		t.Error(diff)
	}
}

// However little room there is, every kind comes before the second best of any, and no limit is passed.
func TestABriefingKeepsToItsTokens(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, aspect := range domain.Aspects {
		for i := range 5 {
			lines = append(lines, fmt.Sprintf("%s%d %s %s number %d %s", aspect, i, aspect, aspect, i, strings.Repeat("说明 and words ", 3*i)))
		}
	}
	all := found(lines...).best()
	before := 0
	for tokens := domain.MinTokens; tokens < 900; tokens += 10 {
		b := compose(all, "", tokens, "")
		if b.Tokens > tokens || b.HintTokens > min(tokens, hintTokens) || b.Tokens != text.Tokens(b.Injection) {
			t.Fatalf("%d tokens and %d of hints, of %d", b.Tokens, b.HintTokens, tokens)
		}
		kinds, told := map[domain.Aspect]bool{}, 0
		for _, item := range b.Items {
			if item.Told {
				told++
				kinds[item.Aspect] = true
			}
		}
		if told == 0 || told > 6 && len(kinds) < 6 {
			t.Fatalf("with %d tokens: %d items of %d kinds", tokens, told, len(kinds))
		}
		before = max(before, told)
	}
	if b := compose(all, "", domain.MaxTokens, ""); before > len(b.Items) || strings.Count(b.Injection, "\n- ") != len(b.Items) {
		t.Errorf("with room for all of %d items:\n%s", len(b.Items), b.Injection)
	}
}

func TestALongItemIsToldByItsAbstractAndADoubtfulOneWithTheDoubt(t *testing.T) {
	t.Parallel()
	s := found("long patterns " + strings.Repeat("A sentence about retries. ", 100))
	s.items[0].Knowledge.Stale.Reporters, s.items[0].Knowledge.Confidence = 1, 0.25
	s.items[0].Knowledge.Text.URI = "viking://agent/memories/patterns/long.md"
	told := s.best()[0]
	bullet := told.bullet(told.line)
	if text.Tokens(bullet) > said+30 || !strings.HasSuffix(bullet, " (reported stale by 1) <viking://agent/memories/patterns/long.md>") {
		t.Errorf("%d tokens: %s", text.Tokens(bullet), bullet)
	}
	if content := told.Knowledge.Text.Content; text.Tokens(content) > said {
		t.Errorf("the item brings along %d tokens: %s", text.Tokens(content), content)
	}
}

func TestAContestedItemStandsApartWithItsCounts(t *testing.T) {
	t.Parallel()
	s := found("good patterns Drain the queue first", "bad patterns Restart the queue", "pit antipatterns Edit the queue by hand")
	for _, item := range s.items[1:] {
		item.Knowledge.Helpful, item.Knowledge.Harmful, item.Knowledge.Confidence = 1, 3, 0.125
	}
	b := compose(s.best(), "the queue", 1800, "")
	want := `## Procedures

- Drain the queue first

## Contested: do not rely on

- Restart the queue (0 helpful, 3 harmful)
- [pitfall] Edit the queue by hand (0 helpful, 3 harmful)
`
	if diff := cmp.Diff(b.Injection, want); diff != "" || b.Hints != "" {
		t.Error(b.Hints, diff)
	}
}

func TestALongItemIsToldByTheSectionThatIsAskedFor(t *testing.T) {
	t.Parallel()
	runbook := "# Database failover\n\nWhat to do when the primary is away.\n"
	for i := range 40 {
		runbook += fmt.Sprintf("\n## Chapter %d\n\n1. Open the page of chapter %d.\n2. Read what it says, slowly.\n3. Close it.\n", i, i)
	}
	runbook += "\n## Promoting the replica\n\n1. Fence the primary.\n2. Run `promote` on the replica:\n\n```sh\npromote --now\n```\n"
	s := found("short patterns Call the database team before a failover")
	s.items = append(s.items, found("long patterns -").items...)
	s.items[1].Knowledge.Text.Content = runbook
	s.items[1].Knowledge.Text.URI = "viking://agent/memories/patterns/failover.md"
	best := s.best()
	b := compose(best, "how do I promote the replica?", 300, "")
	want := `## Procedures

- Call the database team before a failover
- Database failover › Promoting the replica:
  1. Fence the primary.
  2. Run ` + "`promote`" + ` on the replica:
  ` + "```sh" + `
  promote --now
  ` + "```" + `
  <viking://agent/memories/patterns/failover.md>
`
	if diff := cmp.Diff(b.Injection, want); diff != "" {
		t.Error(diff)
	}
	if b := compose(best, "how do I promote the replica?", domain.MaxTokens, ""); !strings.Contains(b.Injection, "Close it.\n  Database failover › Chapter 7:\n") {
		t.Errorf("with room for all of it:\n%s", b.Injection)
	}
}
