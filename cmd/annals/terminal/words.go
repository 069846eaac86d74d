package terminal

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// A server speaks to whoever calls it in the words of HTTP. Who types commands has flags and variables.

// ownWords are those of a fix that are meant for this program, if some are.
func ownWords(fix string) string {
	if _, own, is := strings.Cut(fix, "; the annals command "); is {
		return "annals " + own
	}
	return fix
}

// headersAsFlags puts for each header that a fix names the flag that fills it, and the variable.
func headersAsFlags(node *kong.Node, fix string) string {
	var pairs []string
	values := valuesOf(node)
	slices.SortStableFunc(values, func(a, b *kong.Value) int { return len(b.Tag.Get("field")) - len(a.Tag.Get("field")) })
	for _, value := range values {
		header := value.Tag.Get("field")
		if value.Flag == nil || header == "" || header == strings.ToLower(header) {
			continue
		}
		said := "--" + value.Name
		if len(value.Flag.Envs) > 0 {
			said += " (" + value.Flag.Envs[0] + ")"
		}
		pairs = append(pairs, header, said)
	}
	return strings.NewReplacer(pairs...).Replace(fix)
}
