package api

import (
	"encoding/json"
	"time"
)

// Knowledge is an item in requests and answers: an answer can be remembered again elsewhere. Fields tagged readOnly
// are ignored in requests.
type Knowledge struct {
	ID          string          `json:"id,omitempty" pattern:"^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$" example:"profile_001" doc:"Yours, or a UUIDv7 if left out. Reserved for ever."`
	Type        string          `json:"type,omitempty" enum:"user_profile,strategy,tool,usecase,definition,plan" doc:"May be left out if category or context_type tells it."`
	Task        string          `json:"task,omitempty" maxLength:"2000" doc:"The situation in which it helps. Searched like the content."`
	Content     string          `json:"content" minLength:"1" doc:"The knowledge itself, at most 64 KiB."`
	Abstract    string          `json:"abstract,omitempty" maxLength:"4000" doc:"A hundred tokens or so. If left out, a search with level 0 derives it from the content."`
	Overview    string          `json:"overview,omitempty" maxLength:"16000" doc:"One or two thousand tokens. If left out, a search with level 1 derives it from the content."`
	Tags        Tags            `json:"tags,omitempty" doc:"Business labels: category, domain, and any other key, each with a string or strings; at most 64 values. An array of strings is taken as labels."`
	Scopes      []string        `json:"scopes,omitempty" minItems:"1" maxItems:"32" uniqueItems:"true" doc:"Who may see it: user:ID, agent:ID, project:ID, team:ID, org:ID or public. Only the owner if left out."`
	Owner       string          `json:"owner,omitempty" doc:"Who may revise, share, transfer and forget it: user:ID, agent:ID, project:ID, team:ID or org:ID. You, if left out."`
	Visibility  string          `json:"visibility,omitempty" enum:"private,shared,org,public" doc:"Follows from the scopes; refused if given and contradicting them."`
	ContextType string          `json:"context_type,omitempty" enum:"memory,skill,resource" doc:"memory if left out."`
	Category    string          `json:"category,omitempty" enum:"profile,preferences,entities,events,cases,patterns,tools,skills,antipatterns"`
	Polarity    string          `json:"polarity,omitempty" enum:"positive,negative" doc:"negative for a failure to avoid."`
	Media       string          `json:"media,omitempty" enum:"text,image,video,audio,binary" doc:"The form of the content; text if left out."`
	Meta        json.RawMessage `json:"meta,omitempty" doc:"A free object, at most 16 KiB."`
	URI         string          `json:"uri,omitempty" pattern:"^viking://" doc:"Where it lies; derived if left out. Unique among live items."`
	Source      *Source         `json:"source,omitempty"`
	Trust       string          `json:"trust,omitempty" enum:"person,personal_agent,agent,import,outside" doc:"Who brought the text, the most trusted first: a person, an agent for a user, an agent, an import, a text from outside. The least trusted of what it came from counts; in a request, it can only lower that."`
	Eval        *Eval           `json:"eval,omitempty"`
	OccurredAt  *time.Time      `json:"occurred_at,omitempty" doc:"When it became true in the world."`
	CausationID string          `json:"causation_id,omitempty" writeOnly:"true" maxLength:"128" example:"file:knowledge.ndjson:7" doc:"What caused it: an event's id, or a word of your own. Recorded with the event, as from the header Annals-Causation-Id, which says it of all that a request remembers."`
	Reason      string          `json:"reason,omitempty" writeOnly:"true" maxLength:"2000" doc:"Why, for the history, if update=true revises an item: nothing of the item."`

	Confirm bool `json:"confirm,omitempty" writeOnly:"true" doc:"true: if update=true revises an item, also confirm it. Reports of staleness end."`

	Stale               *Stale     `json:"stale,omitempty" readOnly:"true"`
	ConfirmedAt         *time.Time `json:"confirmed_at,omitempty" readOnly:"true" doc:"When it was last confirmed."`
	ConfirmUntil        *time.Time `json:"confirm_until,omitempty" readOnly:"true" doc:"When that confirmation expires."`
	ConfirmationExpired bool       `json:"confirmation_expired,omitempty" readOnly:"true" doc:"It has: reports of staleness from before the confirmation count again."`
	Verified            *Verified  `json:"verified,omitempty" readOnly:"true" doc:"Missing if it was never confirmed and no verification policy is about it. Not in as-of reads."`
	DisputedBy          []string   `json:"disputed_by,omitempty" readOnly:"true" maxItems:"10" doc:"The ids of items that it contradicts, according to open proposals that you may see. Not in as-of reads."`
	Status              string     `json:"status,omitempty" enum:"active,superseded,deleted,erased,quarantined,proposed" doc:"Only active items can be remembered. Only stewards see quarantined and proposed ones, and an author what they proposed."`
	Quarantined         *Withheld  `json:"quarantined,omitempty" readOnly:"true" doc:"Why a quarantined item is withheld. Only of a single item."`
	SupersededBy        string     `json:"superseded_by,omitempty" readOnly:"true" doc:"The id of the item that took its place."`
	Relations           []Related  `json:"relations,omitempty" readOnly:"true" doc:"Other items that it has to do with."`
	Held                bool       `json:"held,omitempty" readOnly:"true" doc:"Under legal hold."`
	DerivedFrom         []string   `json:"derived_from,omitempty" readOnly:"true" doc:"Ids of the events it was made from."`
	Revision            int64      `json:"revision,omitempty" readOnly:"true" doc:"Counts changes of the item itself; its ETag."`
	Version             int64      `json:"version,omitempty" readOnly:"true" doc:"Counts everything that happened to it."`
	Position            int64      `json:"position,omitempty" readOnly:"true" doc:"Of its newest event in the log."`
	CreatedAt           *time.Time `json:"created_at,omitempty" readOnly:"true"`
	UpdatedAt           *time.Time `json:"updated_at,omitempty" readOnly:"true" doc:"Of its newest revision."`

	Similar []Similar `json:"similar,omitempty" readOnly:"true" maxItems:"5" doc:"In the answer to remembering one new item with on_similar: items of its audience that say the same, contradict it or resemble it."`

	Receipt string `json:"receipt,omitempty" readOnly:"true" doc:"In the answer to reading one item: the id of the receipt of this answer, if one is kept."`

	Redacted map[string]int `json:"redacted,omitempty" readOnly:"true" doc:"In the answer to a write: what was taken out of its texts before they were recorded, by class."`
}

