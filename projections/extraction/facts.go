package extraction

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// fact is what people tell about themselves. A sentence fills it only with a value of its kind.
type fact struct {
	key        string
	single     bool   // a person has one
	kind       string // of the value; empty if the expression says enough
	expression *regexp.Regexp
}

//go:embed phrases.txt
var phrasesText string

// phrases are the facts and the rules of phrases.txt.
var phrases = sync.OnceValues(func() (facts []fact, rules map[string]*regexp.Regexp) {
	var parts []string
	rules = map[string]*regexp.Regexp{}
	for line := range strings.Lines(phrasesText) {
		head, expression, found := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		words := strings.Fields(head)
		if !found || words[0] == "#" {
			continue
		}
		switch expression = strings.NewReplacer(parts...).Replace(expression); words[0] {
		case "part":
			parts = append(parts, "{"+words[1]+"}", expression)
		case "rule":
			rules[words[1]] = regexp.MustCompile(expression)
		case "fact":
			f := fact{key: strings.Trim(words[1], "-"), expression: regexp.MustCompile(expression)}
			f.single = slices.Contains(words, "single")
			if last := words[len(words)-1]; len(words) > 2 && last != "single" {
				f.kind = last
			}
			facts = append(facts, f)
		}
	}
	return facts, rules
})

// phrase is a rule of phrases.txt.
func phrase(name string) *regexp.Regexp {
	_, rules := phrases()
	return rules[name]
}

// claim is the fact that a sentence fills.
type claim struct {
	fact
	value  string
	unsure bool // the value may be another one than it seems
}

// claimed is the fact that the author of a sentence tells about themselves now.
func claimed(s string) (claim, bool) {
	facts, _ := phrases()
	if !phrase("first").MatchString(s) { // most sentences
		return claim{}, false
	}
	for _, f := range facts {
		at := f.expression.FindStringSubmatchIndex(s)
		if at == nil {
			continue
		}
		before := phrase("claiming").ReplaceAllString(lead().ReplaceAllString(s[:at[0]], ""), "")
		if !phrase("leading").MatchString(before) || !voiced(before) || phrase("conditional").MatchString(before) {
			continue
		}
		found, rest := claim{fact: f, value: s[at[0]:at[1]]}, s[at[1]:]
		if i := slices.IndexFunc(at[2:], func(place int) bool { return place >= 0 }); i >= 0 {
			found.value = strings.Trim(s[at[2+i]:at[3+i]], ` .,'"-`)
		}
		found.value = strings.TrimRight(found.value, "了的呢啊哦呀啦吧")
		name := f.kind != "" && f.kind != "description"
		listed := name && phrase("several").MatchString(rest)
		if f.kind != "" && !f.takes(found.value) || phrase("retold").MatchString(rest) || listed && f.kind == "person" ||
			name && !isChinese(found.value) && !phrase("after").MatchString(rest) {
			continue
		}
		found.unsure = name && !f.single || listed
		return found, true
	}
	return claim{}, false
}

// takes reports whether a value is of the kind of a fact.
func (f fact) takes(value string) bool {
	first, _, _ := strings.Cut(strings.ToLower(value), " ")
	return phrase(f.kind).MatchString(value) && !phrase("no-"+f.kind).MatchString(value) &&
		(f.kind == "organisation" || !slices.Contains(products, strings.TrimSuffix(first, "'s")))
}
