package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// identity tells PostgreSQL servers apart. Copies of a cluster have the same system identifier, and the promotion of a
// copy begins a higher timeline.
type identity struct {
	system, timeline int64 // 0 if the server does not tell
	recovering       bool  // a standby, whose timeline may still be an earlier one
}

// identityQuery is right at once after a promotion, when the checkpoint still has the earlier timeline.
const identityQuery = `
SELECT
	system_identifier,
	CASE WHEN pg_is_in_recovery()
		THEN (SELECT timeline_id FROM pg_control_checkpoint())
		ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint
	END,
	pg_is_in_recovery()
FROM pg_control_system()`

// introduce sets up a session, and returns who its server is, in one round trip.
func introduce(ctx context.Context, conn pqConn, settings string) (found identity, err error) {
	rows, err := conn.QueryContext(ctx, settings+";"+identityQuery, nil)
	if refusal, refused := errors.AsType[*pq.Error](err); refused && cannotTell(refusal) {
		_, err = conn.ExecContext(ctx, settings, nil)
		return found, err
	} else if err != nil {
		return found, err
	}
	values := make([]driver.Value, len(rows.Columns()))
	if err = rows.Next(values); err == nil {
		found.system, _ = values[0].(int64)
		found.timeline, _ = values[1].(int64)
		found.recovering, _ = values[2].(bool)
		if err = rows.Next(values); errors.Is(err, io.EOF) {
			err = nil
		}
	}
	return found, errors.Join(err, rows.Close())
}

// cannotTell says that the server, or its operator, lets this role not ask who it is.
func cannotTell(refusal *pq.Error) bool {
	return refusal.Code == pqerror.InsufficientPrivilege || refusal.Code == pqerror.UndefinedFunction ||
		refusal.Code.Class() == pqerror.ClassFeatureNotSupported
}

// avoidance is how long a refused server of several is not tried again.
const avoidance = 10 * time.Second

// fence keeps a process to one database: it refuses servers of another cluster, and servers with an earlier timeline
// than it has seen, such as a former primary that was started again.
type fence struct {
	servers int // of the URL
	mu      sync.Mutex
	seen    identity
	refused map[string]refusedServer // by address
}

// fences are those of this process, by URL: a database that is opened again, in another role, is still the same.
var fences sync.Map

type refusedServer struct {
	because error
	until   time.Time
}

// fencedError says why a server was refused.
type fencedError struct{ because string }

func (e fencedError) Unwrap() error { return ErrUnavailable }

func (e fencedError) Error() string { return e.because }

// admit refuses a server, or remembers who it is. The error matches [ErrUnavailable].
func (f *fence) admit(found identity, address string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var because fencedError
	switch {
	case found.system == 0:
		return nil
	case f.seen.system != 0 && found.system != f.seen.system:
		because.because = fmt.Sprintf("PostgreSQL at %s belongs to cluster %d, and this process uses cluster %d: "+
			"name the right server, or restart this process if the database moved for good",
			address, found.system, f.seen.system)
	case found.before(f.seen):
		because.because = fmt.Sprintf("PostgreSQL at %s is a former primary, with timeline %d, and this process has used "+
			"timeline %d: stop it, and make it a standby of the new primary", address, found.timeline, f.seen.timeline)
	default:
		f.seen.system, f.seen.timeline = found.system, max(f.seen.timeline, found.timeline)
		return nil
	}
	if f.refused == nil {
		f.refused = map[string]refusedServer{}
	}
	f.refused[address] = refusedServer{because, time.Now().Add(avoidance)}
	return because
}

// system is the cluster of the database; 0 if no server said who it is.
func (f *fence) system() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen.system
}

// before tells whether a server that takes writes has an earlier timeline.
func (i identity) before(seen identity) bool { return !i.recovering && i.timeline < seen.timeline }

// isOutdated tells whether a later timeline was seen since a session began.
func (f *fence) isOutdated(session identity) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return session.system != 0 && session.before(f.seen)
}

// avoid is why the server at an address was refused a moment ago; nil if it was not, or if the URL has no other.
func (f *fence) avoid(address string) error {
	if f.servers == 1 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if refused := f.refused[address]; time.Now().Before(refused.until) {
		return refused.because
	}
	return nil
}
