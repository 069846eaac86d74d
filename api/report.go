package api

import (
	"time"
)

// Usage is one use of an item: an actor received it, found it helpful, or was denied it.
type Usage struct {
	At            time.Time  `json:"at"`
	Kind          string     `json:"kind" enum:"search,get,list,review,found helpful,denied"`
	Actor         string     `json:"actor,omitempty" doc:"Missing if unknown."`
	OnBehalfOf    string     `json:"on_behalf_of,omitempty"`
	Item          string     `json:"item,omitempty" doc:"The id of an item."`
	Rank          int        `json:"rank,omitempty" doc:"Its place in the answer, from 1."`
	Score         float64    `json:"score,omitempty" doc:"Of a search."`
	Route         string     `json:"route,omitempty" doc:"What was denied."`
	Status        int        `json:"status,omitempty" doc:"What it was denied with."`
	RequestID     string     `json:"request_id,omitempty"`
	CorrelationID string     `json:"correlation_id,omitempty"`
	TraceID       string     `json:"trace_id,omitempty"`
	HarmfulAt     *time.Time `json:"harmful_at,omitempty" doc:"When the item was first found harmful, of the votes that count; missing if it was not."`
	Before        bool       `json:"before_harm,omitempty" doc:"It was used before that."`
}

// ItemStanding is an item that stands out, and why.
type ItemStanding struct {
	ID         string     `json:"id"`
	Task       string     `json:"task,omitempty"`
	Owner      string     `json:"owner"`
	Scopes     []string   `json:"scopes" nullable:"false"`
	Status     string     `json:"status" enum:"active,superseded,deleted,erased"`
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

// Reviews is a page of items that wait for a review.
type Reviews struct {
	Items      []Review               `json:"items" nullable:"false"`
	NextCursor string                 `json:"next_cursor,omitempty"`
	Total      int                    `json:"total" doc:"How many items all pages have."`
	Queues     map[string]ReviewQueue `json:"queues" doc:"Every queue by its name, for the same owner and scope."`
}

// ReviewQueue is the length of a queue.
type ReviewQueue struct {
	Items int  `json:"items"`
	More  bool `json:"more,omitempty" doc:"There are more, which are not counted and not listed yet."`
}

// Review is an item that waits for a review, and why.
type Review struct {
	Item    *Knowledge     `json:"item"`
	Reasons []ReviewReason `json:"reasons" nullable:"false"`
	Used    *ReviewUse     `json:"used,omitempty" doc:"Its use in the last 90 days, where retrievals are recorded."`
}

// ReviewReason is why an item waits in a queue.
type ReviewReason struct {
	Queue string     `json:"queue" example:"stale" doc:"Later versions may add queues."`
	Since *time.Time `json:"since,omitempty" doc:"The time of the first report, of the expiry, of the newest vote against it, or of the supersession."`
	Count int        `json:"count,omitempty" doc:"How many report it stale, or voted against it."`
	Text  string     `json:"text,omitempty" doc:"The newest reason of a report, or the id of the item that supersedes it."`
}

// ReviewUse is how often an item was given to callers. Reviews do not count.
type ReviewUse struct {
	Count int        `json:"count" doc:"At most 100 are counted."`
	Last  *time.Time `json:"last,omitempty"`
}
