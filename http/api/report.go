package api

import (
	"time"
)

// ItemStanding is an item that stands out, and why.
type ItemStanding struct {
	ID         string     `json:"id"`
	Task       string     `json:"task,omitempty"`
	Owner      string     `json:"owner"`
	Scopes     []string   `json:"scopes" nullable:"false"`
	Status     string     `json:"status" enum:"active,superseded,deleted,erased,quarantined,proposed"`
	Count      int        `json:"count" doc:"What it is ranked by: votes against it, reports of staleness, or how often its confidence fell, in the time that was asked about."`
	Last       *time.Time `json:"last,omitempty" doc:"The newest of them."`
	Before     *float64   `json:"before,omitempty" doc:"Of what falls: the confidence when the time began."`
	After      *float64   `json:"after,omitempty" doc:"And when it ended."`
	Policy     string     `json:"confidence_policy,omitempty" doc:"Of what falls: the confidence policy that computed both."`
	Helpful    int        `json:"helpful" doc:"By now, as the following."`
	Harmful    int        `json:"harmful"`
	Confidence float64    `json:"confidence"`
	Reporters  int        `json:"stale_reporters"`
	Expired    bool       `json:"confirmation_expired,omitempty" doc:"It was confirmed until a date that has passed."`
	Reason     string     `json:"stale_reason,omitempty" doc:"The newest."`
}

// ScopeHealth says how well the active items of a scope are looked after. Shares are from 0 to 1.
type ScopeHealth struct {
	Scope     string  `json:"scope" example:"team:pay" doc:"A scope, or all."`
	Items     int     `json:"items"`
	Verified  float64 `json:"verified" doc:"The share that was confirmed, was not reported stale since, and is not overdue."`
	Stale     float64 `json:"stale" doc:"The share that was reported stale since its last confirmation, or whose confirmation has expired."`
	Contested float64 `json:"contested" doc:"The share that is contested: found harmful or reported stale, with a confidence below 0.2, or disputed by items that you may see."`
	Overdue   float64 `json:"overdue" doc:"The share whose verification is overdue."`
	Unowned   float64 `json:"unowned" doc:"The share whose owner was deactivated."`
	MedianAge float64 `json:"median_age_days" doc:"The median of the days since the items were remembered."`
	New       float64 `json:"new" doc:"The share that was remembered less than 30 days ago, was never voted on or confirmed, and is not doubtful."`
	Doubtful  float64 `json:"doubtful" doc:"The share that is stale, contested or overdue, or whose confidence is below 0.3."`
}

// Reviews is a page of items that wait for a review.
type Reviews struct {
	Items      []Review               `json:"items" nullable:"false"`
	NextCursor string                 `json:"next_cursor,omitempty"`
	Receipt    string                 `json:"receipt,omitempty" doc:"The id of the receipt of this page, if one is kept; also in the header Annals-Receipt."`
	Total      int                    `json:"total" doc:"How many items all pages have."`
	Queues     map[string]ReviewQueue `json:"queues" doc:"Every queue by its name, for the same owner and scope."`
	ByAssignee []ReviewLoad           `json:"by_assignee" nullable:"false" doc:"To whom the items of all pages are assigned: the 20 with most of them."`
	ByScope    []ReviewLoad           `json:"by_scope" nullable:"false" doc:"Whom they reach: the 20 scopes with most of them."`
}

// ReviewLoad is how many items wait for an assignee, or reach a scope.
type ReviewLoad struct {
	Of    string     `json:"of" example:"user:mia" doc:"Empty for what is assigned to nobody."`
	Items int        `json:"items"`
	Since *time.Time `json:"since,omitempty" doc:"The oldest reason of its items."`
}

// ReviewQueue is the length of a queue.
type ReviewQueue struct {
	Items int  `json:"items"`
	More  bool `json:"more,omitempty" doc:"There are more, which are not counted and not listed yet."`
}

