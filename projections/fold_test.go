package projections_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/events/logtest"
	"github.com/annals-kb/annals/projections/words"
)

// contents are tables as text: a line for each row, sorted.
type contents map[string][]string

func (c contents) add(table string, row map[string]any) {
	line, err := json.Marshal(row)
	if err != nil {
		panic(err) // of values made here
	}
	c[table] = append(c[table], string(line))
}

func (c contents) sorted() contents {
	for _, lines := range c {
		slices.Sort(lines)
	}
	return c
}

// items are what the world's tenant knows: every event of the log, one after the other, without
// batches, indexes or SQL.
func (w *world) items() map[string]*domain.Knowledge {
	w.t.Helper()
	return w.itemsAt(math.MaxInt64)
}

// itemsAt are the items that the log replays to at a position.
func (w *world) itemsAt(position int64) map[string]*domain.Knowledge {
	w.t.Helper()
	items := map[string]*domain.Knowledge{}
	for _, event := range logtest.All(w.t, w.log.Log, w.by.Tenant) {
		if event.Position > position {
			break
		}
		id, isItem := domain.ItemOf(event.Stream)
		if !isItem {
			continue
		}
		if items[id] == nil {
			items[id] = &domain.Knowledge{ID: id}
		}
		noError(w.t, items[id].Evolve(event.Fact, event.Metadata(), domain.DefaultConfidence()))
	}
	return items
}

// folded says what the tables should hold about the items.
func folded(items map[string]*domain.Knowledge) contents {
	tables := contents{}
	for _, k := range items {
		tables.fold(k)
	}
	return tables.sorted()
}

// termsOf are the terms of an item and how often each counts, and its length in words, computed without an index.
func termsOf(k *domain.Knowledge) (counts map[string]float64, length int) {
	terms, length := words.Tokenize(text.Tokenizers()[0], k)
	counts = make(map[string]float64, len(terms))
	for _, term := range terms {
		counts[term]++
	}
	return counts, length
}

func (c contents) fold(k *domain.Knowledge) {
	counts, length := termsOf(k)
	c.add("knowledge", knowledgeRow(k, length))
	if IsLive(k) {
		for _, scope := range k.Scopes {
			c.add("scopes", map[string]any{"scope": scope, "number": k.Number, "words": length})
			for term, count := range counts {
				c.add("terms", map[string]any{
					"term": words.HashOf(term), "scope": scope, "number": k.Number, "count": count, "words": length,
				})
			}
		}
	}
	for _, v := range k.Votes {
		c.add("votes", map[string]any{
			"id": k.ID, "event_id": v.EventID, "voter": v.Voter, "ballot": v.Ballot, "verdict": v.Verdict,
			"trace_id": v.TraceID, "query": v.Query, "outcome": v.Outcome, "at": moment(v.At),
		})
	}
	for _, r := range k.Reports {
		c.add("reports", map[string]any{
			"id": k.ID, "reporter": r.Reporter, "event_id": r.EventID, "reason": r.Reason, "at": moment(r.At),
			"suspended": r.Suspended,
		})
	}
}

func knowledgeRow(k *domain.Knowledge, words int) map[string]any {
	return map[string]any{
		"id": k.ID, "number": k.Number, "type": k.Type, "context_type": k.ContextType, "category": k.Category,
		"polarity": k.Polarity, "media": k.Media, "owner": k.Owner, "visibility": k.Visibility(),
		"status": k.Status, "superseded_by": k.SupersededBy, "held": k.Held,
		"uri": k.Text.URI, "task": k.Text.Task, "content": k.Text.Content,
		"abstract": k.Text.Abstract, "overview": k.Text.Overview,
		"tags": orEmptyTags(k.Text.Tags), "meta": string(k.Text.Meta), "source": sourceRow(k.Source),
		"trace_id": k.Source.TraceID, "scopes": k.Scopes, "baseline": baselineRow(k),
		"derived_from": append([]string{}, k.DerivedFrom...), "relations": relationRows(k.Relations), "words": words,
		"helpful": k.Helpful, "harmful": k.Harmful, "confidence": k.Confidence,
		"stale_reporters": k.Stale.Reporters, "stale_since": moment(k.Stale.Since), "stale_reason": k.Stale.Reason,
		"confirmed_at": moment(k.ConfirmedAt), "confirm_until": moment(k.ConfirmUntil),
		"suspended_reporters": k.Suspended.Reporters, "suspended_since": moment(k.Suspended.Since),
		"suspended_reason":   k.Suspended.Reason,
		"expired_confidence": k.ExpiredConfidence,
		"revision":           k.Revision, "version": k.Version, "position": k.Position,
		"created_at": moment(k.CreatedAt), "updated_at": moment(k.UpdatedAt), "occurred_at": moment(k.OccurredAt),
	}
}

