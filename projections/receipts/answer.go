package receipts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/codec"
)

// An answer has one canonical form, from which its digests are taken: a JSON object with the fields below, in this
// order, without spaces. It depends only on the receipt and on the stream of each item up to the version that was
// given. So it stays the same after a rebuild, an upgrade and a change of the model, and on the other engine.
//
// The digest of an answer is of this form without the field answer, without the ids and the wordings, and with whole
// histories. A leaf of a seal is of this form with the field answer and the beginnings of histories, as stored.
//
// The content of an item is what its level has in the log. An abstract that was computed for the answer is not stored:
// then the content is what it was computed from.

type answerForm struct {
	Tenant         string           `json:"tenant"`
	Receipt        string           `json:"receipt"`
	At             database.Time    `json:"at"`
	Kind           domain.GivenKind `json:"kind"`
	Status         int              `json:"status"`
	Caller         domain.Entity    `json:"caller,omitempty"`
	OnBehalfOf     domain.Entity    `json:"on_behalf_of,omitempty"`
	Authentication string           `json:"authentication,omitempty"`
	Host           string           `json:"host,omitempty"`
	Session        string           `json:"session,omitempty"`
	Trace          string           `json:"trace_id,omitempty"`
	Route          string           `json:"route"`
	Position       int64            `json:"position"`
	AsOf           int64            `json:"as_of,omitempty"`
	Ranking        string           `json:"ranking,omitempty"`
	Embedder       string           `json:"embedder,omitempty"`
	Question       string           `json:"question,omitempty"` // its digest
	Items          []itemForm       `json:"items"`
	Answer         string           `json:"answer,omitempty"` // its digest
}

type itemForm struct {
	ID      string       `json:"id,omitempty"`
	Number  int64        `json:"number"`
	Version int64        `json:"version"`
	Score   float64      `json:"score,omitzero"`
	Parts   *partsForm   `json:"parts,omitempty"`
	Band    domain.Band  `json:"band,omitempty"`
	Scope   domain.Scope `json:"scope,omitempty"`
	Level   domain.Level `json:"level"`
	Cut     bool         `json:"cut,omitempty"`
	History string       `json:"history"`
	Wording *wordingForm `json:"wording,omitempty"`

	Certificate string `json:"certificate,omitempty"` // the event that erased the wording, or took something out of it
	Hidden      bool   `json:"hidden,omitempty"`      // the reader may not see the item
}

type partsForm struct {
	Semantic   float64 `json:"semantic"`
	Model      float64 `json:"model"`
	Lexical    float64 `json:"lexical"`
	Confidence float64 `json:"confidence"`
}

type wordingForm struct {
	Type    domain.Type    `json:"type"`
	Task    string         `json:"task,omitempty"`
	Content string         `json:"content"`
	Tags    domain.Tags    `json:"tags,omitempty"`
	Source  domain.Source  `json:"source,omitzero"`
	Owner   domain.Entity  `json:"owner"`
	Scopes  []domain.Scope `json:"scopes"`
	URI     string         `json:"uri,omitempty"`
}

// form is the canonical form as it is stored, without the ids and the wordings.
func (r *Receipt) form() answerForm {
	form := answerForm{
		Tenant: r.Tenant, Receipt: r.ID(), At: database.At(r.At), Kind: r.Kind, Status: r.Status, Caller: r.Caller,
		OnBehalfOf: r.OnBehalfOf, Authentication: r.Authentication, Host: r.Host, Session: r.Session, Trace: r.Trace,
		Route: r.Route, Position: r.Position, AsOf: r.AsOf, Ranking: r.Ranking, Embedder: r.Embedder,
		Answer: hex.EncodeToString(r.Answer[:]), Items: make([]itemForm, len(r.Items)),
	}
	if r.Question.Digest != (Digest{}) {
		form.Question = hex.EncodeToString(r.Question.Digest[:])
	}
	for i, item := range r.Items {
		form.Items[i] = itemForm{
			Number: item.Number, Version: item.Version, Score: item.Score, Band: item.Band, Scope: item.Scope,
			Level: item.Level, Cut: item.Cut, History: hex.EncodeToString(item.History[:]),
		}
		if parts := (partsForm{item.Semantic, item.Model, item.Lexical, item.Confidence}); parts != (partsForm{}) {
			form.Items[i].Parts = &parts
		}
	}
	return form
}

// Canonical is the receipt in its canonical form, of which a seal has the hash.
func (r *Receipt) Canonical() json.RawMessage { return r.form().bytes() }

func (f answerForm) bytes() json.RawMessage {
	encoded, err := codec.Marshal(f)
	if err != nil {
		panic(err) // it has only strings and finite numbers
	}
	return encoded
}

// leaf is the leaf of a seal.
func (r *Receipt) leaf() tlog.Hash { return tlog.RecordHash(r.Canonical()) }

// digest is the digest of the answer, with the histories of its items.
func (r *Receipt) digest(of func(Item) history) Digest {
	form := r.form()
	form.Answer = ""
	for i, item := range r.Items {
		whole := of(item)
		form.Items[i].History = hex.EncodeToString(whole[:])
	}
	sum := sha256.Sum256(form.bytes())
	return Digest(sum[:digestSize])
}
