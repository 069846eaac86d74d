package projections

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// verify compares a version with an independent fold of the log and with the active version, in one
// snapshot of the database, and opens the gate only if both agree: every row is what the fold gives,
// and the two versions differ in nothing but what the change intends.
func (r *Rebuilder) verify(ctx context.Context, now *run) error {
	p := r.knowledge
	if p.beforeVerification != nil {
		p.beforeVerification(ctx, now.version.Version)
	}
	report, err := r.examine(ctx, now)
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(report)
	if err != nil {
		return err
	}
	return p.db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewUpdate().Model((*entry)(nil)).Set("report = ?", string(encoded)).
			Where("name = ?", knowledgeName).Where("version = ?", now.version.Version).Exec(ctx)
		if err != nil {
			return err
		}
		if !report.Passed {
			return p.refuse(ctx, tx, now.version, report)
		}
		return p.advance(ctx, tx, now.version, stateVerifying, stateReady)
	})
}

// refuse keeps the report with a version whose gate stays closed.
func (p *Knowledge) refuse(ctx context.Context, tx bun.IDB, v version, report domain.RebuildReport) error {
	p.log.ErrorContext(ctx, "a version does not pass its verification", "version", v.Version,
		"wrong", len(report.Wrong), "changed", fmt.Sprint(report.Changed), "overlap", report.Overlap)
	return p.advance(ctx, tx, v, stateVerifying, stateFailed)
}

// examination is a verification at work.
type examination struct {
	rebuilder *Rebuilder
	run       *run
	old, new  version
	tx        bun.Tx
	report    domain.RebuildReport
	sums      map[string]uint64
}

// maxWrong is how many wrong rows a report shows.
const maxWrong = 20

