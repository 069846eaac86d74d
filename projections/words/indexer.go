package words

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

const (
	// maxChanges is how many changes a tenant keeps. A search reads them all, besides the blocks.
	maxChanges = 128
	// stepChanges is how many changes one transaction moves to the blocks at most. More of them share more rows.
	// stepBytes limits their entries, which take five times as much while they are moved.
	stepChanges, stepBytes = 8192, 8 << 20
	// stepInterval is the pause between two steps, and how long a step yields at most: a search reads all that waits.
	stepInterval = time.Second
)

// Indexer moves items that changed into the blocks of the index.
type Indexer struct {
	catalogue   *catalogue.Catalogue
	MaxChanges  int // that a tenant keeps
	StepChanges int // that one transaction moves
}

func NewIndexer(c *catalogue.Catalogue) *Indexer { return &Indexer{c, maxChanges, stepChanges} }

// IndexWords moves changes of each tenant that has more than MaxChanges.
func (p *Indexer) IndexWords(ctx context.Context) error {
	_, err := p.indexWords(ctx)
	return err
}

// indexWords tells whether a tenant had more, and may still have.
func (p *Indexer) indexWords(ctx context.Context) (had bool, err error) {
	if err := p.catalogue.Refresh(ctx); err != nil {
		return true, err
	}
	for _, v := range p.catalogue.VersionSet.Load().Versions {
		if v.Unsupported {
			continue
		}
		var tenants []string
		err := p.catalogue.DB.NewSelect().TableExpr("? AS c", v.Tables.Changes).Column("tenant").GroupExpr("tenant").
			Having("count(*) > ?", p.MaxChanges).OrderExpr("tenant").Scan(ctx, &tenants)
		if err != nil {
			return true, rows.Failed(ctx, "count changes of items", err)
		}
		had = had || len(tenants) > 0
		for _, tenant := range tenants {
			_, err := step{p.catalogue, v.Tables, tenant, p.StepChanges, always}.run(ctx, p.catalogue.DB.Transact)
			if err != nil && !errors.Is(err, errIndexed) {
				return true, fmt.Errorf("index words: %w", err)
			}
		}
	}
	return had, nil
}

