package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// rooms are the packages, from the ground up: each imports only packages that stand before it.
const rooms = `
domain/text domain/text/compare domain/text/scrub domain domain/briefing
migrations
database database/databasetest
events/background events/codec events/signing events events/follow events/forward events/logtest events/proof
projections/rows projections/catalogue projections/people projections/keys projections/policies projections/sessions
projections/words projections/browse projections/erasure projections/embedding/lexicon projections/embedding/static projections/embedding/sentence projections/endpoint projections/embedding
 projections/knowledge projections/vectors projections/search projections/past projections/rebuild projections/quotas projections/review projections/contain projections
projections/projectiontest projections/extraction projections/subscriptions projections/receipts
http/api http/body http/egress http/document http/oidc http/client http/serve http/visible http/people http/keys
http/operate http/scrubbing http/sessions http/record http/proofs http/reports http/subscriptions http/receipts http/contain http/standby http http/servertest http/scim http/viking http/mcp
http/console http/console/browsertest
cmd/annals/terminal cmd/annals/backup cmd/annals/telemetry cmd/annals/serve cmd/annals/markdown cmd/annals/agents cmd/annals/foreign cmd/annals/knowledge cmd/annals/record cmd/annals/operate cmd/annals
scripts/availability scripts/bench scripts/budget scripts/trace
`

func TestARoomImportsOnlyFromThoseBelowIt(t *testing.T) {
	t.Parallel()
	const module = "github.com/annals-kb/annals/"
	list := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	order := strings.Fields(rooms)
	for line := range strings.Lines(string(out)) {
		name, imports, _ := strings.Cut(strings.TrimSpace(line), " ")
		name = strings.TrimPrefix(name, module)
		at := slices.Index(order, name)
		if at < 0 {
			t.Errorf("%s stands in no room: name it in the list above, or move what it holds", name)
			continue
		}
		for imported := range strings.FieldsSeq(imports) {
			below, ours := strings.CutPrefix(imported, module)
			if ours && slices.Index(order, below) > at {
				t.Errorf("%s must not import %s, which stands above it: pass in what it needs", name, below)
			}
		}
	}
}
