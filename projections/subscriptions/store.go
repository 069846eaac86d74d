package subscriptions

import (
	"context"
	"database/sql"
	"errors"
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

// receiver is a webhook of a tenant.
type receiver struct {
	tenant, id string
	maker      string // who made it, for themselves or another
	failures   int    // since the newest success
}

// receivers are webhooks with pending deliveries that may be posted to now, those that wait longest first.
func (s *store) receivers(ctx context.Context) (due []receiver, err error) {
	err = database.ForEach(ctx, s.db, func(rows *sql.Rows) error {
		var r receiver
		err := rows.Scan(&r.tenant, &r.id, &r.failures, &r.maker)
		due = append(due, r)
		return err
	}, `
		SELECT tenant, subscription, failures, coalesce((
			SELECT coalesce(s.state ->> 'by', s.state ->> 'subscriber')
			FROM streams AS s
			WHERE s.tenant = w.tenant AND s.stream = ? || w.subscription
		), '')
		FROM webhook_secrets AS w
		WHERE next_at <= ? AND EXISTS (
			SELECT 1
			FROM deliveries AS d
			WHERE d.tenant = w.tenant AND d.subscription = w.subscription AND d.state = 'pending'
		)
		ORDER BY next_at, tenant, subscription
		LIMIT 1000`, domain.SubscriptionStreams.Of(""), database.At(s.now()))
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
	switch q.State {
	case "":
	case "pending": // written out, so that the index of pending deliveries serves
		where += " AND state = 'pending'"
	default:
		where, args = where+" AND state = ?", append(args, q.State)
	}
	if q.Before > 0 {
		where, args = where+" AND position < ?", append(args, q.Before)
	}
	if q.OldestFirst {
		order = "position"
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
		FROM deliveries LEFT JOIN webhook_secrets USING (tenant, subscription)
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
	err = s.write(ctx, func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.ExecContext(ctx, `
			UPDATE deliveries
			SET state = 'pending', attempts = 0, at = ?
			WHERE tenant = ? AND subscription = ? AND `+where, append([]any{database.At(s.now()), tenant, id}, args...)...)
		if err != nil {
			return err
		}
		replayed, err = result.RowsAffected()
		return errors.Join(err, s.wait(ctx, tx, receiver{tenant: tenant, id: id}, s.now()))
	})
	s.Wake()
	return replayed, err
}

// Resume lets the pending deliveries of a subscription be posted now.
func (s *store) Resume(ctx context.Context, tenant, id string) error {
	err := s.delay(ctx, receiver{tenant: tenant, id: id}, s.now())
	s.Wake()
	return err
}

// Secret makes a secret for a webhook. Those before it sign, too, for the overlap.
func (s *store) Secret(
	ctx context.Context, tenant, id string, overlap time.Duration,
) (secret string, err error) {
	secret = newSecret()
	return secret, s.write(ctx, func(ctx context.Context, tx bun.Tx) error {
		for _, statement := range []string{
			// The row is locked, so that two rotations follow each other.
			`INSERT INTO webhook_secrets AS s (tenant, subscription, secret)
			VALUES (?0, ?1, ?2)
			ON CONFLICT (tenant, subscription) DO UPDATE
			SET secret = s.secret`,
			`INSERT INTO former_secrets (tenant, subscription, secret, until)
			SELECT tenant, subscription, secret, ?3
			FROM webhook_secrets
			WHERE tenant = ?0 AND subscription = ?1 AND secret <> ?2`,
			`UPDATE webhook_secrets
			SET secret = ?2
			WHERE tenant = ?0 AND subscription = ?1`,
		} {
			if _, err := tx.ExecContext(ctx, statement, tenant, id, secret, database.At(s.now().Add(overlap))); err != nil {
				return err
			}
		}
		return nil
	})
}

// Forget drops the secrets and the pending deliveries of a subscription.
func (s *store) Forget(ctx context.Context, tenant, id string) error {
	return s.write(ctx, func(ctx context.Context, tx bun.Tx) error { return end(ctx, tx, tenant, id) })
}

// secrets are the secrets that sign now, the current one first.
func (s *store) secrets(ctx context.Context, tenant, id string) (secrets []string, err error) {
	err = database.ForEach(ctx, s.db, func(rows *sql.Rows) error {
		var secret string
		var former bool
		err := rows.Scan(&secret, &former)
		secrets = append(secrets, secret)
		return err
	}, `
		SELECT secret, FALSE AS former
		FROM webhook_secrets
		WHERE tenant = ?0 AND subscription = ?1
		UNION ALL
		SELECT secret, TRUE
		FROM former_secrets
		WHERE tenant = ?0 AND subscription = ?1 AND until > ?2
		ORDER BY former, secret`, tenant, id, database.At(s.now()))
	if err != nil {
		return nil, failed(ctx, "read a webhook's secrets", err)
	}
	return secrets, nil
}

// save writes the state of a delivery, if it is pending.
func (s *store) save(ctx context.Context, d domain.Delivery) error {
	return s.write(ctx, func(ctx context.Context, tx bun.Tx) error { return saveIn(ctx, tx, d) })
}

func saveIn(ctx context.Context, tx bun.IDB, d domain.Delivery) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE deliveries
		SET state = ?, attempts = ?, status = ?, error = ?
		WHERE tenant = ? AND subscription = ? AND position = ? AND state = 'pending'`,
		d.State, d.Attempts, d.Status, d.Error, d.Tenant, d.Subscription, d.Position)
	return err
}

// fail saves a delivery that failed, and lets the receiver wait until a time. What became pending before the time to
// give up is dead.
func (s *store) fail(ctx context.Context, r receiver, d domain.Delivery, until, giveUp time.Time) error {
	return s.write(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := errors.Join(saveIn(ctx, tx, d), s.wait(ctx, tx, r, until)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `
			UPDATE deliveries
			SET state = 'dead'
			WHERE tenant = ? AND subscription = ? AND state = 'pending' AND at <= ?`,
			r.tenant, r.id, database.At(giveUp))
		return err
	})
}

// wait lets a receiver wait until a time, after so many failures.
func (s *store) wait(ctx context.Context, tx bun.IDB, r receiver, until time.Time) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE webhook_secrets
		SET failures = ?, next_at = ?
		WHERE tenant = ? AND subscription = ?`, r.failures, database.At(until), r.tenant, r.id)
	return err
}

