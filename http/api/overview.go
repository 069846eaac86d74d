package api

import "time"

// Overview counts items. Its other counts are of the items.
type Overview struct {
	Items    int  `json:"items" doc:"That pass the filters and that you may see."`
	Complete bool `json:"complete" doc:"false: more items pass than were counted. Then all counts are of the newest."`

	Types      Facet `json:"types"`
	Statuses   Facet `json:"statuses" doc:"Of active and superseded items, and of the statuses that the filter names. The other counts are of items that pass the filter status: active, if it is left out."`
	Categories Facet `json:"categories"`
	Owners     Facet `json:"owners"`
	Scopes     Facet `json:"scopes"`
	Tags       Facet `json:"tags" doc:"As the filter tag has them: key:value, or a label."`

	Confidence []ConfidenceCount `json:"confidence" nullable:"false" doc:"By tenths, as it is now. The last one includes 1."`

	Stale     int       `json:"stale" doc:"Reported stale, or with a confirmation that has expired: stale=true lists them."`
	Expired   int       `json:"expired" doc:"With a confirmation that has expired."`
	Contested int       `json:"contested" doc:"Found harmful or reported stale, with a confidence below 0.2 now, or disputed by items that you may see."`
	Confirmed int       `json:"confirmed" doc:"Confirmed, and not stale."`
	Helpful   int       `json:"helpful" doc:"Found helpful since the time since, of the votes that count now."`
	Since     time.Time `json:"since" doc:"About seven days ago: the beginning of that day in UTC."`
	Unused    *int      `json:"unused,omitempty" doc:"Without a helpful vote, and in no recorded search or read. Missing if no accesses are recorded. For auditors and admins."`

	ByScope []ScopeOverview `json:"by_scope" nullable:"false" doc:"Of the 100 scopes with the most items."`
}

// ScopeOverview counts the items of a scope.
type ScopeOverview struct {
	Scope      string  `json:"scope"`
	Items      int     `json:"items"`
	Stale      int     `json:"stale"`
	Contested  int     `json:"contested"`
	Confirmed  int     `json:"confirmed"`
	Unused     *int    `json:"unused,omitempty"`
	Confidence float64 `json:"confidence" doc:"The mean."`
}

// Facet is how many items have which value, the most frequent first.
type Facet struct {
	Counts []ValueCount `json:"counts" nullable:"false"`
	More   bool         `json:"more,omitempty" doc:"There are other values."`
}

// ValueCount is how many items have a value.
type ValueCount struct {
	Value string `json:"value"`
	Items int    `json:"items"`
}

// ConfidenceCount is how many items have a confidence from a number on, and below another.
type ConfidenceCount struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Items int     `json:"items"`
}
