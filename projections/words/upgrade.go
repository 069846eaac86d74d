package words

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
)

// Upgrade gives versions of earlier releases, which have a row per term and item and one per scope and item, an index
// in blocks. In one transaction per version, it notes all items as changed. Then it moves these changes.
func Upgrade(ctx context.Context, c *catalogue.Catalogue) error {
	ctx = database.ForEveryTenant(ctx)
	all, err := c.Versions(ctx)
	if err != nil {
		return err
	}
	for _, listed := range all {
		v := c.VersionOf(listed.Entry)
		if listed.Dropped() {
			continue
		}
		scopes := fmt.Sprintf("knowledge_%d_scopes", v.Version)
		there, err := c.HasTable(ctx, c.DB, scopes)
		if err == nil && there {
			err = c.DB.Transact(ctx, func(ctx context.Context, tx bun.Tx) error { return upgrade(ctx, tx, c, v, scopes) })
		}
		if err == nil && there {
			err = Build(ctx, c, v.Tables, always)
		}
		if err != nil {
			return rows.Failed(ctx, fmt.Sprintf("index the words of version %d anew", v.Version), err)
		}
	}
	return nil
}

func upgrade(ctx context.Context, tx bun.Tx, c *catalogue.Catalogue, v catalogue.Version, scopes string) error {
	if err := catalogue.LockCatalogue(ctx, c.DB.Engine, tx); err != nil {
		return err
	}
	if there, err := c.HasTable(ctx, tx, scopes); err != nil || !there { // another process was faster
		return err
	}
	made := fmt.Sprintf("DROP TABLE %s; DROP INDEX IF EXISTS %s_live;\n", scopes, v.Tables.Knowledge)
	for _, old := range []string{"terms", "postings", "changes"} {
		made += fmt.Sprintf("DROP TABLE IF EXISTS knowledge_%d_%s;\n", v.Version, old)
	}
	if c.DB.Engine == database.Postgres {
		made = catalogue.SwitchVersions + ";\n" + made // while appends wait
	}
	for _, name := range []string{"knowledge_sorted", "knowledge_words"} {
		definition, err := rows.Definition(c.DB.Engine, name, v.Version)
		if err != nil {
			return err
		}
		made += definition + "\n"
	}
	if _, err := tx.ExecContext(ctx, made); err != nil || v.Unsupported {
		return err
	}
	c.Log.InfoContext(ctx, "words are indexed anew", "version", v.Version)
	for tenant, after := "", int64(0); ; {
		var page []rows.Row
		err := tx.NewSelect().Model(&page).ModelTableExpr("? AS k", v.Tables.Knowledge).Where(rows.Live).
			Where("(tenant, number) > (?, ?)", tenant, after).OrderExpr("tenant, number").Limit(atOnce).Scan(ctx)
		if err != nil || len(page) == 0 {
			return err
		}
		changes := make([][]any, len(page))
		for i := range page {
			k := page[i].Knowledge()
			tenant, after = page[i].Tenant, k.Number
			changes[i] = []any{tenant, after, k.Version, []byte(nil), EntryOf(v.Tokenizer, k).Encode()}
		}
		script := &rows.Script{Engine: c.DB.Engine}
		script.InsertRows(v.Tables.Changes, rows.ChangesColumns, changes, "")
		if err := script.Execute(ctx, tx); err != nil {
			return err
		}
	}
}
