package console

import (
	"cmp"
	"slices"
	"strings"
)

// lineNames are the filters that a question may name before a colon, such as type:plan, by the page that has them.
func (p *page) lineNames() []string {
	switch strings.TrimPrefix(p.Path, Root) {
	case "search":
		return append(namesOf(filters()), namesOf(searchers())...)
	case "knowledge":
		names := namesOf(listFilters(p))
		if p.Moment.Past() {
			names = append(names, namesOf(presentFilters())...)
		}
		return names
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

// readLine moves the filters in a question to those of the address.
func (p *page) readLine() {
	names := p.lineNames()
	if len(names) == 0 || p.param("q") == "" {
		return
	}
	var words []string
	for word := range strings.FieldsSeq(p.param("q")) {
		key, value, _ := strings.Cut(word, ":")
		name := cmp.Or(lineWords[key], key)
		if is, fixed, found := strings.Cut(lineWords[word], "="); found {
			name, value = is, fixed
		}
		if value == "" || name == "q" || !slices.Contains(names, name) {
			words = append(words, word)
			continue
		}
		if name == "owner" && !strings.Contains(value, ":") {
			value = "user:" + value
		}
		if !slices.Contains(p.Query[name], value) {
			p.Query.Add(name, value)
		}
	}
	p.Query.Set("q", strings.Join(words, " "))
}

// LineWords complete a question: what a filter takes, or else its name and a colon.
func (p *page) LineWords() (words []string) {
	names := p.lineNames()
	for _, f := range listFilters(p) {
		for _, value := range f.Values {
			if slices.Contains(names, f.Name) {
				words = append(words, f.Name+":"+value)
			}
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
			if name != "q" && !strings.Contains(value, " ") {
				words = append(words, name+":"+value)
			}
		}
	}
	return strings.TrimSpace(strings.Join(words, " "))
}