// Review is an item that waits for a review, and why.
type Review struct {
	Item     *Knowledge     `json:"item"`
	Reasons  []ReviewReason `json:"reasons" nullable:"false"`
	Assigned *Assignment    `json:"assigned,omitempty" doc:"Missing if there is nobody to whom it could be."`
	Used     *ReviewUse     `json:"used,omitempty" doc:"Its use in the last 90 days, where retrievals are recorded."`
	Pair     *ReviewPair    `json:"pair,omitempty" doc:"In the queues duplicate and contradiction: the proposal with the highest score. Of contradictions that share items, the newest."`
}

// ReviewPair is an open proposal to review an item together with others, or several contradictions that share items.
type ReviewPair struct {
	Proposal string       `json:"proposal" doc:"Its id."`
	Kind     string       `json:"kind" enum:"duplicate,contradiction"`
	Score    float64      `json:"score,omitempty" doc:"0…1, if a program judged."`
	Rule     string       `json:"rule,omitempty" doc:"By which a program judged."`
	By       string       `json:"by" doc:"Who proposed it."`
	Reason   string       `json:"reason,omitempty" doc:"As the proposer or a language model gave it."`
	Items    []*Knowledge `json:"items" nullable:"false" doc:"The other items, at most 20."`
	All      []string     `json:"all" nullable:"false" doc:"The ids of all open proposals between these items. A merge closes them at once."`
}

// NewProposal proposes to review items together.
type NewProposal struct {
	Kind   string   `json:"kind" enum:"duplicate,contradiction"`
	Items  []string `json:"items" nullable:"false" minItems:"2" maxItems:"10" doc:"Ids of items that the caller may see."`
	Reason string   `json:"reason,omitempty" maxLength:"2000"`
}

// Proposal is a proposal to review items together. It changes no item.
type Proposal struct {
	ID       string     `json:"id"`
	Kind     string     `json:"kind" enum:"duplicate,contradiction"`
	Items    []string   `json:"items" nullable:"false" doc:"Ids."`
	Score    float64    `json:"score,omitempty" doc:"0…1, if a program judged."`
	Rule     string     `json:"rule,omitempty" doc:"By which a program judged."`
	By       string     `json:"by" example:"agent:annals" doc:"Who proposed it."`
	At       *time.Time `json:"at"`
	Outcome  string     `json:"outcome,omitempty" enum:"merged,superseded,distinct,dismissed,obsolete" doc:"Missing while it is open."`
	ClosedAt *time.Time `json:"closed_at,omitempty"`
}

// ProposalClosing closes a proposal without a merge.
type ProposalClosing struct {
	Outcome string `json:"outcome" enum:"superseded,distinct,dismissed,obsolete" doc:"distinct: the items are neither duplicates nor contradictions. dismissed: nothing is to be done."`
	Reason  string `json:"reason,omitempty" maxLength:"2000"`

	Also []string `json:"also,omitempty" doc:"Ids of other proposals to close in the same way: all of them, or none."`
}

// Assignment is who should review an item, and why.
type Assignment struct {
	To  []string `json:"to" example:"user:mia"`
	Why string   `json:"why" enum:"owner,maintainer,verifier"`
}

// ReviewReason is why an item waits in a queue.
type ReviewReason struct {
	Queue string     `json:"queue" example:"stale" doc:"Later versions may add queues."`
	Since *time.Time `json:"since,omitempty" doc:"The time of the first report or proposal, of the expiry, of the newest vote against it, of the supersession, of the end of the verification, of the deactivation, or of the last confirmation of an unused item."`
	Count int        `json:"count,omitempty" doc:"How many report it stale, voted against it, or how many proposals there are."`
	Text  string     `json:"text,omitempty" doc:"The newest reason of a report, the id of the item that supersedes it, or the owner that was deactivated."`
}

// ReviewUse is how often an item was given to callers. Reviews do not count.
type ReviewUse struct {
	Count int        `json:"count" doc:"At most 100 are counted."`
	Last  *time.Time `json:"last,omitempty"`
}
