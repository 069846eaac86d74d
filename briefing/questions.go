package briefing

import (
	"github.com/annals-kb/annals/domain"
)

// mosts is how many items of each aspect a briefing has.
var mosts = map[domain.Aspect]int{
	domain.Tools: 5, domain.Patterns: 5, domain.Skills: 5, domain.Background: 5,
	domain.Preferences: 3, domain.Cases: 3, domain.Failures: 3, domain.Contested: 3,
}

// profileMost is how much of a profile is told at the start: it is what a session begins with.
const profileMost = 10

// questionsOf are the searches that a need asks for: what it is about, and at analysis the first failure. They are those that the
// caller would make, so that a briefing has what a search finds; types only arrange it.
func questionsOf(n domain.Need) ([]domain.Search, error) {
	abouts := []string{n.About}
	if n.Stage == domain.AtAnalysis && len(n.Failures) > 0 {
		abouts = append(abouts, n.Failures[0])
	}
	var all []domain.Search
	for _, about := range abouts {
		if about == "" {
			continue
		}
		question := n.Search(about)
		question.Limit = domain.MaxLimit
		complete, err := question.Complete()
		if err != nil {
			return nil, err
		}
		all = append(all, complete)
	}
	return all, nil
}
