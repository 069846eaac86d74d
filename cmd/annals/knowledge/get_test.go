package knowledge

import (
	"bytes"
	"strings"
	"testing"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
)

func TestGetBreaksNoWordThatIsShorterThanALine(t *testing.T) {
	t.Parallel()
	const url, uri = "https://example.com/a-page/with-hyphens-in-its-name", "viking://user/default/memories/skills/01a1fe44-b7e6-714e-9df0-cd6cd361d3b9.md"
	var out bytes.Buffer
	k := Knowledge{Knowledge: api.Knowledge{
		ID: "x", Content: "The deploy window of the web team is described at " + url, URI: uri,
		Eval: &api.Eval{Harmful: new(3), Confidence: new(0.12)},
	}}
	k.Print(&terminal.Console{Styled: &out, Width: 80})
	for _, want := range []string{
		"\n  " + url + "\n", "uri         " + uri + "\n",
		" · 0 helpful, 3 harmful · contested\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
}
