package terminal

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/annals-kb/annals/http/servertest"
)

// listed is what a list prints on a terminal of this width.
func listed(t *testing.T, width int, flags Tabular) []string {
	t.Helper()
	g := NewTable("REMEMBERED", "TYPE", "SCOPE", "OWNER", "ID", "KNOWLEDGE")
	g.Spare = []string{"REMEMBERED", "OWNER", "TYPE"}
	g.Row("2026-03-01 09:30:00Z", "strategy · patterns", "project:456, public", "user:123",
		"01a1fe44-b7e6-714e-9df0-cd6cd361d3b9", strings.Repeat("Retry 429s with jitter. ", 9))
	g.Row("2026-03-01 09:30:00Z", "tool", "public", "user:用户编码风格", "retry-advice", strings.Repeat("用户偏好使用 TypeScript ", 9))
	var out bytes.Buffer
	if err := flags.Show(&Console{Out: &out, Styled: &out, Err: &out, Width: width}, g); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(ansi.Strip(out.String()), "\n"), "\n")
}

func TestAListHasOneLinePerItemAndNamesIt(t *testing.T) {
	t.Parallel()
	for _, width := range []int{60, 80, 120, 400, Unbounded} {
		lines := listed(t, width, Tabular{})
		if len(lines) != 3 {
			t.Fatalf("width %d: %d lines, want 3:\n%s", width, len(lines), strings.Join(lines, "\n"))
		}
		for i, line := range lines {
			if ansi.StringWidth(line) > width {
				t.Errorf("width %d: a line of %d columns: %s", width, ansi.StringWidth(line), line)
			}
			if id := []string{"ID", "01a1fe44-b7e6-714e-9df0-cd6cd361d3b9", "retry-advice"}[i]; !strings.Contains(line,
				id[:min(len(id), width-41)]) {
				t.Errorf("width %d: %s is not in %s", width, id, line)
			}
		}
		servertest.Same(t, strings.Contains(lines[1], "…"), width < 400, width, lines[1])
	}
}

func TestAListShowsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	if got, want := listed(t, 40,
		Tabular{Quiet: true}), "01a1fe44-b7e6-714e-9df0-cd6cd361d3b9\nretry-advice"; strings.Join(got, "\n") != want {
		t.Errorf("--quiet: %q, want %q", got, want)
	}
	if got, want := listed(t, 80,
		Tabular{Columns: []string{"id", "OWNER"}})[2], "retry-advice                          user:用户编码风格"; got != want {
		t.Errorf("--columns: %q, want %q", got, want)
	}
	if got := listed(t, 80, Tabular{Wide: true})[1]; strings.Contains(got, "…") || !strings.Contains(got, "user:123") {
		t.Errorf("--wide: %s", got)
	}
	err := Tabular{Columns: []string{"size"}}.Show(&Console{}, NewTable("ID"))
	if f := AsFailure(err); f.Code != ExitUsage || f.Fix != "the columns are id" {
		t.Errorf("an unknown column: %+v", f)
	}
}

func TestWrappedTextBreaksNoID(t *testing.T) {
	t.Parallel()
	const id = "01a1fe44-b7e6-714e-9df0-cd6cd361d3b9"
	g := NewTable("", "")
	g.Row("why", "it follows from "+id+", which was confirmed, 用户偏好使用用户偏好使用用户偏好使用")
	var out bytes.Buffer
	(&Console{Styled: &out, Width: 30}).Table(g)
	for line := range strings.SplitSeq(out.String(), "\n") {
		if ansi.StringWidth(line) > 30 && !strings.Contains(line, id) {
			t.Errorf("too wide: %q", line)
		}
		if strings.Contains(line, "01a1") && !strings.Contains(line, id) {
			t.Errorf("broken: %q", line)
		}
	}
}

