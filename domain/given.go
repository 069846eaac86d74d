package domain

import (
	"cmp"
	"strings"
	"time"
)

// Given is one answer: which items a caller was given, or was denied.
type Given struct {
	Tenant         string
	At             time.Time
	Kind           GivenKind
	Route          string // method and pattern, without the parameters; or the tool's name
	Status         int    // of the answer
	Caller         Entity // empty if unknown
	OnBehalfOf     Entity
	Authentication string // how the server knew the caller
	Host           string // the program that asked, such as "claude-code/2.0"; as it calls itself
	Session        string // of the conversation in which it asked; as the host names it
	RequestID      string
	CorrelationID  string
	TraceID        string
	Asked          string // the question, or the request with it as JSON; empty if there was none
	AsOf           int64  // the position of the log that was asked about; 0 for the present
	Embedder       string // of a search
	Items          []GivenItem
}

// GivenKind says what the caller had from an answer.
type GivenKind string

// The kinds. Only uses count as uses of an item.
const (
	GivenUse    GivenKind = "use"    // an agent was given the items, or a person opened one from an answer
	GivenLook   GivenKind = "look"   // a list, a review, or a page of the console
	GivenDenial GivenKind = "denied" // the caller was refused
)

// GivenItem is an item of an answer, in its wording of then. Nobody changes Item any more.
type GivenItem struct {
	Item       *Knowledge
	Scope      Scope // the nearest that it shares with the caller
	Band       Band  // of a search; empty otherwise
	Score      float64
	Semantic   float64
	Model      float64
	Lexical    float64
	Confidence float64
	Level      Level // which text of it stood as its content
	Cut        bool  // it was found, but left out of the text for the prompt
}

// GivenTo is an answer to a caller, without items.
func GivenTo(by Principal, origin Origin, kind GivenKind, status int, at time.Time) Given {
	given := Given{
		Tenant: by.Tenant, At: at, Kind: kind, Status: status, Caller: by.Subject, OnBehalfOf: by.OnBehalfOf,
		Authentication: by.Authentication, RequestID: origin.RequestID, CorrelationID: origin.CorrelationID,
		Host: origin.Host, Session: origin.Session,
	}
	if parts := strings.Split(origin.Traceparent, "-"); len(parts) == 4 {
		given.TraceID = parts[1]
	}
	return given
}

// GivenWhole are items of an answer that no search found, with their contents.
func GivenWhole(items ...*Knowledge) []GivenItem {
	given := make([]GivenItem, len(items))
	for i, k := range items {
		given[i] = GivenItem{Item: k, Level: Detail}
	}
	return given
}

// GivenHit is an item of an answer that a search found.
func GivenHit(f Found, level Level) GivenItem {
	return GivenItem{
		Item: f.Knowledge, Scope: f.Scope, Band: f.Band, Score: f.Score, Semantic: f.Semantic, Model: f.Model,
		Lexical: f.Lexical, Confidence: f.Confidence, Level: level,
	}
}

// GivenHits are the items of an answer to a search for texts of a level; nil for the contents.
func GivenHits(hits []Found, level *Level) []GivenItem {
	items := make([]GivenItem, len(hits))
	for i, hit := range hits {
		items[i] = GivenHit(hit, *cmp.Or(level, new(Detail)))
	}
	return items
}

// GivenBriefing are the items of a briefing, which tells their abstracts.
func GivenBriefing(told Briefing) []GivenItem {
	items := make([]GivenItem, len(told.Items))
	for i, b := range told.Items {
		items[i] = GivenHit(b.Found, Abstract)
		items[i].Cut = !b.Included
	}
	return items
}
