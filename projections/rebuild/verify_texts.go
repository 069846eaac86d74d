package rebuild

import (
	"context"

	"github.com/annals-kb/annals/projections/rows"
)

// texts checks that a text is missing if, and only if, an event destroyed it.
func (e *verification) texts(ctx context.Context, tenant string) error {
	var wrong []struct {
		Position int64  `bun:"position"`
		EventID  string `bun:"event_id"`
		Missing  bool   `bun:"missing"`
	}
	err := e.tx.NewRaw(`
		SELECT e.position, e.event_id, d.position IS NULL AS missing
		FROM events AS e
		LEFT JOIN event_texts AS t ON t.tenant = e.tenant AND t.position = e.position
		LEFT JOIN destroyed_texts AS d ON d.tenant = e.tenant AND d.position = e.position
		WHERE e.tenant = ? AND (t.position IS NULL AND e.text_commitment IS NOT NULL) <> (d.position IS NOT NULL)
		ORDER BY e.position
		LIMIT ?`, tenant, maxWrong).Scan(ctx, &wrong)
	if err != nil {
		return rows.Failed(ctx, "read texts", err)
	}
	for _, t := range wrong {
		if t.Missing {
			e.addWrong("tenant %s, position %d: the text is missing, and no event says that it was erased", tenant, t.Position)
			continue
		}
		e.addWrong("tenant %s: the text of event %s is still there or never was, and an event records that it was erased",
			tenant, t.EventID)
	}
	var strangers int64
	err = e.tx.NewRaw(`
		SELECT count(*)
		FROM event_texts AS t
		LEFT JOIN events AS e ON e.tenant = t.tenant AND e.position = t.position
		WHERE t.tenant = ? AND e.text_commitment IS NULL`, tenant).Scan(ctx, &strangers)
	if err != nil {
		return rows.Failed(ctx, "read texts", err)
	}
	if strangers > 0 {
		e.addWrong("tenant %s: %d texts belong to no event", tenant, strangers)
	}
	return nil
}
