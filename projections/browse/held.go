package browse

import (
	"context"
	"database/sql"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/rows"
)

// Held is how many items a tenant has that are not forgotten, with the bytes of their texts and of all files: in all,
// by the key that remembered them and by scope, where quotas limit these.
func (b *Browser) Held(ctx context.Context, tenant string, quotas events.Quotas) (map[string]events.Amount, error) {
	p, err := b.view(ctx)
	if err != nil {
		return nil, err
	}
	const sums = "count(*), coalesce(sum(octet_length(k.task) + octet_length(k.content) + octet_length(k.abstract) + " +
		"octet_length(k.overview) + coalesce(octet_length(CAST(k.meta AS text)), 0)), 0)"
	items := p.DB.NewSelect().TableExpr("? AS k", p.Tables.Knowledge).Where("k.tenant = ?", tenant).Where("k." + rows.Live)
	text := items.Clone().ColumnExpr("CAST(? AS text), "+sums, domain.TenantStreams.Of(tenant)).String()
	text += " UNION ALL " + p.DB.NewSelect().TableExpr("files").Where("tenant = ?", tenant).
		ColumnExpr("CAST(? AS text), 0, coalesce(sum(octet_length(bytes)), 0)", domain.TenantStreams.Of(tenant)).String()
	if quotas.Limit("key") {
		text += " UNION ALL " + items.Clone().ColumnExpr("e.authentication, "+sums).Join("JOIN events AS e").
			JoinOn("e.tenant = k.tenant").JoinOn("e.stream = ? || k.id", domain.KnowledgeStream("")).JoinOn("e.version = 1").
			GroupExpr("e.authentication").String()
	}
	if quotas.Limit("scope") {
		text += " UNION ALL " + items.Clone().ColumnExpr("'scope:' || s.value, "+sums).
			Join("CROSS JOIN "+rows.EachScope(p.DB.Engine, "k.scopes")).GroupExpr("s.value").String()
	}
	held := map[string]events.Amount{}
	err = database.ForEach(ctx, p.DB, func(row *sql.Rows) error {
		var name string
		var of events.Amount
		err := row.Scan(&name, &of.Items, &of.Bytes)
		of.Items, of.Bytes = of.Items+held[name].Items, of.Bytes+held[name].Bytes
		held[name] = of
		return err
	}, text)
	if err != nil {
		return nil, rows.Failed(ctx, "count what quotas limit", err)
	}
	return held, nil
}
