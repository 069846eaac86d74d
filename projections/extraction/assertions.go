package extraction

import (
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain/text"
)

// assertion is a sentence of a message.
type assertion struct {
	text string
	own  string // the same, with the words of others blanked
}

// assertions are the sentences in which the author of a message speaks: not those of a text to work on, of fiction or
// of an example.
func assertions(prose string) (all []assertion) {
	others := func(quote string) string {
		if firstPerson().MatchString(straight.Replace(quote)) || phrase("sentences").MatchString(quote) {
			return strings.Repeat("_", len(quote))
		}
		return quote
	}
	masked, at := phrase("quotation").ReplaceAllStringFunc(prose, others), 0
	for _, own := range text.Sentences(masked) {
		at += strings.Index(masked[at:], own)
		s := assertion{prose[at : at+len(own)], own}
		plain := straight.Replace(own)
		if phrase("reworking").MatchString(plain) {
			return nil
		}
		if phrase("inventing").MatchString(plain) || introduces(plain) {
			break
		}
		all = append(all, s)
	}
	return all
}

// introduces reports whether a sentence says before a colon that another text follows.
func introduces(s string) bool {
	label := phrase("heading").FindStringSubmatch(s)
	return label != nil && !either(s, remembering, rememberingChinese) && !phrase("titled").MatchString(s) &&
		(phrase("textual").MatchString(label[1]) || orders(label[1]))
}

// orders reports whether a text begins with the verb of a request.
func orders(s string) bool {
	s = lead().ReplaceAllString(s, "")
	words, verbs := strings.Fields(strings.ToLower(s)), commanding[:slices.Index(commanding, "thanks")]
	return len(words) > 0 && (slices.Contains(verbs, strings.Trim(words[0], ",:")) || requestingHan().MatchString(s)) &&
		!either(s, remembering, rememberingChinese)
}

// voiced reports whether the author says what follows a text in the same sentence, rather than somebody whom they
// report on.
func voiced(before string) bool {
	before = phrase("claiming").ReplaceAllString(lead().ReplaceAllString(before, ""), "")
	return !phrase("hearsay").MatchString(before) && !orders(before)
}

// borrowed reports whether a sentence about a first person is not about its author.
func borrowed(s string) bool {
	first := phrase("author").FindStringIndex(s)
	if first == nil || either(s, remembering, rememberingChinese) {
		return false
	}
	return !voiced(s[:first[0]]) || phrase("speaker").MatchString(s) && !phrase("titled").MatchString(s)
}