// Withheld says why only stewards see an item.
type Withheld struct {
	Containment string     `json:"containment,omitempty"`
	Reason      string     `json:"reason,omitempty"`
	Since       *time.Time `json:"since,omitempty"`
}

// Filter narrows a search to some items.
type Filter struct {
	Types       OneOrMore  `json:"types,omitempty" doc:"Several are alternatives, as with all of these."`
	ContextType OneOrMore  `json:"context_type,omitempty"`
	Category    OneOrMore  `json:"category,omitempty"`
	Tags        Tags       `json:"tags,omitempty" doc:"Every key must match, by any of its values."`
	Owner       string     `json:"owner,omitempty" minLength:"1"`
	Scope       string     `json:"scope,omitempty" minLength:"1"`
	Visibility  string     `json:"visibility,omitempty" minLength:"1" enum:"private,shared,org,public"`
	URI         string     `json:"uri,omitempty" minLength:"1" doc:"What the URI begins with."`
	Polarity    string     `json:"polarity,omitempty" minLength:"1" enum:"positive,negative"`
	Stale       *bool      `json:"stale,omitempty" doc:"true: reported stale since it was last confirmed, or that confirmation has expired; false: neither."`
	TraceID     string     `json:"trace_id,omitempty" minLength:"1"`
	Status      OneOrMore  `json:"status,omitempty" doc:"active if left out."`
	CreatedFrom *time.Time `json:"created_from,omitempty"`
	CreatedTo   *time.Time `json:"created_to,omitempty"`
	UpdatedFrom *time.Time `json:"updated_from,omitempty"`
	UpdatedTo   *time.Time `json:"updated_to,omitempty"`
}

