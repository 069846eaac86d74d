package domain

// Type says what kind of knowledge an item is.
type Type string

// The types of knowledge.
const (
	UserProfile Type = "user_profile" // habits, preferences, background, constraints
	Strategy    Type = "strategy"     // experience from doing
	Tool        Type = "tool"         // how a tool behaves
	Usecase     Type = "usecase"      // situation, solution, steps, outcome
	Definition  Type = "definition"   // a concept
	Plan        Type = "plan"         // a procedure with decision points
)

// ContextType says which kind of context an item is to an agent.
type ContextType string

// The kinds of context.
const (
	Memory   ContextType = "memory"
	Skill    ContextType = "skill"
	Resource ContextType = "resource"
)

// Category refines the type; it may be empty.
type Category string

// Categories about users, then about work.
const (
	CategoryProfile      Category = "profile"
	CategoryPreferences  Category = "preferences"
	CategoryEntities     Category = "entities"
	CategoryEvents       Category = "events"
	CategoryCases        Category = "cases"
	CategoryPatterns     Category = "patterns"
	CategoryTools        Category = "tools"
	CategorySkills       Category = "skills"
	CategoryAntipatterns Category = "antipatterns"
)

// Polarity separates advice from failures to avoid.
type Polarity string

// The polarities.
const (
	Positive Polarity = "positive"
	Negative Polarity = "negative" // a failure to avoid
)

// Media is the form of the content.
type Media string

// The media.
const (
	MediaText   Media = "text"
	MediaImage  Media = "image"
	MediaVideo  Media = "video"
	MediaAudio  Media = "audio"
	MediaBinary Media = "binary"
)

// Status is the state of an item in its lifecycle.
type Status string

// The statuses.
const (
	Active       Status = "active"
	IsSuperseded Status = "superseded"
	IsDeleted    Status = "deleted"
	IsErased     Status = "erased"

	IsQuarantined Status = "quarantined" // withheld until a steward decides, since it may be harmful
	IsProposed    Status = "proposed"    // withheld until a steward accepts it
)

// Withheld tells whether only stewards see items of this status, and the author of what is proposed: see
// [Principal.MaySee].
func (s Status) Withheld() bool { return s == IsQuarantined || s == IsProposed }

// Verdict is a voter's judgement of an item after its use.
type Verdict string

// The verdicts.
const (
	Helpful Verdict = "helpful"
	Harmful Verdict = "harmful"
)

// discounted begins the verdicts of votes that do not count; see [VotesDiscounted].
const discounted = "discounted_"

// counts tells whether a vote of this verdict counts.
func (v Verdict) counts() bool { return v == Helpful || v == Harmful }

// The values of each vocabulary, in the order of error messages.
var (
	Types        = []Type{UserProfile, Strategy, Tool, Usecase, Definition, Plan}
	ContextTypes = []ContextType{Memory, Skill, Resource}
	Categories   = []Category{
		CategoryProfile, CategoryPreferences, CategoryEntities, CategoryEvents, CategoryCases,
		CategoryPatterns, CategoryTools, CategorySkills, CategoryAntipatterns,
	}
	Polarities = []Polarity{Positive, Negative}
	MediaTypes = []Media{MediaText, MediaImage, MediaVideo, MediaAudio, MediaBinary}
	Statuses   = []Status{Active, IsSuperseded, IsDeleted, IsErased, IsQuarantined, IsProposed}
	Verdicts   = []Verdict{Helpful, Harmful}
)

// TypeOf is the type of an item that was remembered without one. It is empty if neither the category nor the context
// type implies a type.
func TypeOf(category Category, context ContextType) Type {
	switch category {
	case CategoryProfile, CategoryPreferences:
		return UserProfile
	case CategoryEntities:
		return Definition
	case CategoryEvents, CategoryCases:
		return Usecase
	case CategoryPatterns:
		return Plan
	case CategoryTools:
		return Tool
	case CategorySkills:
		if context == Skill {
			return Plan
		}
		return Strategy
	case CategoryAntipatterns:
		return Strategy
	}
	switch context {
	case Skill:
		return Plan
	case Resource:
		return Definition
	}
	return ""
}

// segmentOf is the directory of an item without a category.
func segmentOf(t Type) Category {
	switch t {
	case UserProfile:
		return CategoryPreferences
	case Strategy:
		return CategorySkills
	case Tool:
		return CategoryTools
	case Definition:
		return CategoryEntities
	case Plan:
		return CategoryPatterns
	default:
		return CategoryCases
	}
}
