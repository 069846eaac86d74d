package api

// ContextRequest is an agent's request for a briefing.
type ContextRequest struct {
	Stage      string    `json:"stage" enum:"start,focus,query,analysis" doc:"When in its work."`
	Task       string    `json:"task,omitempty" doc:"At start, where it may be left out, and at analysis: what is to be done, or failed."`
	Goal       string    `json:"goal,omitempty" doc:"At focus."`
	Query      string    `json:"query,omitempty" doc:"For a query: the task, and what the user said last." example:"make the weekly sales dashboard"`
	ToolIssues []string  `json:"tool_issues,omitempty" maxItems:"64" doc:"At analysis: what failed, such as a tool's name and its error, the first failure first."`
	Context    *Searcher `json:"context,omitempty" doc:"For whom: only their scopes and public count, the nearest first. Left out: everything you belong to, or the whole tenant if you may read that, but of profiles your own."`
	Tags       Tags      `json:"tags,omitempty" doc:"Every key must match, by any of its values."`
	MinScore   *float64  `json:"min_score,omitempty" minimum:"0" maximum:"1" doc:"0.5 means: about this. The embedder's default if left out."`
	MaxTokens  *int      `json:"max_tokens,omitempty" nullable:"false" minimum:"50" maximum:"32000" doc:"How long the injection is at most, by an estimate. 1800 if left out, 500 at analysis."`
	Shown      []string  `json:"shown,omitempty" maxItems:"1000" doc:"The marks of items that were told before. They are left out while they say the same."`
}

// ContextAnswer is a briefing.
type ContextAnswer struct {
	Stage      string         `json:"stage" enum:"start,focus,query,analysis"`
	About      string         `json:"about" doc:"The task, goal or query that it is for."`
	Injection  string         `json:"injection" doc:"For the prompt of the first step: Markdown with a section for each kind; each item ends with its URI. Empty if nothing is known."`
	Hints      string         `json:"hints" doc:"For choosing a skill: what the user prefers, the best skill and case, pitfalls. Empty if nothing is known."`
	Tokens     int            `json:"tokens" doc:"Of the injection, estimated."`
	HintTokens int            `json:"hint_tokens"`
	HitCounts  map[string]int `json:"hit_counts" doc:"How many items of each kind were found: preferences, skills, cases, patterns, tools, background, antipatterns, contested."`
	Items      []ContextItem  `json:"items" nullable:"false" doc:"By kind, the best first."`
	Warning    string         `json:"warning,omitempty" doc:"How a question of more than 8,000 characters was shortened."`
	Degraded   string         `json:"degraded,omitempty" doc:"Why the embedding model took no part, or that some items have no vector; missing when it took part for all."`
	Receipt    string         `json:"receipt,omitempty" doc:"The id of the receipt of this answer, if one is kept; also in the header Annals-Receipt."`
}

// ContextItem is an item of a briefing.
type ContextItem struct {
	Kind      string     `json:"kind" enum:"preferences,skills,cases,patterns,tools,background,antipatterns,contested"`
	Knowledge *Knowledge `json:"knowledge" doc:"With its abstract as its content."`
	Score     float64    `json:"score" doc:"0 to 1: how much it is about what was asked; 0 if it was listed, not searched for."`
	Scope     string     `json:"scope" example:"project:456" doc:"The nearest that it shares with the one who asks."`
	Told      bool       `json:"told" doc:"There was room for it in the injection."`
	Mark      string     `json:"mark,omitempty" doc:"Names what the item says here, for shown."`
}