// Source is where an item came from.
type Source struct {
	Name        string   `json:"name,omitempty" maxLength:"256" doc:"Of the tool or resource."`
	Category    string   `json:"category,omitempty" maxLength:"256" example:"exp" doc:"paper, exp, skill, book …"`
	URLs        []string `json:"urls,omitempty" maxItems:"32"`
	AgentID     string   `json:"agent_id,omitempty" maxLength:"256" doc:"The agent that asked for it to be kept."`
	SubmittedBy string   `json:"submitted_by,omitempty" maxLength:"256" doc:"Who answers for that agent."`
	Timestamp   string   `json:"timestamp,omitempty" example:"2026-03-03" doc:"When it was found out: a time or a date."`
	TraceID     string   `json:"trace_id,omitempty" maxLength:"256"`
}

// Eval says how well an item has worked. In a request for a new item, it is the baseline.
type Eval struct {
	Helpful        *int         `json:"helpful,omitempty" minimum:"0" doc:"How often it was of use; begins at 1, the author's own vote."`
	Harmful        *int         `json:"harmful,omitempty" minimum:"0" doc:"How often it did harm; begins at 0."`
	Confidence     *float64     `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"Follows from the two counts and from reports of staleness."`
	Votes          int          `json:"votes,omitempty" readOnly:"true" doc:"By callers: helpful and harmful without those with which the item began. Only where the confidence policy weighs voters."`
	Voters         int          `json:"voters,omitempty" readOnly:"true" doc:"How many different voters these votes are by."`
	HelpfulHistory []VoteRecord `json:"helpful_history,omitempty" maxItems:"50" doc:"Newest first. Only where one item is asked for."`
	HarmfulHistory []VoteRecord `json:"harmful_history,omitempty" maxItems:"50" doc:"Newest first. Only where one item is asked for."`
}

// VoteRecord is one use of an item, with its judgement.
type VoteRecord struct {
	Query   string     `json:"query,omitempty"`
	TraceID string     `json:"trace_id,omitempty"`
	Outcome string     `json:"outcome,omitempty"`
	By      string     `json:"by,omitempty" doc:"Who voted."`
	At      *time.Time `json:"at,omitempty"`
}

// Stale summarises the reports of staleness since the last confirmation, or all reports if that has expired.
type Stale struct {
	Reporters int        `json:"reporters" doc:"Distinct; each halves the confidence."`
	Since     *time.Time `json:"since,omitempty"`
	Reason    string     `json:"reason,omitempty" doc:"The newest that was given."`
}

// Related is an item to which another one is related.
type Related struct {
	To     string     `json:"to" doc:"The other item's id: it may be gone by now, or not yours to see."`
	Reason string     `json:"reason,omitempty"`
	At     *time.Time `json:"at,omitempty" doc:"When it was recorded."`
}

// Link names items to relate to an item.
type Link struct {
	To     []string `json:"to" minItems:"1" maxItems:"64" doc:"Ids of other items that you see."`
	Reason string   `json:"reason,omitempty" maxLength:"2000"`
}

// Similar is an item that resembles a new one.
type Similar struct {
	ID    string  `json:"id"`
	Kind  string  `json:"kind" enum:"duplicate,contradiction,similar"`
	Score float64 `json:"score" minimum:"0" maximum:"1" doc:"How much of the subject they share."`
	Rule  string  `json:"rule,omitempty" example:"number" doc:"By which they are a duplicate or a contradiction, or unsure."`
}

// KeptVersion is the part of a recorded event that a client should keep.
type KeptVersion struct {
	EventID  string `json:"event_id"`
	Position int64  `json:"position"`
	Hash     string `json:"hash" doc:"Of the record, in hexadecimal."`
}
