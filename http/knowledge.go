package http

import (
	"time"

	"github.com/annals-kb/annals/domain"
)

// knowledge is a piece of knowledge as the API shows it and takes it: what was read can be
// remembered again, elsewhere. Fields tagged readOnly are ignored when they come in.
type knowledge struct {
	ID          string     `json:"id,omitempty" pattern:"^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$" example:"profile_001" doc:"Yours, or a UUIDv7 if left out. Reserved for ever."`
	Type        string     `json:"type,omitempty" enum:"user_profile,strategy,tool,usecase,definition,plan" doc:"May be left out if category or context_type tells it."`
	Task        string     `json:"task,omitempty" maxLength:"2000" doc:"What one was doing, in which situation. Searched like the content."`
	Content     string     `json:"content" minLength:"1" doc:"The knowledge itself, at most 64 KiB."`
	Abstract    string     `json:"abstract,omitempty" maxLength:"4000" doc:"A hundred tokens or so. If left out, a search with level 0 derives it from the content."`
	Overview    string     `json:"overview,omitempty" maxLength:"16000" doc:"One or two thousand tokens. If left out, a search with level 1 derives it from the content."`
	Tags        tags       `json:"tags,omitempty" doc:"Business labels: category, domain, and any other key, each with a string or strings; at most 64 values. An array of strings is taken as labels."`
	Scopes      []string   `json:"scopes,omitempty" minItems:"1" maxItems:"32" uniqueItems:"true" doc:"Who may see it: user:ID, agent:ID, project:ID, team:ID, org:ID or public. Only the owner if left out."`
	Owner       string     `json:"owner,omitempty" doc:"Who may revise, share, transfer and forget it: user:ID, agent:ID, project:ID, team:ID or org:ID. You, if left out."`
	Visibility  string     `json:"visibility,omitempty" enum:"private,shared,org,public" doc:"Follows from the scopes; refused if given and contradicting them."`
	ContextType string     `json:"context_type,omitempty" enum:"memory,skill,resource" doc:"memory if left out."`
	Category    string     `json:"category,omitempty" enum:"profile,preferences,entities,events,cases,patterns,tools,skills,antipatterns"`
	Polarity    string     `json:"polarity,omitempty" enum:"positive,negative" doc:"negative for a failure to avoid."`
	Media       string     `json:"media,omitempty" enum:"text,image,video,audio,binary" doc:"The form of the content; text if left out."`
	Meta        object     `json:"meta,omitempty" doc:"A free object, at most 16 KiB."`
	URI         string     `json:"uri,omitempty" pattern:"^viking://" doc:"Where it lies; derived if left out. Unique among live items."`
	Source      *source    `json:"source,omitempty"`
	Eval        *eval      `json:"eval,omitempty"`
	OccurredAt  *time.Time `json:"occurred_at,omitempty" doc:"When it became true in the world."`
	CausationID string     `json:"causation_id,omitempty" writeOnly:"true" maxLength:"128" example:"file:knowledge.ndjson:7" doc:"What caused it: an event's id, or a word of your own. Recorded with the event, as from the header Annals-Causation-Id, which says it of all that a request remembers."`
	Reason      string     `json:"reason,omitempty" writeOnly:"true" maxLength:"2000" doc:"Why, for the history, if update=true revises an item: nothing of the item."`

	Stale               *stale     `json:"stale,omitempty" readOnly:"true"`
	ConfirmedAt         *time.Time `json:"confirmed_at,omitempty" readOnly:"true" doc:"When somebody last said that it still holds."`
	ConfirmUntil        *time.Time `json:"confirm_until,omitempty" readOnly:"true" doc:"When that confirmation expires."`
	ConfirmationExpired bool       `json:"confirmation_expired,omitempty" readOnly:"true" doc:"It has: reports of staleness from before the confirmation count again."`
	Status              string     `json:"status,omitempty" enum:"active,superseded,deleted,erased" doc:"Only active items can be remembered."`
	SupersededBy        string     `json:"superseded_by,omitempty" readOnly:"true" doc:"The id of the item that took its place."`
	Relations           []related  `json:"relations,omitempty" readOnly:"true" doc:"Other items that it has to do with."`
	Held                bool       `json:"held,omitempty" readOnly:"true" doc:"Under legal hold."`
	DerivedFrom         []string   `json:"derived_from,omitempty" readOnly:"true" doc:"Ids of the events it was made from."`
	Revision            int64      `json:"revision,omitempty" readOnly:"true" doc:"Counts changes of the item itself; its ETag."`
	Version             int64      `json:"version,omitempty" readOnly:"true" doc:"Counts everything that happened to it."`
	Position            int64      `json:"position,omitempty" readOnly:"true" doc:"Of its newest event in the log."`
	CreatedAt           *time.Time `json:"created_at,omitempty" readOnly:"true"`
	UpdatedAt           *time.Time `json:"updated_at,omitempty" readOnly:"true" doc:"Of its newest revision."`

	Redacted map[string]int `json:"redacted,omitempty" readOnly:"true" doc:"In the answer to a write: what was taken out of its texts before they were recorded, by class."`
}

