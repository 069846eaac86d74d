package rebuild

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/rows"
)

// texts checks that a text is missing if, and only if, an event records its erasure.
func (e *verification) texts(ctx context.Context, tenant string) error {
	var missing, erased []string // ids of events
	positions := map[string]int64{}
	recorded := map[string]bool{}
	erasing := bun.List([]string{
		domain.Erased{}.Name(), domain.TextsErased{}.Name(), domain.SessionErased{}.Name(), domain.Redacted{}.Name(),
	})
	err := database.ForEach(ctx, e.tx, func(list *sql.Rows) error {
		var id string
		var position int64
		var isMissing bool
		var data []byte
		if err := list.Scan(&id, &position, &isMissing, &data); err != nil {
			return err
		}
		if isMissing {
			missing = append(missing, id)
			positions[id] = position
		}
		if data == nil {
			return nil
		}
		var fact struct {
			Events []string `json:"events"`
		}
		if err := json.Unmarshal(data, &fact); err != nil {
			return err
		}
		for _, id := range fact.Events {
			if !recorded[id] {
				recorded[id] = true
				erased = append(erased, id)
			}
		}
		return nil
	}, `
		SELECT e.event_id, e.position, t.position IS NULL AND e.text_commitment IS NOT NULL,
			CASE WHEN e.name IN (?) THEN e.data END
		FROM events AS e
		LEFT JOIN event_texts AS t ON t.tenant = e.tenant AND t.position = e.position
		WHERE e.tenant = ? AND (t.position IS NULL AND e.text_commitment IS NOT NULL OR e.name IN (?))
		ORDER BY e.position`, erasing, tenant, erasing)
	if err != nil {
		return rows.Failed(ctx, "read texts", err)
	}
	for _, id := range missing {
		if !recorded[id] {
			e.addWrong("tenant %s, position %d: the text is missing, and no event says that it was erased", tenant,
				positions[id])
		}
	}
	for _, id := range erased {
		if positions[id] == 0 {
			e.addWrong("tenant %s: the text of event %s is still there or never was, and an event records that it was erased",
				tenant, id)
		}
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
