package rebuild

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/annals-kb/annals/projections/rows"
)

// erasures are the ids of a tenant's events whose texts were erased, according to other events.
type erasures map[string]bool

func (e erasures) add(ids []string) {
	for _, id := range ids {
		e[id] = true
	}
}

// sessions adds the events of erased sessions, of which nothing else is compared.
func (e *verification) sessions(ctx context.Context, h head, erased erasures) error {
	var said []string
	err := e.tx.NewRaw(`
		SELECT e.data
		FROM erasures AS x
		JOIN events AS e ON e.tenant = x.tenant AND e.position = x.position
		WHERE x.tenant = ? AND x.number = 0
		ORDER BY x.position`, h.Tenant).Scan(ctx, &said)
	if err != nil {
		return rows.Failed(ctx, "read which sessions were erased", err)
	}
	for _, data := range said {
		var fact struct {
			Events []string `json:"events"`
		}
		if err := json.Unmarshal([]byte(data), &fact); err != nil {
			return err
		}
		erased.add(fact.Events)
	}
	return nil
}

// texts checks that a text is missing if, and only if, an event records its erasure.
func (e *verification) texts(ctx context.Context, h head, erased erasures) error {
	missing, err := e.missingTexts(ctx, h, erased)
	if err != nil {
		return err
	}
	for _, id := range sortedKeys(erased) {
		if !missing[id] {
			e.addWrong("tenant %s: the text of event %s is still there or never was, and an event records that it was erased",
				h.Tenant, id)
		}
	}
	var strangers int64
	err = e.tx.NewRaw(`
		SELECT count(*)
		FROM event_texts AS t
		LEFT JOIN events AS e ON e.tenant = t.tenant AND e.position = t.position
		WHERE t.tenant = ? AND e.text_commitment IS NULL`, h.Tenant).Scan(ctx, &strangers)
	if err != nil {
		return rows.Failed(ctx, "read texts", err)
	}
	if strangers > 0 {
		e.addWrong("tenant %s: %d texts belong to no event", h.Tenant, strangers)
	}
	return nil
}

// missingTexts are the ids of the events that had a text and have it no longer.
func (e *verification) missingTexts(ctx context.Context, h head, erased erasures) (missing map[string]bool, err error) {
	list, err := e.tx.QueryContext(ctx, `
		SELECT e.event_id, e.position
		FROM events AS e
		LEFT JOIN event_texts AS t ON t.tenant = e.tenant AND t.position = e.position
		WHERE e.tenant = ? AND e.text_commitment IS NOT NULL AND t.position IS NULL
		ORDER BY e.position`, h.Tenant)
	if err != nil {
		return nil, rows.Failed(ctx, "read texts", err)
	}
	defer func() { err = errors.Join(err, list.Close()) }()
	missing = map[string]bool{}
	for list.Next() {
		var id string
		var position int64
		if err := list.Scan(&id, &position); err != nil {
			return nil, err
		}
		if missing[id] = true; !erased[id] {
			e.addWrong("tenant %s, position %d: the text is missing, and no event says that it was erased", h.Tenant, position)
		}
	}
	return missing, list.Err()
}

func sortedKeys(set map[string]bool) []string {
	keys := make([]string, 0, len(set))
	for key := range set {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