// IndexAllWords indexes words until ctx ends, while a log grows and until nothing is left.
func (p *Indexer) IndexAllWords(ctx context.Context, log *events.Log) {
	grown, leave := log.Watchers.WatchAll()
	defer leave()
	for had := true; ; {
		if !had {
			select {
			case <-ctx.Done():
				return
			case <-grown.Wake:
				grown.Collect()
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(stepInterval):
		}
		began := time.Now()
		var err error
		had, err = p.indexWords(ctx)
		log.Background().Yield(ctx, "", time.Since(began), stepInterval)
		if err != nil && ctx.Err() == nil {
			p.catalogue.Log.WarnContext(ctx, "words were not indexed and will be tried again",
				"error", database.Classify(ctx, err))
		}
	}
}

// maxUnindexed limits how many changes are counted for the status.
const maxUnindexed = 100_000

// Unindexed is how many items of a tenant wait to be indexed.
func (p *Indexer) Unindexed(ctx context.Context, t rows.Tables, tenant string) (waiting int64, err error) {
	some := p.catalogue.DB.NewSelect().TableExpr("? AS c", t.Changes).ColumnExpr("1").Where("tenant = ?", tenant).
		Limit(maxUnindexed + int64(p.MaxChanges))
	err = p.catalogue.DB.NewSelect().TableExpr("(?) AS some_changes", some).ColumnExpr("count(*)").Scan(ctx, &waiting)
	if err != nil {
		return 0, rows.Failed(ctx, "count changes of items", err)
	}
	return max(0, waiting-int64(p.MaxChanges)), nil
}

// Build moves all changes of a version that is being built. begin may refuse each transaction.
func Build(
	ctx context.Context, c *catalogue.Catalogue, t rows.Tables, begin func(ctx context.Context, tx bun.Tx) error,
) error {
	var tenants []string
	err := c.DB.NewSelect().TableExpr("? AS c", t.Changes).ColumnExpr("DISTINCT tenant").Scan(ctx, &tenants)
	if err != nil {
		return rows.Failed(ctx, "find changes of items", err)
	}
	for _, tenant := range tenants {
		s := step{c, t, tenant, stepChanges, begin}
		for moved := 1; moved > 0; {
			if moved, err = s.run(ctx, c.DB.TransactAsync); errors.Is(err, errIndexed) {
				moved = 1
			} else if err != nil {
				return rows.Failed(ctx, "index words", err)
			}
		}
	}
	return nil
}

func always(context.Context, bun.Tx) error { return nil }

// step moves some of a tenant's changes to the blocks. It computes the new blocks before its transaction begins,
// because on SQLite commands wait for that. On PostgreSQL, commands wait only for the rows of changes, which both lock
// in the order of their numbers.
type step struct {
	catalogue *catalogue.Catalogue
	tables    rows.Tables
	tenant    string
	most      int
	begin     func(ctx context.Context, tx bun.Tx) error
}

// errIndexed means that another transaction has changed the blocks.
var errIndexed = errors.New("the blocks were changed meanwhile")

func (s step) run(
	ctx context.Context, transact func(context.Context, func(context.Context, bun.Tx) error) error,
) (moved int, err error) {
	last, err := lastMark(ctx, s.catalogue.DB, s.tables, s.tenant)
	if err != nil {
		return 0, err
	}
	read, err := readMoving(ctx, s.catalogue.DB.NewSelect().TableExpr("? AS c", s.tables.Changes).
		Where("tenant = ?", s.tenant).OrderExpr("number").Limit(int64(s.most)), stepBytes)
	if err != nil || len(read) == 0 {
		return 0, err
	}
	blocks, err := newBlocks(ctx, s.catalogue.DB.Engine, s.catalogue.DB, s.tables, s.tenant, read)
	if err != nil {
		return 0, err
	}
	return len(read), transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		err := s.begin(ctx, tx)
		if err == nil {
			err = setMark(ctx, tx, s.tables, s.tenant, last, false)
		}
		if err == nil {
			err = blocks.write(ctx, tx)
		}
		return err
	})
}

// moving is a change that is being moved, with the version of the item that it has.
type moving struct {
	change
	version int64
	entry   []byte
}

// readMoving reads changes: the first one, and more while their entries do not take more bytes.
func readMoving(ctx context.Context, query *bun.SelectQuery, most int) (list []moving, err error) {
	var c moving
	var was []byte
	err = scan(ctx, query.Column("number", "version", "was", "now"), func() (err error) {
		if c.was, err = decodeEntry(was); err == nil {
			c.now, err = decodeEntry(c.entry)
		}
		if most -= len(was) + len(c.entry); most >= 0 || len(list) == 0 {
			list = append(list, c)
		}
		return err
	}, &c.number, &c.version, &was, &c.entry)
	return list, err
}

// mark is the term of a row that every change of a tenant's blocks gives a new value.
const mark = -1

func lastMark(ctx context.Context, tx bun.IDB, t rows.Tables, tenant string) (last []byte, err error) {
	query := tx.NewSelect().TableExpr("? AS c", t.Postings).Column("data").
		Where("tenant = ?", tenant).Where("term = ?", mark)
	err = scan(ctx, query, func() error { return nil }, &last)
	return last, err
}

