package knowledge

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
)

func TestAHitWithoutAVectorSaysThatMeaningIsStillToCome(t *testing.T) {
	t.Parallel()
	var h api.Hit
	h.Parts.Lexical = 0.4
	for pending, want := range map[bool]string{
		false: "meaning 0.00 · words 0.40",
		true:  "meaning not computed yet · words 0.40",
	} {
		h.Parts.Pending = pending
		if got := howScored(h); !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWhatIsOnlyNearStandsBelowALine(t *testing.T) {
	t.Parallel()
	hit := func(id, band string) api.Hit {
		return api.Hit{Knowledge: &api.Knowledge{ID: id, Content: "Ask " + id}, Band: band, Scope: "team:pay"}
	}
	one, two, three := hit("one", "sure"), hit("two", "perhaps"), hit("three", "perhaps")
	const nobody = "nobody has written this; nearest:"
	lines := regexp.MustCompile(`(?m)^(0\.00 .*(one|two|three)\b.*|perhaps:|nobody .*|(one|two|three)$)`)
	for _, c := range []struct {
		name  string
		width int
		list  terminal.Tabular
		items []api.Hit
		want  []string
	}{
		{"wide, some sure", 160, terminal.Tabular{}, []api.Hit{one, two, three}, []string{"one", "perhaps:", "two", "three"}},
		{"narrow, some sure", 80, terminal.Tabular{}, []api.Hit{one, two, three}, []string{"one", "perhaps:", "two", "three"}},
		{"ids, some sure", 80, terminal.Tabular{Quiet: true}, []api.Hit{one, two, three}, []string{"one", "two", "three"}},
		{"wide, none sure", 160, terminal.Tabular{}, []api.Hit{two, three}, []string{nobody, "two", "three"}},
		{"narrow, none sure", 80, terminal.Tabular{}, []api.Hit{two, three}, []string{nobody, "two", "three"}},
		{"ids, none sure", 80, terminal.Tabular{Quiet: true}, []api.Hit{two, three}, []string{"two", "three", nobody}},
		{"all sure", 80, terminal.Tabular{}, []api.Hit{one}, []string{"one"}},
		{"without bands", 80, terminal.Tabular{}, []api.Hit{hit("one", ""), hit("two", "")}, []string{"one", "two"}},
	} {
		var out bytes.Buffer
		answer := api.SearchAnswer{Items: c.items, Weak: c.items[0].Band == "perhaps"}
		console := &terminal.Console{Out: &out, Styled: &out, Err: &out, Width: c.width, ErrWidth: c.width}
		if err := printAnswer(console, answer, c.list, false); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, found := range lines.FindAllStringSubmatch(ansi.Strip(out.String()), -1) {
			if found[2] != "" {
				found[1] = found[2]
			}
			got = append(got, found[1])
		}
		if diff := cmp.Diff(got, c.want); diff != "" {
			t.Errorf("%s: (-got +want)\n%s%s", c.name, diff, out.String())
		}
	}
}
