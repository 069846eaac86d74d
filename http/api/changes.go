package api

import (
	"time"
)

// BulkAnswer is the result of one record of a bulk request, in their order.
type BulkAnswer struct {
	ID       string         `json:"id,omitempty" doc:"Of the item; missing if the record did not tell and nothing was remembered."`
	Status   string         `json:"status" enum:"created,proposed,unchanged,revised,recorded,error" doc:"recorded: a vote, a report or a confirmation. proposed: new, and waiting for a steward."`
	Revision int64          `json:"revision,omitempty"`
	Receipt  []KeptVersion  `json:"receipt,omitempty" doc:"What to keep in order to ask for proof; missing if nothing was recorded."`
	Redacted map[string]int `json:"redacted,omitempty" doc:"What was taken out of its texts before they were recorded, by class."`
	Error    *Problem       `json:"error,omitempty"`
}

// Act is what the caller does to one of many items. An act takes the fields of its own operation.
type Act struct {
	ID      string     `json:"id" doc:"Of the item."`
	Act     string     `json:"act" enum:"confirm,stale,supersede,transfer,forget,restore,helpful,harmful"`
	IfMatch int64      `json:"if_match,omitempty" doc:"The revision that you read: the act happens to no other."`
	Reason  string     `json:"reason,omitempty" maxLength:"2000" doc:"Not of a vote."`
	Until   *time.Time `json:"until,omitempty" doc:"Of confirm: when the item should be looked at again."`
	By      string     `json:"by,omitempty" doc:"Of supersede: the id of the item that takes the place."`
	Owner   string     `json:"owner,omitempty" example:"team:pay" doc:"Of transfer: the new owner."`
	Query   string     `json:"query,omitempty" maxLength:"2000" doc:"Of a vote, as the following: what the item was used for."`
	Outcome string     `json:"outcome,omitempty" maxLength:"2000"`
	TraceID string     `json:"trace_id,omitempty" maxLength:"256"`
}

// FingerprintsOf asks for the fingerprints of items.
type FingerprintsOf struct {
	IDs []string `json:"ids" nullable:"false" maxItems:"500"`
}

// Fingerprints are those of the items that the caller may see, in the order in which they were asked for.
type Fingerprints struct {
	Items []Fingerprint `json:"items" nullable:"false"`
}

// Fingerprint stands for the texts of an item, without them.
type Fingerprint struct {
	ID          string   `json:"id"`
	Status      string   `json:"status" enum:"active,superseded,deleted,erased,quarantined,proposed"`
	Revision    int64    `json:"revision"`
	Fingerprint string   `json:"fingerprint,omitempty" doc:"Of what an item says and is: texts, tags, meta, type, context_type, category, polarity and media. Missing, like what follows, if it is forgotten or erased."`
	Scopes      []string `json:"scopes,omitempty"`
	Owner       string   `json:"owner,omitempty"`
	URI         string   `json:"uri,omitempty"`
}

// Vote is one vote for or against an item.
type Vote struct {
	Verdict string `json:"verdict" enum:"helpful,harmful"`
	Query   string `json:"query,omitempty" maxLength:"2000" doc:"What it was used for."`
	TraceID string `json:"trace_id,omitempty" maxLength:"256" doc:"One vote counts per voter and trace; without a trace, per day."`
	Outcome string `json:"outcome,omitempty" maxLength:"2000" doc:"What came of it."`
}

// Reason is why the caller changes something.
type Reason struct {
	Reason string `json:"reason,omitempty" maxLength:"2000"`
}

// Confirmation says that an item is still correct.
type Confirmation struct {
	Reason string     `json:"reason,omitempty" maxLength:"2000"`
	Until  *time.Time `json:"until,omitempty" doc:"When it should be looked at again; for good if left out."`
}

// Supersession names the item that replaces another one.
type Supersession struct {
	By     string `json:"by" doc:"The id of the item that takes this one's place."`
	Reason string `json:"reason,omitempty" maxLength:"2000"`
}

// Merge lets an item take the place of others.
type Merge struct {
	Items      []string `json:"items" nullable:"false" minItems:"1" maxItems:"20" doc:"Ids of the others, which it supersedes."`
	Revisions  []int64  `json:"revisions,omitempty" nullable:"false" doc:"The revisions of items that you read, in their order. The merge is refused if one of them was changed since."`
	Task       *string  `json:"task,omitempty" maxLength:"2000" doc:"Its new task; unchanged if left out."`
	Content    *string  `json:"content,omitempty" minLength:"1" doc:"Its new content; unchanged if left out."`
	Abstract   *string  `json:"abstract,omitempty" maxLength:"4000" doc:"Its new abstract; unchanged if left out."`
	CarryVotes bool     `json:"carry_votes,omitempty" doc:"The votes that the others got count for it."`
	Reason     string   `json:"reason,omitempty" maxLength:"2000"`
}
