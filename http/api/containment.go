package api

import "time"

// Tainted names what a containment begins with.
type Tainted struct {
	Items   []string `json:"items,omitempty" maxItems:"100" doc:"Ids of items."`
	Actor   string   `json:"actor,omitempty" example:"agent:coder" doc:"Who wrote, or for whom."`
	Source  string   `json:"source,omitempty" doc:"The name of the source of items, or their URL, or what that begins with up to a slash."`
	Session string   `json:"session,omitempty" example:"user:mia/planning" doc:"A session, as OWNER/ID: what was said in it, and items with the trace ID."`
	Since   string   `json:"since,omitempty" example:"2026-03-01" doc:"Only what the actor, the source or the session wrote at or after this time or date."`
	WhatIf  bool     `json:"what_if,omitempty" doc:"Also show the knowledge as if the source had never written. That reads the whole log."`
}

// NewContainment asks to contain.
type NewContainment struct {
	Tainted

	Reason string `json:"reason" maxLength:"1000" doc:"Stewards and auditors read it."`
	Digest string `json:"digest,omitempty" doc:"Of the preview. If something else is affected by now, nothing is done."`
}

// ContainedScope counts the affected items of a scope.
type ContainedScope struct {
	Scope string `json:"scope"`
	Items int    `json:"items"`
}

// ContainedItem is an affected item.
type ContainedItem struct {
	ID     string `json:"id"`
	Title  string `json:"title,omitempty"`
	Owner  string `json:"owner,omitempty"`
	Status string `json:"status,omitempty" doc:"As it is now."`
	Why    string `json:"why,omitempty" enum:"named,written,derived,merged,copied" doc:"Only in a preview."`
}

// ContainmentPreview is what a containment would do.
type ContainmentPreview struct {
	Items   int              `json:"items" doc:"Items that would be quarantined."`
	Others  int              `json:"others" doc:"Affected items that you may not contain, or that you may not see."`
	Already int              `json:"already" doc:"Affected items that are quarantined already."`
	Why     map[string]int   `json:"why" doc:"The items by the reason for which they are affected."`
	Scopes  []ContainedScope `json:"scopes" nullable:"false" doc:"An item counts in each of its scopes."`
	Votes   int              `json:"votes" doc:"Votes of the actor on other items, which would not count any more."`
	Revived int              `json:"revived" doc:"Superseded items that would come back, since an affected item superseded them."`
	Answers *int64           `json:"answers,omitempty" doc:"Answers that had any of the items. Missing if this server keeps no receipts."`
	Told    []string         `json:"told,omitempty" doc:"Who was given these answers."`
	Digest  string           `json:"digest" doc:"Send it with the containment."`
	Sample  []ContainedItem  `json:"sample" nullable:"false" doc:"The first 50 items."`
	WhatIf  *WhatIf          `json:"what_if,omitempty"`
}

// WhatIf is the knowledge as if a source had never written.
type WhatIf struct {
	Active  int          `json:"active" doc:"Active items that you may see."`
	Without int          `json:"without" doc:"How many there would be."`
	Best    []WhatIfItem `json:"best" nullable:"false" doc:"The 20 that would be trusted most."`
}

// WhatIfItem is an item of a [WhatIf].
type WhatIfItem struct {
	ID         string  `json:"id"`
	Title      string  `json:"title,omitempty"`
	Confidence float64 `json:"confidence"`
	Helpful    int     `json:"helpful"`
	Harmful    int     `json:"harmful"`
}

// Containment is a group of items that were quarantined together.
type Containment struct {
	ID       string           `json:"id"`
	By       string           `json:"by"`
	At       time.Time        `json:"at"`
	Reason   string           `json:"reason,omitempty"`
	Named    []string         `json:"named,omitempty" doc:"Ids of the items that were named."`
	Actor    string           `json:"actor,omitempty"`
	Source   string           `json:"source,omitempty"`
	Session  string           `json:"session,omitempty"`
	Since    *time.Time       `json:"since,omitempty"`
	Items    int              `json:"items"`
	Votes    int              `json:"votes"`
	Revived  int              `json:"revived"`
	Scopes   []ContainedScope `json:"scopes" nullable:"false"`
	UndoneBy string           `json:"undone_by,omitempty"`
	UndoneAt *time.Time       `json:"undone_at,omitempty"`
	Sample   []ContainedItem  `json:"sample,omitempty" doc:"The first 50 items that you may see. Only of one containment."`
}

// Containments is a list of containments.
type Containments struct {
	Items []Containment `json:"items" nullable:"false" doc:"The newest first, at most 500."`
}

// UndoContainment says why a containment is undone.
type UndoContainment struct {
	Reason string `json:"reason,omitempty" maxLength:"1000"`
}

// ReleaseItems names the items that are released.
type ReleaseItems struct {
	Items  []string `json:"items" minItems:"1" maxItems:"100"`
	Reason string   `json:"reason,omitempty" maxLength:"1000"`
}

// Released counts what was released.
type Released struct {
	Items int `json:"items"`
}
