package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// The oldest versions with the required features: of pgvector, iterative index scans.
const (
	oldestPostgres = 14
	oldestVector   = "0.8"
)

// server are the properties that decide whether a PostgreSQL server is suitable.
type server struct {
	address, database                string
	version                          int // 150020 is 15.20
	encoding, fsync, fullPages       string
	availableVector, installedVector string // empty without
}

// checkPostgres refuses an unsuitable server, with one sentence and its fix. It warns of settings that may lose
// acknowledged writes. guarded tells whether row-level security restricts this role to the tenant that it names.
func checkPostgres(ctx context.Context, db *DB, config pq.Config, log *slog.Logger) (guarded bool, err error) {
	s := server{address: where(config), database: config.Database}
	var available, installed sql.NullString
	err = db.DB.QueryRowContext(ctx, `
		SELECT current_setting('server_version_num'),
		       current_setting('server_encoding'),
		       current_setting('fsync'),
		       current_setting('full_page_writes'),
		       (SELECT default_version FROM pg_available_extensions WHERE name = 'vector'),
		       (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
		       coalesce(row_security_active(to_regclass('events')), false),
		       pg_is_in_recovery()`).
		Scan(&s.version, &s.encoding, &s.fsync, &s.fullPages, &available, &installed, &guarded, &db.standby)
	if errors.Is(err, pq.ErrSSLNotSupported) {
		return false, fmt.Errorf(
			"PostgreSQL at %s has TLS switched off: switch it on there, "+
				"or add ?sslmode=disable to the URL if nobody can listen in",
			s.address,
		)
	} else if err != nil {
		return false, s.unreached(Classify(ctx, err))
	}
	s.availableVector, s.installedVector = available.String, installed.String

	if s.fsync != "on" || s.fullPages != "on" {
		log.WarnContext(ctx, "the server may lose answered writes in a crash: set fsync and full_page_writes to on",
			"fsync", s.fsync, "full_page_writes", s.fullPages)
	}
	if err := s.unfit(); err != nil {
		return false, err
	}
	return guarded, checkLocks(ctx, db, s)
}

// unreached says why the database did not answer, with the fix.
func (s server) unreached(err error) error {
	refusal, refused := errors.AsType[*pq.Error](err)
	switch {
	case refused && (refusal.Code == pqerror.InvalidPassword || refusal.Code == pqerror.InvalidAuthorizationSpecification):
		return misnamed{
			fmt.Errorf(
				"PostgreSQL at %s refuses the user or the password of the database URL, see that both are right: %w", s.address,
				refusal,
			),
		}
	case refused && refusal.Code == pqerror.InvalidCatalogName:
		return misnamed{
			fmt.Errorf("PostgreSQL at %s has no database %s, make it with CREATE DATABASE: %w", s.address, s.database, refusal),
		}
	case refused && (refusal.Code == pqerror.UndefinedObject ||
		strings.HasPrefix(refusal.Message, "unsupported startup parameter")): // as PgBouncer says
		return misnamed{
			fmt.Errorf(
				"PostgreSQL at %s does not know what the database URL sets after its ?, take it out: %w", s.address, refusal,
			),
		}
	case !refused && errors.Is(err, ErrUnavailable):
		return fmt.Errorf(
			"PostgreSQL at %s cannot be reached, see that it runs there "+
				"and that host and port of the database URL are right: %w",
			s.address, err,
		)
	}
	return fmt.Errorf("PostgreSQL at %s: %w", s.address, err)
}

// unfit says why the server is unsuitable, with the fix; nil if it is suitable.
func (s server) unfit() error {
	major := s.version / 10000
	switch {
	case major < oldestPostgres:
		return fmt.Errorf("PostgreSQL at %s is version %d: use %d or newer", s.address, major, oldestPostgres)
	case s.encoding != "UTF8":
		return fmt.Errorf("database %s is encoded in %s: make it with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
			s.database, s.encoding)
	case s.installedVector != "" && !atLeast(s.installedVector, oldestVector):
		return fmt.Errorf("database %s has pgvector %s: install %s or newer and run ALTER EXTENSION vector UPDATE",
			s.database, s.installedVector, oldestVector)
	case s.installedVector != "":
		return nil
	case s.availableVector == "":
		return fmt.Errorf("PostgreSQL at %s has no pgvector: install it (Debian and Ubuntu: postgresql-%d-pgvector), "+
			"or use the image pgvector/pgvector:pg17", s.address, major)
	case !atLeast(s.availableVector, oldestVector):
		return fmt.Errorf("PostgreSQL at %s has pgvector %s: install %s or newer, or use the image pgvector/pgvector:pg17",
			s.address, s.availableVector, oldestVector)
	}
	return nil
}

// atLeast compares dotted versions numerically: 0.10 is newer than 0.8.
func atLeast(version, wanted string) bool {
	have := strings.Split(version, ".")
	for i, want := range strings.Split(wanted, ".") {
		w, _ := strconv.Atoi(want)
		var h int
		if i < len(have) {
			h, _ = strconv.Atoi(have[i])
		}
		if h != w {
			return h > w
		}
	}
	return true
}
