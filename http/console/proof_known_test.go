package console_test

import (
	"strings"
	"testing"
)

func TestThePageVerifiesAReportOfWhatWasKnown(t *testing.T) {
	eachProving(t, func(t *testing.T, p *proving) {
		_, file := p.ask("/console/reports/known/file?about=staging&on=today")
		p.open()
		p.drop(file)
		p.WaitFor("#verdict.good")
		containsAll(t, p.Text("#reported ul"), "knowledge.remembered", "In the cellar.")
		p.Axe()
		for step, change := range map[string]func(string) string{
			"record": func(s string) string { return strings.Replace(s, `In the cellar.\"`, `In the attic.\"`, 1) },
			"path":   func(s string) string { return strings.Replace(s, `"path":[`, `"path":["AAAA"`, 1) },
		} {
			changed := change(file)
			p.drop(changed)
			if got := p.failed(); got != step || changed == file {
				t.Errorf("failed: %s, want %s", got, step)
			}
		}
	})
}
