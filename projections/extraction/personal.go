package extraction

import (
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

var (
	firstPerson = text.Expression(`(?i)\b(?:i|i'm|i've|i'd|i'll|my|mine|me|myself)\b|我(?:[^们]|$)`)
	// favour is a first person who only asks: how do I …, show me …
	favour = text.Expression(`(?i)\b(?:do|can|could|should|would|must) i\b|\b(?:help|show|tell|give|let|remind|send|teach) me\b|[帮给让]我|告诉我|我(?:该|应该|要|能)?(?:怎么|如何)`)
	// told is what an assistant repeats about the user.
	told = text.Expression(`(?i)(?:^|since|because|given that|as) you(?:'re| are|'ve| have| told| said| mentioned| live| like| prefer| suffer| feel)\b|\bgiven your\b|\byour (?:doctor|wife|husband|partner|son|daughter|mother|father|mom|dad|family|kids?|health|boss|salary)\b|(?:因为|既然|由于)[你您]`)
	// technical begins a sentence about a tool, which is no person.
	technical = text.Expression(`^[A-Za-z]*(?:[\d._+:/]|[a-z]-[a-z]|[a-z][A-Z]|[A-Z]{2})|^\w+ \d`)
)

// personal reports whether a finding may be about a person, so that no rule of the tenant shares it: a peer said it, a
// sentence behind it is about its speaker, or its subject may be somebody's name.
func personal(c Conversation, f LessonDraft) bool {
	if len(f.Tags[peerTag]) > 0 {
		return true
	}
	written := words(strings.Join([]string{f.Task, f.Content, f.Abstract}, "\n"))
	for _, i := range f.Sources {
		user := c.Messages[i].Role == domain.RoleUser
		if f.Category == domain.CategoryTools && f.Counted == nil && !technical().MatchString(f.Content) &&
			(user || !strings.HasPrefix(f.Content, strings.ToLower(f.Content[:1]))) {
			return true // it may be about a person by that name
		}
		for _, s := range text.Sentences(c.Messages[i].Text()) {
			s = straight.Replace(s)
			draft, is := stated(s)
			about := user && (firstPerson().MatchString(favour().ReplaceAllString(s, "")) ||
				is && (draft.Category == domain.CategoryPreferences || draft.Category == domain.CategoryProfile) ||
				asserts(s, false) && !technical().MatchString(s)) // of a thing by its name, or perhaps of a person
			if !about && !(!user && told().MatchString(s)) {
				continue
			}
			for word := range words(s) {
				if written[word] {
					return true
				}
			}
		}
	}
	return false
}
