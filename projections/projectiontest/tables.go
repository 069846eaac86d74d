package projectiontest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/events/logtest"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/words"
)

// Contents are tables as text: a line for each row, sorted.
type Contents map[string][]string

func (c Contents) add(table string, row map[string]any) {
	line, err := json.Marshal(row)
	if err != nil {
		panic(err) // of values made here
	}
	c[table] = append(c[table], string(line))
}

func (c Contents) sorted() Contents {
	for _, lines := range c {
		slices.Sort(lines)
	}
	return c
}

// Items are what the world's tenant knows: every event of the log, one after the other, without
// batches, indexes or SQL.
func (w *World) Items() map[string]*domain.Knowledge {
	w.T.Helper()
	return w.ItemsAt(math.MaxInt64)
}

// ItemsAt are the items that the log replays to at a position.
func (w *World) ItemsAt(position int64) map[string]*domain.Knowledge {
	w.T.Helper()
	items := map[string]*domain.Knowledge{}
	for _, event := range logtest.All(w.T, w.Log, w.By.Tenant) {
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
		NoError(w.T, items[id].Evolve(event.Fact, event.Metadata(), domain.DefaultConfidence()))
	}
	return items
}

// Folded says what the tables should hold about the items.
func Folded(items map[string]*domain.Knowledge) Contents {
	tables := Contents{}
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

func (c Contents) fold(k *domain.Knowledge) {
	counts, length := termsOf(k)
	c.addValues("knowledge", rows.KnowledgeColumns, RowOf("", k, length))
	if IsLive(k) {
		for term, count := range counts {
			c.addTerm(words.HashOf(term), k.Number, int(count), length)
		}
		words.SetsOf(k).EachKey(func(key uint64) { c.addTerm(key, k.Number, 0, 0) })
	}
	for _, vote := range k.Votes {
		row := rows.VoteRowOf("", k.ID, vote)
		c.addValues("votes", rows.VotesColumns, row.Values())
	}
	for _, report := range k.Reports {
		row := rows.ReportRowOf("", k.ID, report)
		c.addValues("reports", rows.ReportsColumns, row.Values())
	}
}

// RowOf is the row of an item, in the order of [rows.KnowledgeColumns].
func RowOf(tenant string, k *domain.Knowledge, words int) []any {
	row := rows.RowOf(tenant, k, words)
	values, err := row.Values()
	if err != nil {
		panic(err) // of an item made here
	}
	return values
}

// addTerm adds a term or a set of an item, as the index has it.
func (c Contents) addTerm(key uint64, number int64, count, length int) {
	c.add("terms", map[string]any{"term": key, "number": number, "count": count, "words": length})
}

// addValues adds a row without its tenant.
func (c Contents) addValues(table string, columns []string, values []any) {
	row := map[string]any{}
	for i, column := range columns {
		row[column] = plainValue(column, values[i])
	}
	delete(row, "tenant")
	c.add(table, row)
}

func moment(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return database.At(at).String()
}

// Stored reads what the tables of the world's tenant hold in the first version.
func (w *World) Stored() Contents {
	w.T.Helper()
	return w.StoredIn(1)
}

// StoredIn reads what the tables of the world's tenant hold in a version.
func (w *World) StoredIn(version int) Contents {
	w.T.Helper()
	tables := Contents{}
	for _, table := range []string{"knowledge", "votes", "reports"} {
		name := strings.TrimSuffix(fmt.Sprintf("knowledge_%d_%s", version, table), "_knowledge")
		for _, row := range w.Table("SELECT * FROM "+name+" WHERE tenant = ?", w.By.Tenant) {
			for column, value := range row {
				row[column] = plainValue(column, value)
			}
			delete(row, "tenant")
			tables.add(table, row)
		}
	}
	_, _, err := words.Each(w.T.Context(), w.DB, rows.TablesOf(version), w.By.Tenant, tables.addTerm)
	NoError(w.T, err)
	return tables.sorted()
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
	case *string:
		if value = ""; v != nil {
			value = *v
		}
	case database.Time:
		return moment(v.Time)
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
