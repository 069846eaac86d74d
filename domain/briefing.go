package domain

// Aspect is what an item is to an agent that is being briefed. Every item has exactly one.
type Aspect string

// The aspects, in the order in which agents are told of them.
const (
	Preferences Aspect = "preferences"  // what the user likes, and is
	Skills      Aspect = "skills"       // what the agent can do, and how runs of it went
	Cases       Aspect = "cases"        // what was solved before
	Patterns    Aspect = "patterns"     // procedures and experience
	Tools       Aspect = "tools"        // how tools behave
	Background  Aspect = "background"   // definitions, resources, and profiles of others
	Failures    Aspect = "antipatterns" // what to avoid
	Contested   Aspect = "contested"    // of any kind, but not to be relied on, see [Rating.Contested]
)

// Aspects are all of them.
var Aspects = []Aspect{Preferences, Skills, Cases, Patterns, Tools, Background, Failures, Contested}

// AspectOf is what an item is to an agent, unless it is contested.
func AspectOf(k *Knowledge) Aspect {
	switch {
	case k.Polarity == Negative || k.Category == CategoryAntipatterns:
		return Failures
	case k.ContextType == Skill || k.Category == CategorySkills:
		return Skills
	case k.ContextType == Resource || k.Type == Definition:
		return Background
	case k.Type == UserProfile:
		return Preferences
	case k.Type == Usecase:
		return Cases
	case k.Type == Tool:
		return Tools
	default:
		return Patterns
	}
}

// Briefing is what an agent should know, as items and as text for its prompts.
type Briefing struct {
	Items      []Briefed // by aspect, the best of each first
	Injection  string    // Markdown within the tokens that there was room for; empty if nothing is known
	Hints      string    // some lines that help to choose a skill; empty if nothing is known
	Tokens     int       // of the injection, estimated
	HintTokens int
	Degraded   string // why words stand alone; empty when meaning took part, or nothing was searched for
}

// Briefed is an item of a briefing.
type Briefed struct {
	Found
	Aspect   Aspect
	Included bool // there was room for it in the injection
}
