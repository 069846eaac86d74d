package database

import (
	"context"
	"time"

	"github.com/lib/pq"
)

// signals is the channel on which the processes that share a PostgreSQL database signal each other.
const signals = "annals"

// Signal sends a message of less than 8,000 bytes to all processes that share the database. It may be lost, so nothing
// may depend on it. There are no signals on SQLite, which has one process, and on a standby.
func (db *DB) Signal(ctx context.Context, message string) {
	if db.Engine == Postgres && !db.standby {
		_, _ = db.writers.ExecContext(ctx, "SELECT pg_notify(?, ?)", signals, message)
	}
}

// Signals passes on the messages of [DB.Signal] until ctx ends. It has a connection of its own, which it opens again
// when it is lost. Through a pooler that shares sessions there is none: the pooler would keep the session that listens.
func (db *DB) Signals(ctx context.Context, each func(message string)) {
	if db.Engine != Postgres || db.standby || db.sharesSessions {
		return
	}
	const soonest, latest, alive = time.Second, time.Minute, time.Minute
	listener := pq.NewDialListener(db.connector.dialer, db.connector.dsn, soonest, latest, nil)
	listening := make(chan struct{})
	go func() { // until there is a connection, or the listener is closed
		defer close(listening)
		_ = listener.Listen(signals)
	}()
	defer func() {
		_ = listener.Close()
		<-listening
	}()
	tick := time.NewTicker(alive)
	defer tick.Stop()
	for {
		select {
		case n := <-listener.Notify:
			if n != nil { // nil after the connection was lost
				each(n.Extra)
			}
		case <-tick.C:
			_ = listener.Ping() // or it would not notice that the server has vanished
		case <-ctx.Done():
			return
		}
	}
}
