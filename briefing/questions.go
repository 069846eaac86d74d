package briefing

import (
	"fmt"

	"github.com/annals-kb/annals/domain"
)

// mosts is how many items of each aspect a briefing has.
var mosts = map[domain.Aspect]int{
	domain.Tools: 5, domain.Patterns: 5, domain.Skills: 5,
	domain.Preferences: 3, domain.Cases: 3, domain.Background: 3, domain.Failures: 3,
}

// profileMost is how much of a profile is told at the start: it is what a session begins with.
const profileMost = 10

// spare is how many more a question asks for than are told: others say the same, or belong to another aspect.
const spare = 2

var (
	justTools    = domain.Filter{Types: []domain.Type{domain.Tool}, Polarity: domain.Positive}
	justCases    = domain.Filter{Types: []domain.Type{domain.Usecase}, Polarity: domain.Positive}
	justProfiles = domain.Filter{Types: []domain.Type{domain.UserProfile}, Polarity: domain.Positive}
	justFailures = domain.Filter{Polarity: domain.Negative}
	justPatterns = domain.Filter{
		Types: []domain.Type{domain.Plan, domain.Strategy}, ContextTypes: []domain.ContextType{domain.Memory}, Polarity: domain.Positive,
	}
	skillRuns = domain.Filter{Categories: []domain.Category{domain.CategorySkills}, Polarity: domain.Positive}
	skills    = domain.Filter{ContextTypes: []domain.ContextType{domain.Skill}, Polarity: domain.Positive}
)

// questionsOf are the searches that a need asks for.
func questionsOf(n domain.Need) ([]domain.Search, error) {
	var all []domain.Search
	var err error
	ask := func(about string, limit int, filter domain.Filter) {
		question := n.Search(about)
		filter.Tags = question.Filter.Tags
		question.Filter, question.Limit = filter, limit
		if len(filter.Types) == 1 && filter.Types[0] == domain.UserProfile {
			personally(&question, n)
		}
		complete, wrong := question.Complete()
		if wrong != nil && err == nil {
			err = fmt.Errorf("ask about %v: %w", filter, wrong)
		}
		all = append(all, complete)
	}
	of := func(aspect domain.Aspect) int { return spare * mosts[aspect] }
	switch {
	case n.About == "":
	case n.Moment == domain.AtQuery:
		ask(n.About, of(domain.Tools), justTools)
		ask(n.About, of(domain.Patterns), justPatterns)
		ask(n.About, of(domain.Skills), skills)
		ask(n.About, of(domain.Skills), skillRuns)
		ask(n.About, of(domain.Preferences), justProfiles)
		ask(n.About, amongConversations, justCases)
		ask(n.About, of(domain.Failures), justFailures)
	case n.Moment == domain.AtAnalysis:
		ask(n.About, of(domain.Tools), justTools)
		ask(n.About, amongConversations, justCases)
		if len(n.Failures) > 0 && n.Failures[0] != "" {
			ask(n.Failures[0], of(domain.Tools), justTools)
			ask(n.Failures[0], amongConversations, justCases)
		}
	default:
		ask(n.About, fitting, domain.Filter{})
		ask(n.About, of(domain.Preferences), justProfiles)
	}
	return all, err
}

// amongConversations is how many cases are asked for: the conversations that they come from are found beside them,
// and are left out.
const amongConversations = 24

// fitting is how many items are looked at that fit a task or a goal.
const fitting = 40

// personally keeps a question about profiles to whom it is for: whoever sees everything in a tenant
// has not everybody's preferences.
func personally(question *domain.Search, n domain.Need) {
	if !n.Context.Given {
		question.Context = domain.Context{Given: true, Entities: n.By.Entities()}
	}
}
