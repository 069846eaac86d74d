package extraction //nolint:lll // expressions are data

import (
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

var (
	firstPerson = text.Expression(`(?i)\b(?:i|i'm|i've|i'd|i'll|my|mine|me|myself)\b|我(?:[^们]|$)`)
	// favour is a first person who only asks: how do I …, show me …
	favour = text.Expression(`(?i)\bi/o\b|\b(?:do|can|could|should|would|must) i\b|\b(?:help|show|tell|give|let|remind|send|teach) me\b|[帮给让]我|告诉我|我(?:该|应该|要|能)?(?:怎么|如何)`)
	// told is what an assistant repeats about the user.
	told = text.Expression(`(?i)(?:^|since|because|given that|as) you(?:'re| are|'ve| have| told| said| mentioned| live| like| prefer| suffer| feel)\b|\bthe user (?:prefers|likes|dislikes|hates|loves|lives|suffers|told|said)\b|用户(?:喜欢|偏好|讨厌|住在|告诉)|\bgiven your\b|\byour (?:doctor|wife|husband|partner|son|daughter|mother|father|mom|dad|family|kids?|health|boss|salary)\b|(?:因为|既然|由于)[你您]`)
)

// Reasons for which a finding is for the owner alone.
const (
	aboutUser   = "it is about the user"
	byPeer      = "a peer said it"
	maybePerson = "it may be about a person"
	ofSpeaker   = "the user speaks about themselves in what it comes from"
	maybePasted = "the user may have pasted these steps"
	unsupported = "the model says more than the messages that it names"
	unshared    = "neither the commit nor the rule for lessons shares it"
)

// Personal is why a lesson that an agent states may be about a person; empty if it is not.
func Personal(category domain.Category, statement domain.Text) string {
	stated := domain.Part{Type: domain.PartText, Text: statement.Task + "\n" + statement.Content}
	return personal(Conversation{Messages: []Message{{Role: domain.RoleAssistant, Parts: []domain.Part{stated}}}},
		LessonDraft{
			Category: category, Task: statement.Task, Content: statement.Content, Abstract: statement.Abstract,
			Sources: []int{0},
		})
}

// personal is why a finding may be about a person, so that no rule of the tenant shares it; empty if it is not: a peer
// said it, a sentence behind it is about its speaker, or its subject may be somebody's name.
func personal(c Conversation, f LessonDraft) string {
	statement := strings.TrimPrefix(f.Task, "Working with ") + "\n" + f.Content
	if f.Counted != nil { // the task names the tool
		statement = f.Content
	}
	written := words(statement)
	for word := range words(f.Abstract) {
		if !written[word] { // it is no excerpt
			statement += "\n" + f.Abstract
			break
		}
	}
	switch {
	case len(f.Tags[peerTag]) > 0:
		return byPeer
	case names(statement):
		return maybePerson
	}
	written = words(statement)
	for _, i := range f.Sources {
		user := c.Messages[i].Role == domain.RoleUser
		if first, _, _ := strings.Cut(f.Content, " "); f.Category == domain.CategoryTools && f.Counted == nil &&
			!ofThing(f.Content) && (user || capitalised().MatchString(first) && !isThing(strings.ToLower(first))) {
			return maybePerson // by that name
		}
		for _, s := range text.Sentences(c.Messages[i].Text()) {
			s = straight.Replace(s)
			draft, is := stated(s)
			about := ""
			switch {
			case user && (firstPerson().MatchString(favour().ReplaceAllString(s, "")) ||
				is && (draft.Category == domain.CategoryPreferences || draft.Category == domain.CategoryProfile)),
				!user && told().MatchString(s):
				about = ofSpeaker
			case user && asserts(s, false) && !ofThing(s), person().MatchString(s),
				names(s) && strings.Contains(plainText.Replace(s), f.Content):
				about = maybePerson
			}
			for word := range words(s) {
				if about != "" && written[word] {
					return about
				}
			}
		}
	}
	return ""
}

// requested are the questions and requests of a user's message. What users tell beside them stays out of lessons that
// others read.
func requested(content string) string {
	var requests []string
	for _, s := range text.Sentences(content) {
		plain := straight.Replace(s)
		if first, rest, _ := strings.Cut(plain, " "); strings.EqualFold(first, "please") {
			plain = rest
		}
		if strings.ContainsAny(s, "?？") || orders(plain) || either(plain, requesting, requestingHan) {
			requests = append(requests, s)
		}
	}
	return strings.Join(requests, " ")
}