// setMark locks a tenant's blocks until the transaction ends. The error matches errIndexed if they have another mark
// than the last one, unless any will do.
func setMark(ctx context.Context, tx bun.IDB, t rows.Tables, tenant string, last []byte, anyMark bool) error {
	result, err := tx.NewRaw(`
		INSERT INTO ?0 AS p (tenant, term, block, data)
		VALUES (?1, ?2, 0, ?3)
		ON CONFLICT (tenant, term, block) DO UPDATE SET data = EXCLUDED.data WHERE p.data = ?4 OR ?5`,
		t.Postings, tenant, mark, binary.BigEndian.AppendUint64(nil, rand.Uint64()), last, anyMark).Exec(ctx)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return errors.Join(errIndexed, err)
	}
	return nil
}

// blocks are rows of a tenant's index that are to be written, with the changes that they make superfluous.
type blocks struct {
	engine database.Engine
	tables rows.Tables
	tenant string
	moved  []moving // in the order of their numbers
	made   [][]any
	gone   [][]int64 // keys of rows, and blocks
}

// atOnce is how many rows of blocks are read or written by one statement.
const atOnce = 500

// newBlocks applies changes to the blocks as they are.
func newBlocks(
	ctx context.Context, engine database.Engine, from bun.IDB, t rows.Tables, tenant string, moved []moving,
) (b blocks, err error) {
	b = blocks{engine: engine, tables: t, tenant: tenant, moved: moved}
	size := 0
	for _, c := range moved {
		size += len(c.entry) / packedTermBytes
	}
	edits := make([]edit, 0, size)
	for _, c := range moved {
		edits = editsOf(edits, c.number, c.was, c.now)
	}
	sortEdits(edits)
	for len(edits) > 0 && err == nil {
		var keys [][]int64
		var parts [][]edit
		for len(edits) > 0 && len(keys) < atOnce {
			row, block, n := rowOf(edits[0].key), edits[0].block, 1
			for n < len(edits) && rowOf(edits[n].key) == row && edits[n].block == block {
				n++
			}
			keys, parts = append(keys, []int64{int64(row), block}), append(parts, edits[:n])
			edits = edits[n:]
		}
		err = b.add(ctx, from, keys, parts)
	}
	return b, err
}

func (b *blocks) add(ctx context.Context, from bun.IDB, keys [][]int64, parts [][]edit) error {
	in := rows.Table{Engine: b.engine, Tenant: b.tenant, Table: b.tables.Postings, Alias: "p"}
	query := rows.LookUp(from.NewSelect().ColumnExpr("p.term, p.block, p.data"), in, keys, "term", "block")
	stored := make(map[[2]int64][]byte, len(keys))
	var key [2]int64
	var data []byte
	err := scan(ctx, query, func() error {
		stored[key] = data
		return nil
	}, &key[0], &key[1], &data)
	for i, part := range parts {
		if err != nil {
			return err
		}
		data, is := stored[[2]int64(keys[i])]
		if data, err = edited(data, part); data != nil {
			b.made = append(b.made, []any{b.tenant, keys[i][0], keys[i][1], data})
		} else if is {
			b.gone = append(b.gone, keys[i])
		}
	}
	return err
}

// write writes the blocks and deletes the changes. An item that has changed again keeps its change, from what the
// blocks have now.
func (b *blocks) write(ctx context.Context, tx bun.IDB) error {
	for some := range slices.Chunk(b.made, atOnce) {
		script := &rows.Script{Engine: b.engine}
		b.tables.Postings.Insert(script, rows.PostingsColumns, some,
			"ON CONFLICT (tenant, term, block) DO UPDATE SET data = EXCLUDED.data")
		if err := script.Execute(ctx, tx); err != nil {
			return err
		}
	}
	script := &rows.Script{Engine: b.engine}
	for _, key := range b.gone {
		script.AddQuery(tx.NewDelete().TableExpr("?", b.tables.Postings).Where("tenant = ?", b.tenant).
			Where("term = ?", key[0]).Where("block = ?", key[1]))
	}
	moved := make(map[int64]moving, len(b.moved))
	for _, c := range b.moved {
		moved[c.number] = c
	}
	locked := tx.NewSelect().TableExpr("? AS c", b.tables.Changes).Column("number", "version").
		Where("tenant = ?", b.tenant).Where("number IN (?)", bun.List(slices.Collect(maps.Keys(moved)))).OrderExpr("number")
	if b.engine == database.Postgres {
		locked = locked.For("UPDATE")
	}
	var number, version int64
	var done []int64
	err := scan(ctx, locked, func() error {
		if c := moved[number]; c.version == version {
			done = append(done, number)
		} else {
			script.AddQuery(tx.NewUpdate().TableExpr("?", b.tables.Changes).Set("was = ?", c.entry).
				Where("tenant = ?", b.tenant).Where("number = ?", number))
		}
		return nil
	}, &number, &version)
	if err != nil {
		return err
	}
	if len(done) > 0 {
		script.AddQuery(tx.NewDelete().TableExpr("?", b.tables.Changes).Where("tenant = ?", b.tenant).
			Where("number IN (?)", bun.List(done)))
	}
	return script.Execute(ctx, tx)
}

