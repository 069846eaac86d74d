package browsertest

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed testdata/axe.min.js
var axe string

// Axe checks the page, as it is now, with axe-core against WCAG 2.2 AA and its best practices. Each violation is an
// error of the test.
func (p *Page) Axe() {
	p.t.Helper()
	p.Eval(axe+"; 0", nil)
	var violations []struct {
		ID, Help string
		Nodes    []struct {
			Target         []any
			FailureSummary string
		}
	}
	p.Eval(`axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
		.then(result => result.violations)`, &violations)
	for _, v := range violations {
		var nodes strings.Builder
		for _, n := range v.Nodes {
			fmt.Fprintf(&nodes, "\n%v: %s", n.Target, n.FailureSummary)
		}
		p.t.Errorf("axe at %s: %s: %s%s", p.URL(), v.ID, v.Help, nodes.String())
	}
}