// delay is wait in a transaction of its own.
func (s *store) delay(ctx context.Context, r receiver, until time.Time) error {
	return s.write(ctx, func(ctx context.Context, tx bun.Tx) error { return s.wait(ctx, tx, r, until) })
}

// sweep deletes finished deliveries of long ago, and secrets that have ended.
func (s *store) sweep(ctx context.Context, keep time.Duration) error {
	const batch = 1000
	for deleted := int64(batch); deleted == batch; {
		err := s.write(ctx, func(ctx context.Context, tx bun.Tx) error {
			result, err := tx.ExecContext(ctx, `
				DELETE FROM deliveries
				WHERE (tenant, subscription, position) IN (
					SELECT tenant, subscription, position
					FROM deliveries
					WHERE state <> 'pending' AND at < ?
					ORDER BY at, tenant, subscription, position
					LIMIT ?
				)`, database.At(s.now().Add(-keep)), batch)
			if err == nil {
				deleted, err = result.RowsAffected()
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return s.write(ctx, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM former_secrets WHERE until <= ?", database.At(s.now()))
		return err
	})
}

func (s *store) write(ctx context.Context, do func(ctx context.Context, tx bun.Tx) error) error {
	if err := s.db.Transact(ctx, do); err != nil {
		return failed(ctx, "write deliveries", err)
	}
	return nil
}
