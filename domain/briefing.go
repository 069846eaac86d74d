package domain

import (
	"fmt"
	"slices"
)

// Aspect is what an item is to an agent that is being briefed. Every item has exactly one.
type Aspect string

// The aspects, in the order of a briefing.
const (
	Preferences Aspect = "preferences"  // what the user likes, and is
	Skills      Aspect = "skills"       // what the agent can do, and how runs of it went
	Cases       Aspect = "cases"        // what was solved before
	Patterns    Aspect = "patterns"     // procedures and experience
	Tools       Aspect = "tools"        // how tools behave
	Background  Aspect = "background"   // definitions, resources, and profiles of others
	Failures    Aspect = "antipatterns" // what to avoid
	Contested   Aspect = "contested"    // of any kind, but unreliable: see [Rating.Contested]
)

// Aspects lists all aspects in this order.
var Aspects = []Aspect{Preferences, Skills, Cases, Patterns, Tools, Background, Failures, Contested}

// AspectOf is the aspect of an item that is not contested.
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
	Injection  string    // Markdown, at most as many tokens as asked for; empty if there are no items
	Hints      string    // some lines that help to choose a skill; empty if there are no items
	Tokens     int       // of the injection, estimated
	HintTokens int
	Embedder   string // of the searches; empty if nothing was searched for
	Degraded   string // why the embedding model took no part; empty if it did, or nothing was searched for
}

// Briefed is an item of a briefing.
type Briefed struct {
	Found
	Aspect   Aspect
	Included bool // it fits into the injection
}

// Mark names what the item says here: its id and revision, and whether it is contested.
func (b Briefed) Mark() string {
	mark := fmt.Sprintf("%s@%d", b.ID, b.Knowledge.Revision)
	if b.Aspect == Contested {
		mark += "!"
	}
	return mark
}

// Stage is the point of its work at which an agent asks for a briefing.
type Stage string

// The stages.
const (
	AtStart    Stage = "start"    // a session begins: who the user is, then what fits the task
	AtFocus    Stage = "focus"    // a goal was set
	AtQuery    Stage = "query"    // a question before a task: items of every aspect
	AtAnalysis Stage = "analysis" // a failure: what is known about the tools and about similar cases
)

// Stages lists all stages.
var Stages = []Stage{AtStart, AtFocus, AtQuery, AtAnalysis}

// FieldName is the request field that says what a briefing at this stage is about.
func (m Stage) FieldName() string {
	switch m {
	case AtFocus:
		return "goal"
	case AtQuery:
		return "query"
	default:
		return "task"
	}
}

// Limits of a [Need].
const (
	MinTokens      = 50
	MaxTokens      = 32_000
	usualTokens    = 1800
	analysisTokens = 500 // an analysis has a long prompt of its own
	maxFailures    = 64
	MostShown      = 1000
)

// Need is a request for a briefing at a stage of an agent's work.
type Need struct {
	By        Principal
	Stage     Stage
	About     string   // the task, goal or question; may be empty only at the start
	Warning   string   // set by Complete: how About was shortened; empty if it was not
	Failures  []string // failures of tools, for the stage analysis only
	Context   Context
	Tags      Tags     // every key must match, by any of its values
	MinScore  *float64 // 0…1; nil for the embedder's default
	MaxTokens int      // of the injection; 0 for the default of the stage
	Shown     []string // marks of items that are left out, see [Briefed.Mark]
}

// Complete fills in defaults and validates all fields. Then it checks that the caller is entitled to each entity of
// the context.
func (n Need) Complete() (Need, error) {
	var p Problems
	oneOf(&p, "stage", n.Stage, Stages, true)
	field := n.Stage.FieldName()
	if IsBlank(n.About) && n.Stage != AtStart && slices.Contains(Stages, n.Stage) {
		p.Add(field, "must not be empty at %s", n.Stage)
	}
	n.About, n.Warning = shortened(n.About)
	atMost(&p, field, n.About, MaxQuery)
	if len(n.Failures) > 0 && n.Stage != AtAnalysis {
		p.Add("tool_issues", "belongs to %s", AtAnalysis)
	}
	if len(n.Failures) > maxFailures {
		p.Add("tool_issues", "must be at most %d", maxFailures)
	}
	n.Failures = slices.Clone(n.Failures)
	for i, failure := range n.Failures {
		n.Failures[i], _ = shortened(failure)
		failure = n.Failures[i]
		atMost(&p, fmt.Sprintf("tool_issues[%d]", i), failure, MaxQuery)
	}
	if n.MinScore != nil && !(*n.MinScore >= 0 && *n.MinScore <= 1) {
		p.Add("min_score", "must be 0 to 1")
	}
	if len(n.Shown) > MostShown {
		p.Add("shown", "must be at most %d", MostShown)
	}
	if n.MaxTokens == 0 {
		n.MaxTokens = usualTokens
		if n.Stage == AtAnalysis {
			n.MaxTokens = analysisTokens
		}
	}
	if n.MaxTokens < MinTokens || n.MaxTokens > MaxTokens {
		p.Add("max_tokens", "must be %d to %d", MinTokens, MaxTokens)
	}
	for i, entity := range n.Context.Entities {
		checkEntity(&p, fmt.Sprintf("context[%d]", i), entity)
	}
	checkTags(&p, n.Tags)
	if err := p.Err(); err != nil {
		return n, err
	}
	return n, n.Search("").entitled()
}

// Search is a search about a text, within the need's context.
func (n Need) Search(about string) Search {
	return Search{By: n.By, Text: about, Context: n.Context, MinScore: n.MinScore, Filter: Filter{Tags: n.Tags}}
}

// User is the user of the context or, without a context, the caller. It is false if that is not a user.
func (n Need) User() (Entity, bool) {
	for _, entity := range n.Context.Entities {
		if entity.Kind() == User {
			return entity, true
		}
	}
	voter := n.By.EffectiveSubject()
	return voter, !n.Context.Given && voter.Kind() == User
}

// Reader is the principal whose items a list shows: the entities of the context or, without a context, the caller.
func (n Need) Reader() Principal {
	if !n.Context.Given {
		return n.By
	}
	reader := Principal{Tenant: n.By.Tenant, Role: Member}
	if entities := n.Context.Entities; len(entities) > 0 {
		reader.Subject, reader.Memberships = entities[0], entities[1:]
	}
	return reader
}
