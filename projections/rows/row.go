package rows

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Row is an item in the knowledge table, without votes and reports.
type Row struct {
	domain.Knowledge

	Tenant string
	Words  int  // the length of its text as the index counts it
	Broken bool // its row cannot be read: only the columns before the unreadable one are set

	visibility domain.Visibility // as it is stored
	traceID    string
}

// RowOf is the row of an item.
func RowOf(tenant string, k *domain.Knowledge, words int) Row {
	return Row{Knowledge: *k, Tenant: tenant, Words: words, visibility: k.Visibility(), traceID: k.Source.TraceID}
}

func IsLive(k *domain.Knowledge) bool {
	return k.Status == domain.Active || k.Status == domain.IsSuperseded
}

// The columns of each table, in the order in which they are written.
var (
	KnowledgeColumns = namesOf(fixed, counted, revised, flags, words)
	PostingsColumns  = []string{"tenant", "term", "block", "data"}
	ChangesColumns   = []string{"tenant", "number", "version", "was", "now"}
	VotesColumns     = []string{
		"tenant", "id", "event_id", "voter", "ballot", "verdict", "trace_id", "query",
		"outcome", "at",
	}
	ReportsColumns = []string{"tenant", "id", "reporter", "event_id", "reason", "at", "suspended"}

	// CountedColumns are those of the knowledge table that any change sets, and RevisedColumns those that a revision
	// sets. StateColumns are also in the table of the past.
	CountedColumns = namesOf(counted)
	RevisedColumns = namesOf(counted, revised, flags, words)
	StateColumns   = namesOf(flags, words)
)

func namesOf(groups ...group) (names []string) {
	for _, c := range columns {
		if slices.Contains(groups, c.group) {
			names = append(names, c.name)
		}
	}
	return names
}

// Values are the values of some columns, which are in the order of [KnowledgeColumns].
func (r *Row) Values(names []string) ([]any, error) {
	values, at := make([]any, 0, len(names)), 0
	for _, name := range names {
		for columns[at].name != name {
			at++
		}
		value, err := columns[at].cell(r).stored()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		values = append(values, value)
	}
	return values, nil
}

// Select selects rows k of the knowledge table, to be read by [ScanEach], [ReadEach] or [Reader.Read].
func Select(db bun.IDB) *bun.SelectQuery {
	return db.NewSelect().ColumnExpr("k." + strings.Join(KnowledgeColumns, ", k."))
}

// scan scans a row of a result.
func scan(ctx context.Context, db *bun.DB, found *sql.Rows, to any) error {
	r, isItem := to.(*Row)
	if !isItem {
		return db.ScanRow(ctx, found, to)
	}
	names, err := found.Columns()
	cells := make([]any, len(names))
	for i, name := range names {
		switch {
		case i < len(columns) && columns[i].name == name: // as Select has them
			cells[i] = columns[i].cell(r)
		case name == "disputed":
			cells[i] = &r.Disputed
		default:
			cells[i] = columns[slices.Index(KnowledgeColumns, name)].cell(r)
		}
	}
	return cmp.Or(err, found.Scan(cells...))
}

// cell is a value of a row.
type cell interface {
	sql.Scanner
	stored() (any, error)
}

type (
	textCell[T ~string] struct{ at *T }
	plainCell[T any]    struct{ at *T }
	momentCell          struct{ at *time.Time }
	metaCell            struct{ at *json.RawMessage }
	jsonCell[T any]     struct { // the stored form may differ from that of the item
		value T
		read  func(T)
	}
)

func textOf[T ~string](at *T) cell          { return textCell[T]{at} }
func plainOf[T any](at *T) cell             { return plainCell[T]{at} }
func momentOf(at *time.Time) cell           { return momentCell{at} }
func jsonOf[T any](at *T) cell              { return jsonCell[T]{*at, func(read T) { *at = read }} }
func (r *Row) meta() cell                   { return metaCell{&r.Text.Meta} }
func (c textCell[T]) stored() (any, error)  { return string(*c.at), nil }
func (c plainCell[T]) stored() (any, error) { return *c.at, nil }
func (c momentCell) stored() (any, error)   { return database.At(*c.at), nil }

func (c metaCell) stored() (any, error) {
	if len(*c.at) == 0 {
		return (*string)(nil), nil
	}
	return string(*c.at), nil
}

func (c jsonCell[T]) stored() (any, error) {
	text, err := json.Marshal(c.value)
	return string(text), err
}

func (c textCell[T]) Scan(stored any) error {
	text, err := scanText(stored)
	*c.at = T(text)
	return err
}

func (c plainCell[T]) Scan(stored any) error { return scanPlain(c.at, stored) }

func (c momentCell) Scan(stored any) error {
	var t database.Time
	err := t.Scan(stored)
	*c.at = t.Time
	return err
}

func (c metaCell) Scan(stored any) error {
	text, err := scanText(stored)
	if *c.at = nil; text != "" {
		*c.at = json.RawMessage(text)
	}
	return err
}

func (c jsonCell[T]) Scan(stored any) error {
	var value T
	text, err := scanText(stored)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &value)
	}
	c.read(value)
	return err
}

func scanText(stored any) (text string, err error) {
	if bytes, is := stored.([]byte); is {
		return string(bytes), nil
	}
	err = scanPlain(&text, stored)
	return text, err
}

// scanPlain scans a value; NULL is the zero value.
func scanPlain[T any](to *T, stored any) error {
	switch same := stored.(type) { // as they are usually
	case T:
		*to = same
		return nil
	case int64:
		if to, is := any(to).(*int); is {
			*to = int(same)
			return nil
		}
	}
	var value sql.Null[T]
	err := value.Scan(stored)
	*to = value.V
	return err
}

func (r *Row) tags() cell {
	tags := r.Text.Tags
	if tags == nil {
		tags = domain.Tags{}
	}
	return jsonCell[domain.Tags]{tags, func(read domain.Tags) {
		if r.Text.Tags = read; len(read) == 0 {
			r.Text.Tags = nil
		}
	}}
}

func (r *Row) origins() cell {
	return jsonCell[[]string]{append([]string{}, r.DerivedFrom...), func(read []string) {
		r.DerivedFrom = append(r.DerivedFrom, read...)
	}}
}

// baseline and relation are stored as JSON. Their shapes may change with any rebuild.
type baseline struct {
	evaluation
	Voices domain.Voices `json:"voices,omitzero"` // of the votes since
}

type evaluation struct {
	Helpful        int          `json:"helpful"`
	Harmful        int          `json:"harmful"`
	Confidence     float64      `json:"confidence"`
	HelpfulHistory []domain.Use `json:"helpful_history,omitempty"`
	HarmfulHistory []domain.Use `json:"harmful_history,omitempty"`
}

type relation struct {
	To     string        `json:"to"`
	Reason string        `json:"reason,omitempty"`
	At     database.Time `json:"at"`
}

func (r *Row) baseline() cell {
	return jsonCell[baseline]{baseline{evaluation(r.Baseline), r.Voices}, func(read baseline) {
		r.Baseline, r.Voices = domain.Eval(read.evaluation), read.Voices
	}}
}

func (r *Row) relations() cell {
	list := make([]relation, len(r.Relations))
	for i, to := range r.Relations {
		list[i] = relation{to.To, to.Reason, database.At(to.At)}
	}
	return jsonCell[[]relation]{list, func(read []relation) {
		for _, to := range read {
			r.Relations = append(r.Relations, domain.Relation{To: to.To, Reason: to.Reason, At: to.At.Time})
		}
	}}
}
