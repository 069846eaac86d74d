package subscriptions

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// store keeps deliveries and the secrets of webhooks in tables.
type store struct {
	db   *database.DB
	wake chan struct{} // something may be due
}

// Wake lets the sender look for due deliveries at once.
func (s *store) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *store) now() time.Time { return time.Now() }

// receiver is a subscription of a tenant.
type receiver struct{ tenant, id string }

// receivers are subscriptions with due deliveries, those that wait longest first.
func (s *store) receivers(ctx context.Context) (due []receiver, err error) {
	err = database.ForEach(ctx, s.db, func(rows *sql.Rows) error {
		var r receiver
		err := rows.Scan(&r.tenant, &r.id)
		due = append(due, r)
		return err
	}, `
		SELECT tenant, subscription
		FROM deliveries
		WHERE state = 'pending' AND next_at <= ?
		GROUP BY tenant, subscription
		ORDER BY min(next_at), tenant, subscription
		LIMIT ?`, database.At(s.now()), mostReceivers)
	if err != nil {
		return nil, failed(ctx, "find due deliveries", err)
	}
	return due, nil
}

// Deliveries lists deliveries of a subscription.
func (s *store) Deliveries(
	ctx context.Context, tenant, id string, q domain.DeliveryQuery,
) (found []domain.Delivery, err error) {
	where, order, args := "", "position DESC", []any{tenant, id}
	if q.State != "" {
		where, args = where+" AND state = ?", append(args, q.State)
	}
	if q.Before > 0 {
		where, args = where+" AND position < ?", append(args, q.Before)
	}
	if !q.Due.IsZero() {
		where, order = where+" AND state = 'pending' AND next_at <= ?", "position"
		args = append(args, database.At(q.Due))
	}
	err = database.ForEach(ctx, s.db, func(rows *sql.Rows) error {
		d := domain.Delivery{Tenant: tenant, Subscription: id}
		var next, at database.Time
		err := rows.Scan(&d.Position, &d.EventID, &d.State, &d.Attempts, &next, &d.Status, &d.Error, &at)
		d.NextAt, d.At = next.Time, at.Time
		found = append(found, d)
		return err
	}, `
		SELECT position, event_id, state, attempts, next_at, status, error, at
		FROM deliveries
		WHERE tenant = ? AND subscription = ?`+where+`
		ORDER BY `+order+`
		LIMIT ?`, append(args, q.Limit)...)
	if err != nil {
		return nil, failed(ctx, "read deliveries", err)
	}
	return found, nil
}

// Counts are the numbers of a subscription's deliveries, by state.
func (s *store) Counts(ctx context.Context, tenant, id string) (map[string]int64, error) {
	counts := map[string]int64{}
	err := database.ForEach(ctx, s.db, func(rows *sql.Rows) error {
		var state string
		var n int64
		err := rows.Scan(&state, &n)
		counts[state] = n
		return err
	}, `
		SELECT state, count(*)
		FROM deliveries
		WHERE tenant = ? AND subscription = ?
		GROUP BY state
		ORDER BY state`, tenant, id)
	if err != nil {
		return nil, failed(ctx, "count deliveries", err)
	}
	return counts, nil
}

// Replay makes deliveries again: that of an event, whatever its state, or all dead ones. It returns how many.
func (s *store) Replay(ctx context.Context, tenant, id, eventID string) (replayed int64, err error) {
	where, args := "state = 'dead'", []any{}
	if eventID != "" {
		where, args = "event_id = ?", []any{eventID}
	}
	now := database.At(s.now())
	err = s.write(ctx, func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.ExecContext(ctx, `
			UPDATE deliveries
			SET state = 'pending', attempts = 0, next_at = ?, at = ?
			WHERE tenant = ? AND subscription = ? AND `+where, append([]any{now, now, tenant, id}, args...)...)
		if err != nil {
			return failed(ctx, "replay deliveries", err)
		}
		replayed, err = result.RowsAffected()
		return err
	})
	s.Wake()
	return replayed, err
}

// Resume lets the pending deliveries of a subscription be posted now.
func (s *store) Resume(ctx context.Context, tenant, id string) error {
	err := s.write(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, `
			UPDATE deliveries
			SET next_at = ?
			WHERE tenant = ? AND subscription = ? AND state = 'pending'`, database.At(s.now()), tenant, id)
		return err
	})
	s.Wake()
	return err
}

// Secret makes a secret for a webhook, and keeps it. The one before it signs, too, for the overlap.
func (s *store) Secret(
	ctx context.Context, tenant, id string, overlap time.Duration,
) (secret string, err error) {
	secret = newSecret()
	return secret, s.write(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO webhook_secrets AS s (tenant, subscription, secret, until)
			VALUES (?, ?, ?, ?)
			ON CONFLICT (tenant, subscription) DO UPDATE
			SET previous = s.secret, secret = excluded.secret, until = excluded.until`,
			tenant, id, secret, database.At(s.now().Add(overlap)))
		return err
	})
}

// Forget drops the secret and the pending deliveries of a subscription.
func (s *store) Forget(ctx context.Context, tenant, id string) error {
	return s.write(ctx, func(ctx context.Context, tx bun.Tx) error { return end(ctx, tx, tenant, id) })
}

// secrets are the secrets that sign now, the current one first.
func (s *store) secrets(ctx context.Context, tenant, id string) (secrets []string, err error) {
	err = database.ForEach(ctx, s.db, func(rows *sql.Rows) error {
		var secret, previous string
		var until database.Time
		err := rows.Scan(&secret, &previous, &until)
		if secrets = append(secrets, secret); previous != "" && s.now().Before(until.Time) {
			secrets = append(secrets, previous)
		}
		return err
	}, `
		SELECT secret, previous, until
		FROM webhook_secrets
		WHERE tenant = ? AND subscription = ?`, tenant, id)
	if err != nil {
		return nil, failed(ctx, "read a webhook's secret", err)
	}
	return secrets, nil
}

// save writes the state of a delivery, if it is pending.
func (s *store) save(ctx context.Context, d domain.Delivery) error {
	return s.write(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, `
			UPDATE deliveries
			SET state = ?, attempts = ?, next_at = ?, status = ?, error = ?
			WHERE tenant = ? AND subscription = ? AND position = ? AND state = 'pending'`,
			d.State, d.Attempts, database.At(d.NextAt), d.Status, d.Error, d.Tenant, d.Subscription, d.Position)
		return err
	})
}

// delay lets all pending deliveries of a subscription wait until a time.
func (s *store) delay(ctx context.Context, r receiver, until time.Time) error {
	return s.write(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, `
			UPDATE deliveries
			SET next_at = ?
			WHERE tenant = ? AND subscription = ? AND state = 'pending' AND next_at < ?`,
			database.At(until), r.tenant, r.id, database.At(until))
		return err
	})
}

// sweep deletes finished deliveries of long ago.
func (s *store) sweep(ctx context.Context, keep time.Duration) error {
	return s.write(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, `
			DELETE FROM deliveries
			WHERE state IN (?) AND at < ?`,
			bun.List(slices.DeleteFunc(slices.Clone(domain.DeliveryStates), func(s string) bool { return s == "pending" })),
			database.At(s.now().Add(-keep)))
		return err
	})
}

func (s *store) write(ctx context.Context, do func(ctx context.Context, tx bun.Tx) error) error {
	if err := s.db.Transact(ctx, do); err != nil {
		return failed(ctx, "write deliveries", err)
	}
	return nil
}