// Erase removes items from the index of a version in the caller's transaction, with everything that it has of them.
// The items are as the version's rows have them. An index in another form is dropped.
func Erase(
	ctx context.Context, tx bun.IDB, engine database.Engine, v catalogue.Version, tenant string, items []*domain.Knowledge,
) error {
	if len(items) == 0 {
		return nil
	}
	if !v.Tables.HasWords() {
		for _, table := range v.Tables.Unread {
			if _, err := tx.NewRaw("DROP TABLE IF EXISTS ?", table).Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	if err := setMark(ctx, tx, v.Tables, tenant, nil, true); err != nil {
		return err
	}
	var numbers []int64
	var changes [][]any
	for _, k := range items {
		var was []byte
		if rows.IsLive(k) {
			entry := Entry{Sets: SetsOf(k)}
			if !v.Unsupported && !v.Tables.Knowledge.Lacks("task", "content", "tags", "source") {
				entry.ItemTerms = ItemTermsOf(v.Tokenizer, k)
			} else if err := addAllTerms(ctx, tx, v.Tables, tenant, k.Number>>blockBits, &entry); err != nil {
				return err
			}
			was = entry.Encode()
		}
		numbers = append(numbers, k.Number)
		changes = append(changes, []any{tenant, k.Number, k.Version, was, []byte(nil)})
	}
	script := &rows.Script{Engine: engine}
	v.Tables.Changes.Insert(script, rows.ChangesColumns, changes,
		"ON CONFLICT (tenant, number) DO UPDATE SET now = NULL")
	if err := script.Execute(ctx, tx); err != nil {
		return err
	}
	erased, err := readMoving(ctx, tx.NewSelect().TableExpr("? AS c", v.Tables.Changes).Where("tenant = ?", tenant).
		Where("number IN (?)", bun.List(numbers)).OrderExpr("number"), math.MaxInt)
	if err != nil {
		return err
	}
	b, err := newBlocks(ctx, engine, tx, v.Tables, tenant, erased)
	if err == nil {
		err = b.write(ctx, tx)
	}
	return err
}

// addAllTerms adds all terms that a block has to an entry: this program cannot tell which of them an item has.
func addAllTerms(ctx context.Context, tx bun.IDB, t rows.Tables, tenant string, block int64, entry *Entry) error {
	var row int64
	var data []byte
	query := tx.NewSelect().TableExpr("? AS c", t.Postings).Column("term", "data").Where("tenant = ?", tenant).
		Where("block = ?", block).Where("term >= 0").Where("term < ?", int64(rows.OfAll)).OrderExpr("term")
	return scan(ctx, query, func() error {
		terms, err := termsOf(uint64(row), data)
		for _, t := range terms {
			entry.PackedTerms = binary.BigEndian.AppendUint64(entry.PackedTerms, t.hash<<16)
		}
		return err
	}, &row, &data)
}
