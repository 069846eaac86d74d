package api

// Search is a request for a search.
type Search struct {
	Query    string    `json:"query,omitempty" example:"which language does the user prefer?"`
	Vector   []float32 `json:"vector,omitempty" doc:"Instead of letting the server embed the query; of the embedder's dimensions."`
	Context  *Searcher `json:"context,omitempty" doc:"For whom: only their scopes and public count, the nearest first. Left out: everything you belong to, or the whole tenant if you may read that."`
	Limit    *int      `json:"limit,omitempty" nullable:"false" minimum:"1" maximum:"100" doc:"10 if left out."`
	MinScore *float64  `json:"min_score,omitempty" minimum:"0" maximum:"1" doc:"0.5 means: about this. The embedder's default if left out."`
	Order    string    `json:"order,omitempty" minLength:"1" enum:"priority,score" doc:"priority, if left out: the best hits by tier, user > project > agent > team > org > public."`
	Level    *int      `json:"level,omitempty" minimum:"0" maximum:"2" doc:"Which text stands as the content of a hit: 0 the abstract, 1 the overview, 2 the content itself, as if left out. What is short has nothing shorter, and stays. All of an item is searched, whatever is asked for."`
	Explain  bool      `json:"explain,omitempty" doc:"Say how the answer came about."`
	Everyone bool      `json:"everyone,omitempty" doc:"For a key that reads the whole tenant and asks without a context: also what is private to others. A filter by owner, scope, visibility or place asks for that, too."`
	Copies   bool      `json:"copies,omitempty" doc:"Each item is a hit of its own, even if others say exactly the same."`
	Position bool      `json:"position,omitempty" doc:"Say up to which position of the log everything was looked at."`
	Facets   bool      `json:"facets,omitempty" doc:"Count the best 100 hits by their fields."`
	AsOf     AsOf      `json:"as_of,omitempty"`

	Filter
}

// Searcher says for whom a search is made. Its ids have no prefix such as "user:".
type Searcher struct {
	UserID     string   `json:"user_id,omitempty" minLength:"1" example:"123"`
	AgentID    string   `json:"agent_id,omitempty" minLength:"1"`
	ProjectID  string   `json:"project_id,omitempty" minLength:"1"`
	ProjectIDs []string `json:"project_ids,omitempty"`
	TeamID     string   `json:"team_id,omitempty" minLength:"1"`
	TeamIDs    []string `json:"team_ids,omitempty"`
	OrgID      string   `json:"org_id,omitempty" minLength:"1"`
	OrgIDs     []string `json:"org_ids,omitempty"`
}

// Hit is one hit of a search.
type Hit struct {
	Knowledge *Knowledge `json:"knowledge"`
	Score     float64    `json:"score" doc:"0 to 1: how much it is about the query; 0.5 means: about this."`
	Scope     string     `json:"scope" example:"project:456" doc:"The nearest that it shares with the searcher."`
	Tier      string     `json:"tier" enum:"user,project,agent,team,org,public"`
	Weight    float64    `json:"weight" doc:"score × (½ + ½·confidence), × 0.9 if its verification is overdue, × 1.1 up to the score if its verifier confirmed it: the order within a tier."`
	Band      string     `json:"band,omitempty" enum:"sure,perhaps" doc:"sure: it is about the query. perhaps: one of the nearest items, at most five, after the sure ones; it may not be about the query. Missing if the search sets min_score."`
	Beside    string     `json:"beside,omitempty" doc:"Beside which item this remark stands in a conversation. Alone, it has nothing in common with the query."`
	Best      bool       `json:"best" doc:"Among the best hits, which come by tier: at least three quarters of the best score."`
	Reason    string     `json:"reason,omitempty" enum:"nearer scope" doc:"Why it stands before a hit of more weight."`
	Copies    int        `json:"copies,omitempty" doc:"How many other items that were found say exactly the same. The one with the nearest scope is shown."`
	Contested bool       `json:"contested,omitempty" doc:"Do not rely on it: it was found harmful or reported stale, and its confidence is below 0.2, or it is disputed_by other items. The votes are in eval, reports of staleness in stale, what took its place in superseded_by."`
	Parts     Parts      `json:"parts"`
	Terms     []string   `json:"terms,omitempty" doc:"With explain: which of the query's terms it contains."`
}

