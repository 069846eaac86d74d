package console

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// lineNames are the filters that a question may name before a colon, such as type:plan, by the page that has them.
func (p *page) lineNames() []string {
	switch strings.TrimPrefix(p.Path, Root) {
	case "search":
		return namesOf(append(listFilters(false), searchers()...))
	case "knowledge":
		return namesOf(listFilters(false))
	case "log":
		return namesOf(eventFilters())
	}
	return nil
}

// lineWords are other words for filters. In is:stale, the value names the filter.
var lineWords = map[string]string{
	"kind": "context_type", "place": "uri", "by": "actor", "for": "on_behalf_of", "after": "from", "before": "to",
	"is:disputed": "contested=true", "is:contested": "contested=true", "is:stale": "stale=true",
	"is:expired": "expired=true", "is:negative": "polarity=negative", "is:superseded": "status=superseded",
	"is:forgotten": "status=deleted",
}

// lineWord is the filter and the value that a word of a question stands for. The name is empty if it is a plain word.
func lineWord(names []string, word string) (name, value string) {
	key, value, _ := strings.Cut(word, ":")
	name = cmp.Or(lineWords[key], key)
	if is, fixed, found := strings.Cut(lineWords[word], "="); found {
		name, value = is, fixed
	}
	if !slices.Contains(names, name) {
		name = "created_" + name // before and after, where there are several times
	}
	if name == "q" || !slices.Contains(names, name) {
		return "", ""
	}
	if quoted, err := strconv.Unquote(value); err == nil && value[0] == '"' {
		value = quoted
	}
	return name, value
}

// linePattern matches a word of a question. Blanks may stand in quotes, as in tag:"on call".
var linePattern = regexp.MustCompile(`(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+`)

// readLine moves the filters in a question to those of the address.
func (p *page) readLine() {
	names := p.lineNames()
	if len(names) == 0 || p.param("q") == "" {
		return
	}
	var words []string
	for _, word := range linePattern.FindAllString(p.param("q"), -1) {
		name, value := lineWord(names, word)
		if value == "" {
			words = append(words, word)
			continue
		}
		if slices.Contains(entityFilters, name) && !strings.Contains(value, ":") {
			if entity, why := entityOf(p, anyone, value); why == "" {
				value = entity
			} else if name == "owner" {
				value = domain.User + ":" + value
			}
		}
		if !slices.Contains(p.Query[name], value) {
			p.Query[name] = append(p.values(name), value)
		}
	}
	p.Query.Set("q", strings.Join(words, " "))
}

// LineWords complete a question: what a filter takes, or else its name and a colon.
func (p *page) LineWords() (words []string) {
	names := p.lineNames()
	for _, f := range listFilters(p.Moment.Past()) {
		for _, value := range f.Values {
			if slices.Contains(names, f.Name) {
				words = append(words, f.Name+":"+value)
			}
		}
	}
	for _, word := range slices.Sorted(maps.Keys(lineWords)) {
		if name, value := lineWord(names, word); value != "" {
			words = append(words, word)
		} else if name != "" {
			words = append(words, word+":")
		}
	}
	for _, name := range names {
		words = append(words, name+":")
	}
	return words
}

// Line is the question with all filters, as one line that [page.readLine] reads.
func (p *page) Line() string {
	words := []string{p.param("q")}
	for _, name := range p.lineNames() {
		for _, value := range p.values(name) {
			if strings.ContainsAny(value, " \t\"") {
				value = strconv.Quote(value)
			}
			if name != "q" {
				words = append(words, name+":"+value)
			}
		}
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// setFilter is a filter that is set, and the address without it.
type setFilter struct {
	Label, Without string
	Values         []any
}

// Set are the filters that are set. The values of a choice are words of the console, others are as in the address.
func (p *page) Set(filters []field) (all []setFilter) {
	for _, filter := range filters {
		one := setFilter{Label: filter.Label, Without: p.With(filter.Name, "")}
		for _, value := range p.values(filter.Name) {
			if filter.Values != nil {
				value = say(p.Language, value)
			}
			one.Values = append(one.Values, filterValue(filter.Name, value))
		}
		if one.Values != nil {
			all = append(all, one)
		}
	}
	return all
}

// entityFilters take entities.
var entityFilters = []string{"owner", "scope", "actor", "on_behalf_of"}

// filterValue is the value of a filter as pages show it: entities by their names.
func filterValue(name, value string) any {
	if slices.Contains(entityFilters, name) {
		return who(value)
	}
	return value
}
