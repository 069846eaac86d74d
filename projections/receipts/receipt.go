package receipts

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
)

// Receipt is what one caller was given in one answer.
type Receipt struct {
	Tenant   string
	Run      int64
	Sequence int64
	At       time.Time // never decreases within a run
	Circumstances
	Position int64 // of the log when the answer was given
	AsOf     int64 // the position that was asked about; 0 for the present
	Question Question
	Answer   Digest // of the canonical answer: see answer.go
	Items    []Item // in the order of the answer
	Sealed   int64  // position of the event that seals it; 0 for none yet
}

// Circumstances are what many receipts have in common.
type Circumstances struct {
	Kind           domain.GivenKind
	Status         int
	Caller         domain.Entity // empty if unknown
	OnBehalfOf     domain.Entity
	Authentication string
	Host           string
	Session        string
	Trace          string
	Route          string
	Embedder       string
	Ranking        string
}

// Item is an item of an answer. Numbers are as rounded as they are stored.
type Item struct {
	Number     int64   // of the item
	Version    int64   // of its stream
	Score      float64 // in steps of 1/10,000
	Semantic   float64 // in steps of 1/250, as those below
	Model      float64
	Lexical    float64
	Confidence float64
	Band       domain.Band
	Scope      domain.Scope
	Level      domain.Level
	Cut        bool
	History    [historySize]byte // the beginning of the digest of its stream up to that version: see history.go
}

// The sizes of digests, in bytes.
const (
	digestSize  = 16
	historySize = 4
)

// Digest is the beginning of a SHA-256.
type Digest [digestSize]byte

// Question is what a caller asked. Its text can be erased. The digest then reveals nothing, because the salt is erased
// with the text.
type Question struct {
	Digest Digest // of the salt and the text; zero if nothing was asked
	Salt   []byte // random; nil if the text was erased
	Text   string
}

// ID is the receipt's id, such as r3-1042.
func (r Receipt) ID() string { return idOf(r.Run, r.Sequence) }

func idOf(run, sequence int64) string { return fmt.Sprintf("r%d-%d", run, sequence) }

// parseID reads an id; false if it is none.
func parseID(id string) (run, sequence int64, is bool) {
	first, second, _ := strings.Cut(strings.TrimPrefix(id, "r"), "-")
	run, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	sequence, err = strconv.ParseInt(second, 10, 64)
	return run, sequence, err == nil && run > 0 && sequence > 0 && id == idOf(run, sequence)
}

// receiptOf is the receipt of an answer, without its number and its digests. An answer to nobody of any tenant is kept
// with what concerns no tenant.
func receiptOf(g domain.Given, ranking string) *Receipt {
	r := &Receipt{
		Tenant: cmp.Or(g.Tenant, domain.SystemTenant), At: g.At.UTC().Truncate(time.Microsecond),
		AsOf: g.AsOf, Position: g.AsOf,
		Circumstances: Circumstances{
			Kind: g.Kind, Status: g.Status, Caller: g.Caller, OnBehalfOf: g.OnBehalfOf, Authentication: g.Authentication,
			Host: g.Host, Session: g.Session, Trace: g.TraceID, Route: g.Route, Embedder: g.Embedder,
		},
		Question: Question{Text: g.Asked},
		Items:    make([]Item, 0, len(g.Items)),
	}
	if r.Embedder != "" {
		r.Ranking = ranking
	}
	for _, one := range g.Items {
		if one.Item == nil || one.Item.Number == 0 {
			continue
		}
		r.Items = append(r.Items, Item{
			Number: one.Item.Number, Version: one.Item.Version, Score: rounded(one.Score, scoreSteps),
			Semantic: rounded(one.Semantic, partSteps), Model: rounded(one.Model, partSteps),
			Lexical: rounded(one.Lexical, partSteps), Confidence: rounded(one.Confidence, partSteps),
			Band: one.Band, Scope: one.Scope, Level: one.Level, Cut: one.Cut,
		})
		if g.AsOf == 0 {
			r.Position = max(r.Position, one.Item.Position)
		}
	}
	return r
}

// The steps in which scores and their parts are stored.
const (
	scoreSteps = 10_000
	partSteps  = 250
)

func rounded(x float64, steps int) float64 { return float64(stepsOf(x, steps)) / float64(steps) }

// stepsOf is a number from 0 to 1 in steps.
func stepsOf(x float64, steps int) int {
	if !(x > 0) {
		return 0
	}
	return int(math.Round(min(x, 1) * float64(steps)))
}