func (r *Rebuilder) examine(ctx context.Context, now *run) (domain.RebuildReport, error) {
	p := r.knowledge
	tx, err := p.db.BeginTx(ctx, snapshot(p.db.Engine))
	if err != nil {
		return domain.RebuildReport{}, p.failed(ctx, "verify", err)
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	e := &examination{
		rebuilder: r, run: now, old: p.active(), new: now.version, tx: tx, sums: map[string]uint64{},
		report: domain.RebuildReport{
			Version: now.version.Version, Against: p.active().Version,
			Rows: map[string]int64{}, Checksums: map[string]string{}, Changed: map[string]int64{},
			Intended: intended(p.active(), now.version),
		},
	}
	if err := e.tenants(ctx); err != nil {
		return e.report, err
	}
	for table, sum := range e.sums {
		e.report.Checksums[table] = fmt.Sprintf("%016x", sum)
	}
	e.report.Passed = len(e.report.Wrong) == 0
	for column := range e.report.Changed {
		if !slices.Contains(e.report.Intended, column) {
			e.report.Passed = false
		}
	}
	return e.report, nil
}

// snapshot is a transaction in which the log and every version stand still.
func snapshot(engine database.Engine) *sql.TxOptions {
	if engine == database.SQLite {
		return nil // a reader sees one snapshot from its first read on
	}
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}

// intended are the columns that differ because the versions were built with different settings.
func intended(old, new version) []string {
	var columns []string
	if old.Settings["confidence"] != new.Settings["confidence"] {
		columns = append(columns, "confidence")
	}
	if old.Settings["tokenizer"] != new.Settings["tokenizer"] {
		columns = append(columns, "words")
	}
	return columns
}

func (e *examination) tenants(ctx context.Context) error {
	var heads []struct {
		Tenant   string `bun:"tenant"`
		Position int64  `bun:"position"`
	}
	err := e.tx.NewRaw("SELECT tenant, max(position) AS position FROM events GROUP BY tenant ORDER BY tenant").Scan(ctx, &heads)
	if err != nil {
		return e.rebuilder.knowledge.failed(ctx, "read the heads", err)
	}
	for _, head := range heads {
		after := ""
		for {
			slice, found, err := e.rebuilder.log.NextSlice(ctx, head.Tenant, domain.KnowledgeStream(""), after, sliceStreams)
			if err != nil {
				return err
			}
			if !found {
				slice = events.Slice{Tenant: head.Tenant, After: after, Through: domain.KnowledgeStream("\U0010FFFF")}
			}
			if err := e.slice(ctx, slice, head.Position); err != nil {
				return err
			}
			if !found {
				break
			}
			after = slice.Through
			e.run.note(func(p *domain.RebuildProgress) { p.Verified += int64(slice.Streams) })
		}
	}
	return nil
}

// slice compares the rows of a range of items.
func (e *examination) slice(ctx context.Context, s events.Slice, upTo int64) error {
	var want image
	for f, err := range foldStreams(e.rebuilder.log.InSlice(ctx, s, upTo), e.new.policy) {
		if err != nil {
			return err
		}
		if err := want.add(s.Tenant, f.item); err != nil {
			return err
		}
	}
	want.hashTerms()
	have, err := e.rebuilder.knowledge.imageOf(ctx, e.tx, e.new.tables, s)
	if err != nil {
		return err
	}
	e.report.Items += int64(len(want.knowledge))
	for _, part := range []struct {
		table      string
		want, have [][]any
	}{
		{"knowledge", want.knowledge, have.knowledge},
		{"scopes", want.scopes, have.scopes},
		{"terms", want.terms, have.terms},
		{"votes", want.votes, have.votes},
		{"reports", want.reports, have.reports},
	} {
		e.compare(part.table, part.want, part.have)
	}
	return e.difference(ctx, s, have.knowledge)
}

// compare notes rows that only one side has, and adds the rows to the table's checksum: the sum of
// their hashes, which does not depend on their order.
func (e *examination) compare(table string, want, have [][]any) {
	expected := make(map[string]bool, len(want))
	for _, row := range want {
		expected[lineOf(row)] = true
	}
	for _, row := range have {
		line := lineOf(row)
		hash := sha256.Sum256([]byte(line))
		e.sums[table] += binary.BigEndian.Uint64(hash[:])
		if !expected[line] {
			e.wrong("%s of %v: not what the log says", table, key(row))
		}
		delete(expected, line)
	}
	e.report.Rows[table] += int64(len(have))
	for _, row := range want {
		if expected[lineOf(row)] {
			e.wrong("%s of %v: missing", table, key(row))
		}
	}
}

// wrong notes a row by its key, never by what people wrote.
func (e *examination) wrong(format string, values ...any) {
	if len(e.report.Wrong) < maxWrong {
		e.report.Wrong = append(e.report.Wrong, fmt.Sprintf(format, values...))
	}
}

func key(row []any) []any { return row[:min(2, len(row))] }

// lineOf writes a row so that equal rows of different origin have equal lines.
func lineOf(row []any) string {
	var line strings.Builder
	for _, value := range row {
		switch v := value.(type) {
		case *string:
			if v == nil {
				line.WriteString("\x00")
			} else {
				line.WriteString(*v)
			}
		case database.Time:
			if !v.IsZero() {
				line.WriteString(v.String())
			}
		default:
			fmt.Fprint(&line, v)
		}
		line.WriteByte(0x1f)
	}
	return line.String()
}

// difference counts, by column, the items that differ from the active version.
func (e *examination) difference(ctx context.Context, s events.Slice, rows [][]any) error {
	old, err := e.rebuilder.knowledge.knowledgeRows(ctx, e.tx, e.old.tables, s)
	if err != nil {
		return err
	}
	before := make(map[any][]any, len(old))
	for _, row := range old {
		before[row[1]] = row
	}
	for _, row := range rows {
		was, found := before[row[1]]
		if !found {
			e.report.Changed["(new item)"]++
			continue
		}
		delete(before, row[1])
		for i, column := range knowledgeColumns {
			if lineOf(row[i:i+1]) != lineOf(was[i:i+1]) {
				e.report.Changed[column]++
			}
		}
	}
	if len(before) > 0 {
		e.report.Changed["(item gone)"] += int64(len(before))
	}
	return nil
}
