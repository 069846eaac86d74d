package projectiontest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/words"
)

// Canary is a word that nothing else says.
const Canary = "zorblaxquine"

// Secret lets an item say the canary in every way: in each of its texts, in earlier ones, in votes and reports.
func (w *World) Secret(id string) {
	w.T.Helper()
	w.tell(id, "viking://resources/"+Canary+"/"+id)
}

// tell is Secret with another URI.
func (w *World) tell(id, uri string) {
	w.T.Helper()
	content := "we call it " + Canary + " now"
	w.Know(id, domain.Remembered{
		Class: domain.Class{Type: domain.Strategy}, Owner: "org:acme", Scopes: []domain.Scope{"team:pay", domain.Public},
		Source:   domain.Source{Name: "the " + Canary + " book", URLs: []string{"https://example.org/" + Canary}},
		Baseline: &domain.Eval{Helpful: 1, HelpfulHistory: []domain.Use{{Query: "what is " + Canary + "?"}}},
		Text: domain.Text{
			Task: "naming the " + Canary, Content: "the " + Canary + " was called something else before",
			Abstract: "a " + Canary, Overview: "of the " + Canary, Tags: domain.Tags{"labels": {Canary}},
			Meta: []byte(`{"name":"` + Canary + `"}`),
			URI:  uri,
		},
	})
	target := domain.Target{By: w.By, ID: id}
	w.Submit(domain.GiveFeedback{
		Target: target, Verdict: domain.Helpful, TraceID: "t", Query: Canary + "?",
		Outcome: Canary + "!",
	})
	w.Submit(domain.ReportStale{Target: target, Reason: Canary + " moved"})
	w.Submit(domain.Revise{Target: target, Changes: domain.Revised{Content: &content}})
}

// Traces are the tables that hold the canary, or the hash of a text with it.
func (w *World) Traces(texts ...string) (places []string) {
	w.T.Helper()
	wanted := [][]byte{[]byte(Canary)}
	for _, term := range text.Terms(Canary) { // as the index has it
		hash := words.HashOf(term)
		wanted = append(wanted, []byte(fmt.Sprint(hash)), binary.BigEndian.AppendUint64(nil, hash<<16)[:6])
	}
	for _, said := range texts {
		hash := sha256.Sum256([]byte(said))
		wanted = append(wanted, hash[:])
	}
	for _, table := range w.tables() {
		if w.holds(table, wanted) {
			places = append(places, table)
		}
	}
	slices.Sort(places)
	return places
}

func (w *World) holds(table string, wanted [][]byte) bool {
	w.T.Helper()
	for _, row := range w.Table("SELECT * FROM ?", bun.Ident(table)) {
		for _, value := range row {
			raw, isBytes := value.([]byte)
			if !isBytes {
				raw = []byte(fmt.Sprint(value))
			}
			if slices.ContainsFunc(wanted, func(w []byte) bool { return bytes.Contains(raw, w) }) {
				return true
			}
		}
	}
	return false
}

// tables are the names of all tables.
func (w *World) tables() (names []string) {
	w.T.Helper()
	query := `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
	if w.DB.Engine == database.Postgres {
		query = `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`
	}
	NoError(w.T, w.DB.NewRaw(query).Scan(w.T.Context(), &names))
	return names
}

// Mark is what the canary becomes. It is longer.
const Mark = "[REDACTED_ANIMAL]"

// Leak is an item that says the canary in every way but in its URI.
func (w *World) Leak(id string) { w.tell(id, "viking://resources/animals/"+id) }

// Redact takes the canary out of everything that was recorded about an item.
func (w *World) Redact(id string) domain.Receipt {
	w.T.Helper()
	return w.Submit(domain.Redact{
		By: w.By, Of: domain.KnowledgeStream(id), To: 1 << 40,
		Scrub: func(text json.RawMessage) (json.RawMessage, map[string]int, error) {
			n := bytes.Count(text, []byte(Canary))
			if n == 0 {
				return text, nil, nil
			}
			return bytes.ReplaceAll(text, []byte(Canary), []byte(Mark)), map[string]int{"animal": n}, nil
		},
	})
}
