package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// listed is what a list prints on a terminal of this width.
func listed(t *testing.T, width int, flags tabular) []string {
	t.Helper()
	g := &grid{
		heads: []string{"REMEMBERED", "TYPE", "SCOPE", "OWNER", "ID", "KNOWLEDGE"},
		spare: []string{"REMEMBERED", "OWNER", "TYPE"},
	}
	g.row("2026-03-01 09:30:00Z", "strategy · patterns", "project:456, public", "user:123", "01a1fe44-b7e6-714e-9df0-cd6cd361d3b9", strings.Repeat("Retry 429s with jitter. ", 9))
	g.row("2026-03-01 09:30:00Z", "tool", "public", "user:用户编码风格", "retry-advice", strings.Repeat("用户偏好使用 TypeScript ", 9))
	var out bytes.Buffer
	if err := flags.show(&console{out: &out, styled: &out, err: &out, width: width}, g); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(ansi.Strip(out.String()), "\n"), "\n")
}

func TestAListHasOneLinePerItemAndCutsNoID(t *testing.T) {
	t.Parallel()
	for _, width := range []int{60, 80, 120, 400, unbounded} {
		lines := listed(t, width, tabular{})
		if len(lines) != 3 {
			t.Fatalf("width %d: %d lines, want 3:\n%s", width, len(lines), strings.Join(lines, "\n"))
		}
		for i, line := range lines {
			if ansi.StringWidth(line) > width {
				t.Errorf("width %d: a line of %d columns: %s", width, ansi.StringWidth(line), line)
			}
			if id := []string{"ID", "01a1fe44-b7e6-714e-9df0-cd6cd361d3b9", "retry-advice"}[i]; !strings.Contains(line, id) {
				t.Errorf("width %d: %s is not in %s", width, id, line)
			}
		}
		if cut := strings.Contains(lines[1], "…"); cut != (width < 400) {
			t.Errorf("width %d: cut is %v: %s", width, cut, lines[1])
		}
	}
}

func TestAListShowsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	if got, want := listed(t, 40, tabular{Quiet: true}), "01a1fe44-b7e6-714e-9df0-cd6cd361d3b9\nretry-advice"; strings.Join(got, "\n") != want {
		t.Errorf("--quiet: %q, want %q", got, want)
	}
	if got, want := listed(t, 80, tabular{Columns: []string{"id", "OWNER"}})[2], "retry-advice                          user:用户编码风格"; got != want {
		t.Errorf("--columns: %q, want %q", got, want)
	}
	if got := listed(t, 80, tabular{Wide: true})[1]; strings.Contains(got, "…") || !strings.Contains(got, "user:123") {
		t.Errorf("--wide: %s", got)
	}
	err := tabular{Columns: []string{"size"}}.show(&console{}, &grid{heads: []string{"ID"}})
	if f := asFailure(err); f.Code != exitUsage || f.Fix != "the columns are id" {
		t.Errorf("an unknown column: %+v", f)
	}
}

func TestWrappedTextBreaksNoID(t *testing.T) {
	t.Parallel()
	const id = "01a1fe44-b7e6-714e-9df0-cd6cd361d3b9"
	g := &grid{heads: []string{"", ""}}
	g.row("why", "it follows from "+id+", which was confirmed, 用户偏好使用用户偏好使用用户偏好使用")
	for line := range strings.SplitSeq(g.render(30), "\n") {
		if ansi.StringWidth(line) > 30 && !strings.Contains(line, id) {
			t.Errorf("too wide: %q", line)
		}
		if strings.Contains(line, "01a1") && !strings.Contains(line, id) {
			t.Errorf("broken: %q", line)
		}
	}
}
