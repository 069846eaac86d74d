package console

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

// lineNames are the filters that a question may name before a colon, such as type:plan.
func (p *page) lineNames() []string { return lineNamesOf(strings.TrimPrefix(p.Path, Root)) }

// lineNamesOf are the filters of a page's line; none if it has no line.
func lineNamesOf(path string) []string {
	switch path {
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
	if len(names) == 0 {
		return
	}
	var words []string
	for _, word := range linePattern.FindAllString(p.param("q"), -1) {
		name, value := lineWord(names, word)
		if value == "" {
			words = append(words, word)
			continue
		}
		if slices.Contains(entityFilters, name) && !strings.Contains(value, ":") && value != "me" {
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
	if p.Query.Has("q") {
		p.Query.Set("q", strings.Join(words, " "))
	}
	for _, name := range append(slices.Clone(entityFilters), "name") {
		if !slices.Contains(names, name) || !p.Query.Has(name) {
			continue
		}
		var meant []string
		for _, value := range p.values(name) {
			switch {
			case name == "name":
				meant = append(meant, eventsCalled(p.Language, value)...)
			case value == "me":
				meant = append(meant, voter(p))
			default:
				meant = append(meant, value)
			}
		}
		p.Query[name] = slices.Compact(meant)
	}
}

// eventsCalled are the names of the events that a word means: a kind such as session, or a word of what the log says
// about them. A name, and a word that means none, stay.
func eventsCalled(language, value string) (names []string) {
	if strings.ContainsAny(value, ".*") {
		return []string{value}
	}
	for _, name := range eventNames() {
		switch kind, _, _ := strings.Cut(name, "."); {
		case kind == value:
			return []string{value + ".*"}
		case strings.Contains(strings.ToLower(eventOf(language, name)), strings.ToLower(value)):
			names = append(names, name)
		}
	}
	if names == nil {
		return []string{value}
	}
	return names
}

// eventKinds are the kinds of events, such as session.
func eventKinds() (kinds []string) {
	for _, name := range eventNames() {
		kind, _, _ := strings.Cut(name, ".")
		kinds = append(kinds, kind)
	}
	return slices.Compact(kinds)
}

// eventNames are the names of events in order, from the texts that have a Chinese one.
var eventNames = sync.OnceValue(func() []string {
	isName := regexp.MustCompile(`^[a-z_]+\.[a-z_]+$`)
	names := slices.Sorted(maps.Keys(inChinese()))
	return slices.DeleteFunc(names, func(text string) bool { return !isName.MatchString(text) })
})

// lineHint is a word of the line that is probably a filter with a slip, or one of another list, and the line that has
// what was meant.
type lineHint struct{ Typed, Meant, List, Address string }

// Hints are the words of the line that look like filters but are none, or whose values are none.
func (p *page) Hints() (hints []lineHint) {
	names := p.lineNames()
	for _, word := range linePattern.FindAllString(p.param("q"), -1) {
		list := map[bool]string{true: "knowledge", false: "log"}[p.Here("log")]
		if _, value := lineWord(lineNamesOf(list), word); value != "" {
			hints = append(hints, lineHint{Typed: word, List: list, Address: p.To(list, "q", word)})
		} else if meant := meantFilter(names, word); meant != "" {
			line := strings.Replace(p.param("q"), word, meant, 1)
			hints = append(hints, lineHint{Typed: word, Meant: meant, Address: p.With("q", line)})
		}
	}
	kinds := field{Name: "name", Values: eventKinds()}
	for _, f := range append(listFilters(p.Moment.Past()), kinds) {
		for _, value := range p.values(f.Name) {
			if strings.Contains(value, "*") {
				continue
			}
			if meant := text.Nearest(value, f.Values); slices.Contains(names, f.Name) && meant != "" && meant != value {
				hints = append(hints, lineHint{
					Typed: written(f.Name, value), Meant: written(f.Name, meant), Address: p.With(f.Name, meant),
				})
			}
		}
	}
	return hints
}

// meantFilter is the filter that a word of the line perhaps misspells; empty if it is plainly a word.
func meantFilter(names []string, word string) string {
	key, value, is := strings.Cut(word, ":")
	if !is || value == "" || strings.HasPrefix(value, "//") {
		return ""
	}
	var known []string
	for one := range lineWords {
		if name, fixed := lineWord(names, one); name != "" && fixed != "" {
			if key == "is" {
				known = append(known, one)
			}
		} else if name != "" {
			known = append(known, one)
		}
	}
	if key == "is" {
		return text.Nearest(word, known)
	}
	known = append(known, names...)
	slices.Sort(known)
	begins := func(name string) bool { return len(key) > 2 && strings.HasPrefix(name, key) }
	meant := text.Nearest(key, known)
	if i := slices.IndexFunc(known, begins); meant == "" && i >= 0 {
		meant = known[i]
	}
	if meant == "" || meant == key {
		return ""
	}
	return meant + ":" + value
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
		if name != "q" {
			words = append(words, p.Typed(name))
		}
	}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

// Typed is a filter as the line has it; empty if it is not set.
func (p *page) Typed(name string) string {
	var words []string
	for _, value := range p.values(name) {
		words = append(words, written(name, value))
	}
	return strings.Join(words, " ")
}

// written is the word of a line that stands for a filter and its value.
func written(name, value string) (word string) {
	for _, short := range slices.Sorted(maps.Keys(lineWords)) {
		if lineWords[short] == name+"="+value {
			word = short
		}
	}
	if strings.ContainsAny(value, " \t\"") {
		value = strconv.Quote(value)
	}
	return cmp.Or(word, name+":"+value)
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
			} else if filter.Name == "name" {
				value = p.happening(value)
			}
			one.Values = append(one.Values, filterValue(filter.Name, value))
		}
		if one.Values != nil {
			all = append(all, one)
		}
	}
	return all
}

// happening says in words what a filter of the log by name finds.
func (p *page) happening(name string) string {
	if kind, all := strings.CutSuffix(name, ".*"); all && kind != "" {
		return say(p.Language, strings.ToUpper(kind[:1])+kind[1:])
	}
	return eventOf(p.Language, name)
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
