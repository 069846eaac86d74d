package proof_test

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
)

func TestEachLineOfAnExcerptProvesItself(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db)
		w.live(5)
		w.grow()
		w.live3()
		votes := &domain.EventQuery{Names: []string{"knowledge.found_helpful"}}
		excerpt := func(x domain.Export) []string {
			x.Chosen, x.Asked = votes, map[string]string{"name": "knowledge.found_helpful"}
			return w.export(x)
		}
		for _, x := range []domain.Export{{Texts: true}, {}, {After: 3, Through: 17, Texts: true}} {
			lines := excerpt(x)
			report := w.verifyLines(lines...)
			finds(t, report)
			if report.Events() != int64(len(lines)-1) || len(lines) < 4 || report.Tenants[0].Signed == 0 ||
				!strings.Contains(strings.Join(report.Unchecked, "; "), "nothing is left out") {
				t.Errorf("%+v: of %d lines got %+v, unchecked %q", x, len(lines), report.Tenants[0], report.Unchecked)
			}
			for _, line := range lines[:len(lines)-1] {
				if !strings.Contains(line, `"name":"knowledge.found_helpful"`) {
					t.Errorf("chosen is %s", line)
				}
			}
		}

		tampered := func(line int, from, to string) []string {
			lines := excerpt(domain.Export{Texts: true})
			changed := strings.Replace(lines[line], from, to, 1)
			if changed == lines[line] {
				t.Errorf("line %d has no %q: %s", line, from, lines[line])
			}
			lines[line] = changed
			return lines
		}
		finds(t, w.verifyLines(tampered(1, `"actor":"user:default"`, `"actor":"user:defaulu"`)...), "hash ")
		finds(t, w.verifyLines(tampered(1, `worked`, `worker`)...), "text ")
		finds(t, w.verifyLines(tampered(1, `"path":["`, `"path":["x`)...), "tree ")
		finds(t, w.verifyLines(tampered(1, `"path":[`, `"past":[`)...), "export ")
		lines := excerpt(domain.Export{Texts: true})
		finds(t, w.verifyLines(append([]string{lines[1]}, lines[1:]...)...), "order ")
		finds(t, w.verifyLines(lines[1:]...), "export ")
		finds(t, w.verifyLines(lines[:len(lines)-1]...), "export 0 the file breaks off") // without its manifest

		finds(t, w.verifyLines(lines...))
		w.key = newKey(t, "annals.example")
		finds(t, w.verifyLines(lines...), "signature ")
	})
}
