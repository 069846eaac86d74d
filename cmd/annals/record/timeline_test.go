package record

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/servertest"
)

func TestAChangeIsCutAroundWhatDiffers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after, want string }{
		{
			"Retry 429s with jitter, at most three times", "Retry 429s with jitter, at most five times",
			"…most three tim… → …most five times",
		},
		{"重试要有抖动，而且最多三次，不能再多", "重试要有抖动，而且最多五次，不能再多", "…最多三次，不能… → …最多五次，不能…"},
		{"tabs", "spaces", "tabs → spaces"},
		{"Retry at once, as often as you like", "Wait a moment and only then retry", "Retry at once, … → Wait a moment a…"},
	} {
		line := changeLine(api.Change{Field: "content", Before: c.before, After: c.after}, 7, 44)
		servertest.Same(t, strings.TrimPrefix(ansi.Strip(string(line)), "content  "), c.want)
	}
}

func TestAChangeOfAnObjectNamesTheKeysThatDiffer(t *testing.T) {
	t.Parallel()
	const long = `"a":"a value that is long enough to push everything else out of sight","b":"and another one like it"`
	for _, c := range []struct{ before, after, want string }{
		{
			`{"build":1234567,"order":20231105001,"n":null}`, `{"build":1234568}`,
			"build=1234567 · n=null · order=20231105001 → build=1234568",
		},
		{`{` + long + `,"fell":41,"t":true}`, `{` + long + `,"fell":42,"t":true}`, "fell=41 → fell=42"},
		{`{"in":{` + long + `,"n":1}}`, `{"in":{` + long + `,"n":2}}`, "in=n=1 → in=n=2"},
		{`{"e":1e400}`, `{"e":1e400,"a":1}`, "— → a=1"},
		{`{"e":1e400,"a":1}`, `{"e":1e400}`, "a=1 → —"},
		{`{"a":0.10}`, `{"a":0.1}`, "a=0.10 → a=0.1"},
		{`{"a":1}`, `{"a":"1"}`, `{"a":1} → {"a":"1"}`},
		{`{"a":1}`, `{}`, "a=1 → —"},
		{`{"a":1}`, `null`, "a=1 → —"},
		{`null`, `{"a":null}`, "a=null"},
	} {
		line := changeLine(api.Change{
			Field: "meta", Before: terminal.Decoded(json.RawMessage(c.before)),
			After: terminal.Decoded(json.RawMessage(c.after)),
		}, 4, 120)
		servertest.Same(t, strings.TrimPrefix(ansi.Strip(string(line)), "meta  "), c.want, c.before, c.after)
	}
}

func TestMetaIsPrintedAsItWasWritten(t *testing.T) {
	t.Parallel()
	const written = `{"e":1e400,"a":1234567,"x":0.30000000000000004,"n":null,"s":"","l":[1,null,2.50],"o":{},"big":20231105001}`
	want := `a=1234567 · big=20231105001 · e=1e400 · l=1, null, 2.50 · n=null · o={} · s="" · x=0.30000000000000004`
	servertest.Same(t, terminal.Compact(json.RawMessage(written)), want)
}
