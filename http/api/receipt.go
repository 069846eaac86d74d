package api

import (
	"encoding/json"
	"time"
)

// Receipt is what one caller was given in one answer.
type Receipt struct {
	ID             string        `json:"id" example:"r3-1042"`
	At             time.Time     `json:"at"`
	Kind           string        `json:"kind" enum:"use,look,denied" doc:"use: an agent was given the items, or a person opened one from an answer. look: a list, a review, or a page of the console. denied: the caller was refused."`
	Status         int           `json:"status" doc:"Of the answer."`
	Caller         string        `json:"caller,omitempty" example:"agent:coder" doc:"Missing if unknown."`
	OnBehalfOf     string        `json:"on_behalf_of,omitempty" example:"user:mia"`
	Authentication string        `json:"authentication,omitempty" example:"key:ab23cdefgh" doc:"How the server knew the caller."`
	Host           string        `json:"host,omitempty" example:"claude-code/2.0" doc:"The program that asked, as it calls itself."`
	Session        string        `json:"session,omitempty" doc:"The conversation in which it asked, as the host names it."`
	TraceID        string        `json:"trace_id,omitempty"`
	Route          string        `json:"route" example:"POST /v1/search" doc:"What was asked."`
	Question       string        `json:"question,omitempty" doc:"In the words of the caller. Missing if there was none, if it was erased, or if you may not read it."`
	QuestionErased bool          `json:"question_erased,omitempty"`
	Position       int64         `json:"position" doc:"Of the log when the answer was given."`
	AsOf           int64         `json:"as_of,omitempty" doc:"The position that was asked about; missing for the present."`
	Embedder       string        `json:"embedder,omitempty" doc:"Of a search."`
	Ranking        string        `json:"ranking,omitempty" doc:"The version of the ranking of searches."`
	Sealed         int64         `json:"sealed,omitempty" doc:"The position of the event that seals it; missing for none yet."`
	Items          []ReceiptItem `json:"items" nullable:"false" doc:"In the order of the answer."`
}

// ReceiptItem is an item of an answer.
type ReceiptItem struct {
	ID      string       `json:"id,omitempty" doc:"Missing if you may not see it."`
	Title   string       `json:"title,omitempty" doc:"Of now. Missing if it was erased, or if you may not see it."`
	Version int64        `json:"version" doc:"Of its history when it was given."`
	Score   float64      `json:"score,omitempty" doc:"Of a search."`
	Parts   ReceiptParts `json:"parts,omitzero"`
	Band    string       `json:"band,omitempty" enum:"sure,perhaps"`
	Scope   string       `json:"scope,omitempty" doc:"The nearest that it shares with the caller."`
	Level   int          `json:"level" doc:"Which text stood as its content: 0 the abstract, 1 the overview, 2 the content."`
	Cut     bool         `json:"cut,omitempty" doc:"It was found, but left out of the text for the prompt."`
	Hidden  bool         `json:"hidden,omitempty" doc:"You may not see it."`
}

// ReceiptParts are the components of a score, each 0 to 1.
type ReceiptParts struct {
	Semantic   float64 `json:"semantic,omitempty" doc:"Meaning."`
	Model      float64 `json:"model,omitempty" doc:"What the configured embedding model said."`
	Lexical    float64 `json:"lexical,omitempty" doc:"Words."`
	Confidence float64 `json:"confidence,omitempty"`
}

// ReceiptShown is an answer as it was given.
type ReceiptShown struct {
	Receipt

	Request json.RawMessage `json:"request,omitempty" doc:"The whole request of a search or a briefing. Missing if it was erased, or if you may not read it."`

	Answer json.RawMessage `json:"answer" doc:"The answer in its canonical form, from the log: the same bytes whenever it is asked for."`
	Digest string          `json:"digest" doc:"Of the answer, when it was given."`
	Same   bool            `json:"same" doc:"The answer is the one that was given, as far as it was not erased and you may see it."`
	Faults []string        `json:"faults,omitempty" doc:"How it differs."`
	Given  []ReceiptGiven  `json:"given" nullable:"false" doc:"The items as they were, in the order of the answer."`
	Proof  *ReceiptProof   `json:"proof,omitempty" doc:"Missing until it is sealed, a minute or two after the answer."`
	Today  *ReceiptToday   `json:"today,omitempty" doc:"When asked for."`
}