// One long id takes no space from what the other rows say, and a mark is never cut.
func TestALongIDLeavesRoomForMarksAndText(t *testing.T) {
	t.Parallel()
	const uuid = "01a1fe44-b7e6-714e-9df0-cd6cd361d3b9"
	for _, long := range []int{41, 95} {
		for name, g := range map[string]*Table{
			"list": {
				heads: []string{"REMEMBERED", "TYPE", "SCOPE", "OWNER", "ID", Mark, "KNOWLEDGE"},
				Spare: []string{"REMEMBERED", "OWNER", "TYPE"},
			},
			"search": {heads: []string{"SCORE", "SCOPE", "VOTES", "ID", Mark, "KNOWLEDGE"}},
			"stale": {
				heads: []string{"REPORTS", "LAST", "CONFIDENCE", "ID", Mark, "WHY"},
				Spare: []string{"WHO", "LAST", "WHEN"},
			},
			"erase": {heads: []string{"", "ID", "OWNER", "STATUS", "WHY"}, Spare: []string{"STATUS"}},
			"log":   {heads: []string{"#", "WHEN", "WHAT", "WHO", "STREAM"}, Spare: []string{"WHO", "WHEN"}},
		} {
			id := "runbook-" + strings.Repeat("x", long-8)
			said := strings.Repeat("Retry 429s with jitter. ", 9)
			const when = "2026-03-01 09:30:00Z"
			cells := map[string][2]string{
				"REMEMBERED": {when, when}, "LAST": {when, when}, "WHEN": {when, when}, "KNOWLEDGE": {said, said},
				"WHY": {said, said}, "OWNER": {"user:123", "user:1"},
				"TYPE": {"strategy · patterns", "tool"}, "SCOPE": {"project:456, public", "public"},
				"ID": {id, uuid}, Mark: {"contested, stale", ""}, "SCORE": {"0.50", "0.40"}, "VOTES": {"+0 -2", "+0 -0"},
				"REPORTS": {"2", "1"}, "CONFIDENCE": {"0.13", "0.50"}, "": {"erase", "stays"}, "STATUS": {"active", "active"},
				"#": {"10", "9"}, "WHAT": {"found helpful", "found harmful"}, "WHO": {"agent:crawler for user:123", "user:1"},
				"STREAM": {"knowledge:" + id, "knowledge:" + uuid},
			}
			for row := range 2 {
				var line []any
				for _, head := range g.heads {
					line = append(line, cells[head][row])
				}
				g.Row(line...)
			}
			for _, flags := range []Tabular{{}, {Wide: true}, {Quiet: true}} {
				var out bytes.Buffer
				if err := flags.Show(&Console{Out: &out, Styled: &out, Err: &out, Width: 80}, g); err != nil {
					t.Fatal(err)
				}
				got := ansi.Strip(out.String())
				if whole := strings.Contains(got, id); long == 95 && whole != (flags.Wide || flags.Quiet && name != "log") {
					t.Errorf("%s, %+v: the whole id is shown: %v\n%s", name, flags, whole, got)
				}
				if flags.Quiet {
					continue
				}
				wanted := map[string][]string{
					"list":   {"contested, stale", "Retry 4", "runbook-xxx", "public"},
					"search": {"contested, stale", "Retry 4", "runbook-xxx", "public"},
					"stale":  {"contested, stale", "Retry 429s", "runbook-xxx"},
					"erase":  {"erase", "stays", "Retry 429s", "runbook-xxx"},
					"log":    {"found helpful", "found harmful", "knowledge:runbook-xxx"},
				}
				for _, want := range wanted[name] {
					if !strings.Contains(got, want) {
						t.Errorf("%s, %+v: %q is missing in\n%s", name, flags, want, got)
					}
				}
			}
		}
	}
}

func TestProseIsWrappedBetweenWordsOnATerminalOnly(t *testing.T) {
	t.Parallel()
	const said = "  2,000 items, the words and pieces of them, and " +
		"https://example.com/a-path-that-is-longer-than-the-rest-of-a-line-of-this-terminal are what the log says"
	for width, want := range map[int]string{
		40: "  2,000 items, the words and pieces of\n  them, and\n  " +
			"https://example.com/a-path-that-is-longer-than-the-rest-of-a-line-of-this-terminal\n  are what the log says\n",
		0: said + "\n", Unbounded: said + "\n",
	} {
		var out, err bytes.Buffer
		c := &Console{Styled: &out, Err: &err, Width: width, ErrWidth: width}
		c.Say("%s", said)
		c.Note("%s", said)
		if out.String() != want || err.String() != want {
			t.Errorf("width %d: got %q and %q, want %q", width, &out, &err, want)
		}
		if got := c.Indented(strings.TrimSpace(said), "  "); width == 40 && got+"\n" != want {
			t.Errorf("indented: got %q, want %q", got, want)
		}
	}
}
