package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// tenant is whose log it is.
const tenant = "default"

// history makes up a log event by event, always the same one: items of a sentence or two, mostly for one scope, that are
// voted for and against, revised, reported and confirmed, shared with others, and sometimes forgotten.
type history struct {
	random   *rand.Rand
	words    []string
	items    []lived
	at       time.Time
	position int64
}

// lived is what the history needs to know of an item.
type lived struct {
	id      string
	version int64
	gone    bool
}

func newHistory() *history {
	h := &history{random: rand.New(rand.NewPCG(1, 2)), at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	syllables := []string{"ba", "con", "de", "fer", "gra", "in", "ka", "lo", "mi", "nu", "per", "qui", "re", "sta", "ter", "ver"}
	for i := range 12_000 {
		var word strings.Builder
		for n := i + 16; n > 0; n /= 16 {
			word.WriteString(syllables[n%16])
		}
		h.words = append(h.words, word.String())
	}
	return h
}

// next is the event that comes next, as the log would have recorded it.
func (h *history) next() (events.Record, error) {
	h.position++
	h.at = h.at.Add(time.Duration(h.random.IntN(40_000)) * time.Microsecond)
	at, fact := h.happen()
	h.items[at].version++
	payload, err := events.Encode(fact)
	if err != nil {
		return events.Record{}, err
	}
	r := events.Record{
		Tenant: tenant, Position: h.position, EventID: h.uuid().String(),
		Stream: domain.KnowledgeStream(h.items[at].id), Version: h.items[at].version,
		Name: payload.Name, SchemaVersion: payload.SchemaVersion, RecordedAt: database.At(h.at),
		Actor: "user:default", Authentication: "open", Data: payload.Data, Text: payload.Text,
	}
	if r.Text != nil {
		r.Salt = make([]byte, 32)
		for i := 0; i < len(r.Salt); i += 8 {
			binary.BigEndian.PutUint64(r.Salt[i:], h.random.Uint64())
		}
		mac := hmac.New(sha256.New, r.Salt)
		mac.Write(r.Text)
		r.TextCommitment = mac.Sum(nil)
	}
	sum := sha256.Sum256(r.Canonical())
	r.Hash = sum[:]
	return r, events.Verify(r)
}

// uuid is of version 7, at the history's time.
func (h *history) uuid() uuid.UUID {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:], uint64(h.at.UnixMilli())<<16|0x7000|h.random.Uint64N(1<<12))
	binary.BigEndian.PutUint64(id[8:], 1<<63|h.random.Uint64N(1<<62))
	return id
}

// happen is a fact about an item, of which it gives the place.
func (h *history) happen() (int, domain.Fact) {
	dice := h.random.IntN(100)
	if len(h.items) < 100 || dice < 40 {
		return h.remember()
	}
	at := h.random.IntN(len(h.items))
	if h.random.IntN(2) == 0 { // what is new is spoken of more
		at = len(h.items) - 1 - h.random.IntN(min(1000, len(h.items)))
	}
	it := &h.items[at]
	if it.gone {
		it.gone = false
		return at, domain.Restored{}
	}
	switch {
	case dice < 80:
		trace := "trace-" + strconv.FormatInt(h.position, 36)
		ballot := domain.Ballot{Voter: domain.Entity("user:u" + strconv.Itoa(h.random.IntN(200))), TraceID: trace, Key: domain.BallotOf(trace, h.at)}
		if h.random.IntN(5) == 0 {
			return at, domain.FoundHarmful{Ballot: ballot}
		}
		ballot.Query = h.sentence(5)
		return at, domain.FoundHelpful{Ballot: ballot}
	case dice < 90:
		content := h.sentence(14)
		return at, domain.Revised{Content: &content}
	case dice < 93:
		return at, domain.ReportedStale{Reporter: domain.Entity("user:u" + strconv.Itoa(h.random.IntN(200))), Reason: h.sentence(4)}
	case dice < 95:
		return at, domain.Confirmed{}
	case dice < 98:
		return at, domain.Rescoped{Scopes: h.scopes()}
	default:
		it.gone = true
		return at, domain.Deleted{Reason: h.sentence(3)}
	}
}

func (h *history) remember() (int, domain.Fact) {
	id := h.uuid().String()
	if h.random.IntN(4) == 0 { // the caller's own
		id = fmt.Sprintf("note-%016x", h.random.Uint64())
	}
	h.items = append(h.items, lived{id: id})
	return len(h.items) - 1, domain.Remembered{
		Type: domain.Types[h.random.IntN(len(domain.Types))], ContextType: "memory", Category: "cases",
		Polarity: "positive", Media: "text", Scopes: h.scopes(), Owner: "org:acme",
		Source: domain.Source{AgentID: "agent-7", TraceID: "trace-" + strconv.FormatInt(h.position, 36)},
		Text: domain.Text{
			Task: h.sentence(6), Content: h.sentence(16), Tags: domain.Tags{"domain": {h.word()}},
			URI: "viking://agent/memories/cases/" + id + ".md",
		},
	}
}

// scopes are mostly one: a user's, a team's, a project's, the organisation's or everybody's.
func (h *history) scopes() []domain.Scope {
	list := []domain.Scope{domain.Scope("user:u" + strconv.Itoa(h.random.IntN(200)))}
	switch h.random.IntN(6) {
	case 0:
		list[0] = domain.Scope("team:t" + strconv.Itoa(h.random.IntN(50)))
	case 1:
		list[0] = domain.Scope("project:p" + strconv.Itoa(h.random.IntN(20)))
	case 2:
		list = append(list, "org:acme")
	}
	return list
}

func (h *history) sentence(words int) string {
	var b strings.Builder
	for i := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(h.word())
	}
	return b.String()
}

// word is a common one more often than a rare one.
func (h *history) word() string {
	share := h.random.Float64()
	return h.words[int(share*share*share*float64(len(h.words)))]
}