// Parts are the components of score and weight, each 0 to 1.
type Parts struct {
	Semantic   float64  `json:"semantic" doc:"Meaning."`
	Model      float64  `json:"model,omitempty" doc:"What the configured embedding model says, which is part of meaning; missing without such a model, or while it has no vector of the item."`
	Pending    bool     `json:"semantic_pending,omitempty" doc:"With explain: meaning is not computed yet, and words stand alone."`
	Lexical    float64  `json:"lexical" doc:"Words."`
	Confidence float64  `json:"confidence"`
	Reasons    []string `json:"reasons,omitempty" doc:"With explain: what raised the score beyond its own text."`
	Overdue    bool     `json:"overdue,omitempty" doc:"Its verification is overdue: the weight is multiplied by 0.9."`
	Confirmed  bool     `json:"confirmed,omitempty" doc:"Its verifier confirmed it: the weight is multiplied by 1.1, up to the score."`
}

// SearchAnswer is the result of a search.
type SearchAnswer struct {
	Items    []Hit        `json:"items" nullable:"false"`
	Embedder string       `json:"embedder" doc:"The vector space of the configured embedding model, beside which the built-in one is always compared."`
	Degraded string       `json:"degraded,omitempty" doc:"Why the embedding model took no part, or that some items have no vector; missing when it took part for all."`
	Warning  string       `json:"warning,omitempty" doc:"How the query was read, where that may surprise: what it leaves out, and how one of more than 8,000 characters was shortened."`
	MinScore float64      `json:"min_score"`
	Weak     bool         `json:"weak,omitempty" doc:"No hit is sure: nobody may have written what the query asks for. The hits are the nearest items."`
	Explain  *Explanation `json:"explain,omitempty" doc:"When asked for, or when there are no hits."`
	Facets   *HitFacets   `json:"facets,omitempty" doc:"When asked for."`
	Receipt  string       `json:"receipt,omitempty" doc:"The id of the receipt of this answer, if one is kept; also in the header Annals-Receipt."`
	Position *int64       `json:"position,omitempty" doc:"When asked for: whatever was recorded up to here was looked at, by its words at least. The same question as of this position gets the same answer again."`
}

// HitFacets count hits by their fields, also those beyond the limit of the answer.
type HitFacets struct {
	Hits       int   `json:"hits" doc:"That are counted: at most 100."`
	Types      Facet `json:"types"`
	Categories Facet `json:"categories"`
	Scopes     Facet `json:"scopes" doc:"The nearest that they share with the searcher."`
	Owners     Facet `json:"owners"`
	Tags       Facet `json:"tags"`
}

// Explanation says how an answer came about.
type Explanation struct {
	Audience  []string    `json:"audience" nullable:"false" doc:"The scopes that counted; none means everything in the tenant."`
	Visible   int64       `json:"visible" doc:"Items in those scopes."`
	Passed    int64       `json:"passed" doc:"Of those, items that passed the filters."`
	BestBelow float64     `json:"best_below" doc:"The best score that was not shown: it is below min_score; 0 if there was none."`
	Terms     []string    `json:"terms" nullable:"false" doc:"The words of the query as they are compared."`
	Plans     []ScopePlan `json:"plans" nullable:"false"`
	TookMS    float64     `json:"took_ms"`
}

// ScopePlan says how the vectors of a scope were searched.
type ScopePlan struct {
	Scope string `json:"scope"`
	Items int64  `json:"items"`
	Plan  string `json:"plan" doc:"exact, sketch or none."`
}
