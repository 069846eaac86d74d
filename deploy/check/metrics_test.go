package check

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"
)

var promql = parser.NewParser(parser.Options{})

// TestQueriesAskForWhatAServerShows needs the name of a file with the metrics of a server: see deploy/test.sh.
func TestQueriesAskForWhatAServerShows(t *testing.T) {
	all := series(t, os.Getenv("ANNALS_METRICS"))
	var file struct {
		Panels []struct {
			Targets []struct{ Expr, LegendFormat string }
		}
		Groups []struct {
			Rules []struct {
				Expr        string
				Annotations struct{ Summary string }
			}
		}
	}
	for _, name := range []string{"../grafana.json", "../chart/alerts.yaml"} {
		if err := yaml.Unmarshal(read(t, name), &file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for _, panel := range file.Panels {
		for _, target := range panel.Targets {
			hold(t, all, target.Expr, target.LegendFormat)
		}
	}
	for _, rule := range file.Groups[0].Rules {
		hold(t, all, rule.Expr, rule.Annotations.Summary)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// series are the labels of all series in a file with metrics.
func series(t *testing.T, name string) (all []labels.Labels) {
	t.Helper()
	if name == "" {
		t.Skip("ANNALS_METRICS names no file: run deploy/test.sh")
	}
	for line := range strings.Lines(string(read(t, name))) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		one, err := promql.ParseMetric(line[:strings.LastIndex(line, " ")])
		if err != nil {
			t.Fatalf("%s: %q: %v", name, line, err)
		}
		all = append(all, one)
	}
	return all
}

var labelInText = regexp.MustCompile(`\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}`)

// hold reports which series and labels a query, or the text beside it, names that no server shows.
func hold(t *testing.T, all []labels.Labels, query, text string) {
	t.Helper()
	expr, err := promql.ParseExpr(strings.ReplaceAll(query, "$__rate_interval", "5m"))
	if err != nil {
		t.Errorf("%s: %v", query, err)
		return
	}
	known, used := []string{"instance"}, []string{} // Prometheus adds the label instance
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			found := false
			for _, one := range all {
				if !slices.ContainsFunc(n.LabelMatchers, func(m *labels.Matcher) bool {
					return !one.Has(m.Name) || m.Type == labels.MatchEqual && !m.Matches(one.Get(m.Name))
				}) {
					found = true
					one.Range(func(l labels.Label) { known = append(known, l.Name) })
				}
			}
			if !found {
				t.Errorf("%s: the server does not show %s", query, n)
			}
		case *parser.AggregateExpr:
			used = append(used, n.Grouping...)
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				used = append(used, n.VectorMatching.MatchingLabels...)
			}
		}
		return nil
	})
	for _, found := range labelInText.FindAllStringSubmatch(text, -1) {
		used = append(used, found[1])
	}
	if i := slices.IndexFunc(used, func(label string) bool { return !slices.Contains(known, label) }); i >= 0 {
		t.Errorf("%s: the metrics have no label %s", query, used[i])
	}
}