// source says where an item came from.
type source struct {
	Name        string   `json:"name,omitempty" maxLength:"256" doc:"Of the tool or resource."`
	Category    string   `json:"category,omitempty" maxLength:"256" example:"exp" doc:"paper, exp, skill, book …"`
	URLs        []string `json:"urls,omitempty" maxItems:"32"`
	AgentID     string   `json:"agent_id,omitempty" maxLength:"256" doc:"The agent that asked for it to be kept."`
	SubmittedBy string   `json:"submitted_by,omitempty" maxLength:"256" doc:"Who answers for that agent."`
	Timestamp   string   `json:"timestamp,omitempty" example:"2026-03-03" doc:"When it was found out: a time or a date."`
	TraceID     string   `json:"trace_id,omitempty" maxLength:"256"`
}

// eval is how an item has proved itself. Given with a new item it is what it begins with.
type eval struct {
	Helpful        *int         `json:"helpful,omitempty" minimum:"0" doc:"How often it was of use; begins at 1, the author's own vote."`
	Harmful        *int         `json:"harmful,omitempty" minimum:"0" doc:"How often it did harm; begins at 0."`
	Confidence     *float64     `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"Follows from the two counts and from reports of staleness."`
	HelpfulHistory []voteRecord `json:"helpful_history,omitempty" maxItems:"50" doc:"Newest first. Only where one item is asked for."`
	HarmfulHistory []voteRecord `json:"harmful_history,omitempty" maxItems:"50" doc:"Newest first. Only where one item is asked for."`
}

// voteRecord is one occasion on which an item was used and judged.
type voteRecord struct {
	Query   string     `json:"query,omitempty"`
	TraceID string     `json:"trace_id,omitempty"`
	Outcome string     `json:"outcome,omitempty"`
	By      string     `json:"by,omitempty" doc:"Whose voice it is."`
	At      *time.Time `json:"at,omitempty"`
}

// stale summarises the reports of staleness since the item was last confirmed, or all where that has expired.
type stale struct {
	Reporters int        `json:"reporters" doc:"Distinct; each halves the confidence."`
	Since     *time.Time `json:"since,omitempty"`
	Reason    string     `json:"reason,omitempty" doc:"The newest that was given."`
}

func knowledgeOf(k *domain.Knowledge) *knowledge {
	return &knowledge{
		ID: k.ID, Type: string(k.Type), Task: k.Text.Task, Content: k.Text.Content,
		Abstract: k.Text.Abstract, Overview: k.Text.Overview, Tags: tags(k.Text.Tags),
		Scopes: plain(k.Scopes), Owner: string(k.Owner), Visibility: string(k.Visibility()),
		ContextType: string(k.ContextType), Category: string(k.Category),
		Polarity: string(k.Polarity), Media: string(k.Media), Meta: object(k.Text.Meta),
		URI: k.Text.URI, Source: sourceOf(k.Source),
		Eval:       &eval{Helpful: &k.Helpful, Harmful: &k.Harmful, Confidence: &k.Confidence},
		OccurredAt: known(k.OccurredAt),
		Stale:      &stale{Reporters: k.Stale.Reporters, Since: known(k.Stale.Since), Reason: k.Stale.Reason},

		ConfirmedAt: known(k.ConfirmedAt), ConfirmUntil: known(k.ConfirmUntil), ConfirmationExpired: k.Expired,
		Status: string(k.Status), SupersededBy: k.SupersededBy, Held: k.Held,
		Relations: relationsOf(k.Relations), DerivedFrom: k.DerivedFrom, Revision: k.Revision, Version: k.Version,
		Position: k.Position, CreatedAt: known(k.CreatedAt), UpdatedAt: known(k.UpdatedAt),
	}
}

func sourceOf(s domain.Source) *source {
	if s.Name+s.Category+s.AgentID+s.SubmittedBy+s.Timestamp+s.TraceID == "" && len(s.URLs) == 0 {
		return nil
	}
	return &source{
		Name: s.Name, Category: s.Category, URLs: s.URLs, AgentID: s.AgentID,
		SubmittedBy: s.SubmittedBy, Timestamp: s.Timestamp, TraceID: s.TraceID,
	}
}

func usesOf(all []domain.Use) []voteRecord {
	uses := make([]voteRecord, len(all))
	for i, u := range all {
		uses[i] = voteRecord{Query: u.Query, TraceID: u.TraceID, Outcome: u.Outcome, By: string(u.By), At: known(u.At)}
	}
	return uses
}

// known is t in UTC, or nil if nobody knows.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// plain and spoken turn strings with a meaning into strings without, and back.
func plain[T ~string](words []T) []string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = string(word)
	}
	return all
}

func spoken[T ~string](words []string) []T {
	if words == nil {
		return nil
	}
	all := make([]T, len(words))
	for i, word := range words {
		all[i] = T(word)
	}
	return all
}