func relationRows(relations []domain.Relation) []map[string]any {
	rows := []map[string]any{}
	for _, r := range relations {
		row := map[string]any{"to": r.To, "at": moment(r.At)}
		if r.Reason != "" {
			row["reason"] = r.Reason
		}
		rows = append(rows, row)
	}
	return rows
}

func orEmptyTags(tags domain.Tags) domain.Tags {
	if tags == nil {
		return domain.Tags{}
	}
	return tags
}

// sourceRow leaves out what is empty.
func sourceRow(s domain.Source) map[string]any {
	row := map[string]any{
		"name": s.Name, "category": s.Category, "agent_id": s.AgentID, "submitted_by": s.SubmittedBy,
		"timestamp": s.Timestamp, "trace_id": s.TraceID,
	}
	maps.DeleteFunc(row, func(_ string, value any) bool { return value == "" })
	if len(s.URLs) > 0 {
		row["urls"] = s.URLs
	}
	return row
}

func baselineRow(k *domain.Knowledge) map[string]any {
	e := k.Baseline
	row := map[string]any{"helpful": e.Helpful, "harmful": e.Harmful, "confidence": e.Confidence}
	for name, uses := range map[string][]domain.Use{
		"helpful_history": e.HelpfulHistory,
		"harmful_history": e.HarmfulHistory,
	} {
		var rows []map[string]any
		for _, u := range uses {
			use := map[string]any{"query": u.Query, "trace_id": u.TraceID, "outcome": u.Outcome, "by": string(u.By), "at": ""}
			if !u.At.IsZero() {
				use["at"] = u.At.Format(time.RFC3339Nano)
			}
			maps.DeleteFunc(use, func(_ string, value any) bool { return value == "" })
			rows = append(rows, use)
		}
		if rows != nil {
			row[name] = rows
		}
	}
	if voices, _ := json.Marshal(k.Voices); string(voices) != "{}" {
		row["voices"] = json.RawMessage(canonical(string(voices)))
	}
	return row
}

func moment(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return database.At(at).String()
}

// stored reads what the tables of the world's tenant hold in the first version.
func (w *world) stored() contents {
	w.t.Helper()
	return w.storedIn(1)
}

// storedIn reads what the tables of the world's tenant hold in a version.
func (w *world) storedIn(version int) contents {
	w.t.Helper()
	tables := contents{}
	for _, table := range []string{"knowledge", "scopes", "terms", "votes", "reports"} {
		name := strings.TrimSuffix(fmt.Sprintf("knowledge_%d_%s", version, table), "_knowledge")
		for _, row := range w.table("SELECT * FROM "+name+" WHERE tenant = ?", w.by.Tenant) {
			for column, value := range row {
				row[column] = plainValue(column, value)
			}
			delete(row, "tenant")
			tables.spread(table, row)
		}
	}
	return tables.sorted()
}

// spread adds a row. Terms count wherever they lie: in the index, or in a bag beside the scope.
func (c contents) spread(table string, row map[string]any) {
	if table == "scopes" {
		bag, _ := row["bag"].(string)
		delete(row, "bag")
		words.PackedTerms(bag).Each(func(hash uint64, count int) {
			c.add("terms", map[string]any{
				"term": hash, "scope": row["scope"], "number": row["number"], "count": float64(count), "words": row["words"],
			})
		})
	}
	c.add(table, row)
}

// plainValue is what a column holds, whichever engine it comes from.
func plainValue(column string, value any) any {
	if value == nil {
		if column == "meta" {
			return ""
		}
		return nil
	}
	switch v := value.(type) {
	case []byte:
		value = string(v)
	case time.Time:
		return moment(v)
	}
	switch column {
	case "tags", "source", "scopes", "baseline", "derived_from", "relations":
		return json.RawMessage(fmt.Sprint(canonical(value.(string))))
	case "held", "suspended":
		return value == true || value == int64(1)
	}
	return value
}

// canonical is JSON with its keys in order.
func canonical(text string) string {
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		panic(fmt.Sprintf("%v in %q", err, text))
	}
	line, _ := json.Marshal(value)
	return string(line)
}