// ReceiptGiven is an item of an answer as it was.
type ReceiptGiven struct {
	State       string     `json:"state" enum:"unchanged,redacted,erased,hidden,changed" doc:"unchanged: this is the wording that was given. redacted: an erasure took something out of it. erased: its wording was destroyed. hidden: you may not see it. changed: the log does not say what was given."`
	Certificate string     `json:"certificate,omitempty" doc:"The event that erased it, or took something out of it."`
	Fault       string     `json:"fault,omitempty" doc:"How it differs from what was given."`
	Knowledge   *Knowledge `json:"knowledge,omitempty" doc:"As it was, with the content that was given."`
}

// ReceiptProof proves that a receipt was sealed.
type ReceiptProof struct {
	Record   string   `json:"record" doc:"The receipt as it is sealed. Its leaf is the SHA-256 of a zero byte and these bytes."`
	Leaf     string   `json:"leaf" doc:"Base64."`
	First    int64    `json:"first" doc:"The numbers of the sealed receipts, from the first to the last."`
	Last     int64    `json:"last"`
	Count    int64    `json:"count" doc:"How many receipts are sealed together."`
	Index    int64    `json:"index" doc:"Its place among them, from 0."`
	Path     []string `json:"path" nullable:"false" doc:"Base64: the hashes beside the way from the leaf to the root (RFC 6962)."`
	Root     string   `json:"root" doc:"Base64: what the seal has."`
	EventID  string   `json:"event_id" doc:"Of the seal. Ask for its proof: GET /v1/log/proof/{event_id}."`
	Position int64    `json:"position" doc:"Of the seal."`
}

// ReceiptToday is what the same caller would be given for the same question now.
type ReceiptToday struct {
	At       time.Time         `json:"at"`
	Position int64             `json:"position" doc:"Of the log."`
	Refused  string            `json:"refused,omitempty" doc:"Why there is no answer to the question now: only the items of then are compared."`
	Items    []ReceiptTodayHit `json:"items" nullable:"false" doc:"Those of now in their order, and then those that are gone."`
}

// ReceiptTodayHit compares an item of then with now.
type ReceiptTodayHit struct {
	ReceiptItem

	Then   int      `json:"then,omitempty" doc:"Its place in the answer of then, from 1; missing if it was not there."`
	Now    int      `json:"now,omitempty" doc:"Its place in the answer of now, from 1; missing if it is not there."`
	Change []string `json:"change,omitempty" enum:"new,gone,moved,revised,superseded,forgotten,erased,out of reach" doc:"What is different; missing if nothing is. out of reach: the caller may not see it any more."`
}

// ReceiptVerification is the result of a verification of receipts.
type ReceiptVerification struct {
	Verified bool           `json:"verified" doc:"Nothing is wrong. Receipts that were lost are gaps, and no faults."`
	Receipts int64          `json:"receipts" doc:"How many were compared."`
	Sealed   int64          `json:"sealed" doc:"How many of those are sealed; the newest ones are not yet."`
	Expired  int64          `json:"expired,omitempty" doc:"How many sealed receipts are not kept any more."`
	Count    int            `json:"count" doc:"How many faults there are."`
	Faults   []ReceiptFault `json:"faults" nullable:"false" doc:"The first hundred."`
	Gaps     []ReceiptGap   `json:"gaps" nullable:"false" doc:"Receipts that were lost before they were written: when a server was killed, or its database accepted no writes."`
}

// ReceiptFault is something that was done to receipts.
type ReceiptFault struct {
	Receipt string `json:"receipt" example:"r3-1042" doc:"Its id, or the first of several."`
	Kind    string `json:"kind" enum:"changed,missing,added,answered,asked,indexed,damaged,unsealed" doc:"answered: the log does not say what was answered. asked: the question is another one. indexed: lists cannot find it. damaged: it cannot be read. unsealed: its seal is gone or changed."`
	Detail  string `json:"detail"`
}

// ReceiptGap is a range of receipts that were lost, or may have been.
type ReceiptGap struct {
	First  string     `json:"first" example:"r3-1042" doc:"The first id without a receipt."`
	Last   string     `json:"last,omitempty" doc:"The last one; missing if it is not known how many were given."`
	After  *time.Time `json:"after,omitempty" doc:"When the receipt before was given; missing if there is none."`
	Server string     `json:"server,omitempty" doc:"That gave them."`
	Detail string     `json:"detail"`
}
