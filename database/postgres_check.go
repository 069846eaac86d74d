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
)

// checkPostgres refuses a server that could not serve, with one sentence and its fix, and warns of
// settings that break the promise that an answered write is kept.
func (db *DB) checkPostgres(ctx context.Context, config pq.Config, log *slog.Logger) error {
	var server struct {
		version                          int
		encoding, fsync, fullPages       string
		availableVector, installedVector sql.NullString
	}
	err := db.DB.QueryRowContext(ctx, `
		SELECT current_setting('server_version_num'),
		       current_setting('server_encoding'),
		       current_setting('fsync'),
		       current_setting('full_page_writes'),
		       (SELECT default_version FROM pg_available_extensions WHERE name = 'vector'),
		       (SELECT extversion FROM pg_extension WHERE extname = 'vector')`).
		Scan(&server.version, &server.encoding, &server.fsync, &server.fullPages,
			&server.availableVector, &server.installedVector)
	if err = Classify(ctx, err); errors.Is(err, ErrUnavailable) {
		return fmt.Errorf("PostgreSQL at %s: %w", where(config), err)
	} else if err != nil {
		return fmt.Errorf("PostgreSQL at %s refuses: %w", where(config), err)
	}

	const oldest, vector = 140000, "0.8"
	available, installed := server.availableVector.String, server.installedVector.String
	switch {
	case server.version < oldest:
		return fmt.Errorf("PostgreSQL at %s is version %d: use 14 or newer", where(config), server.version/10000)
	case server.encoding != "UTF8":
		return fmt.Errorf("database %s is encoded in %s: make it with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
			config.Database, server.encoding)
	case installed != "" && !atLeast(installed, vector):
		return fmt.Errorf("database %s has pgvector %s: install %s or newer and run ALTER EXTENSION vector UPDATE",
			config.Database, installed, vector)
	case installed == "" && available == "":
		return fmt.Errorf("PostgreSQL at %s has no pgvector: install it (Debian: postgresql-%d-pgvector) or use the image pgvector/pgvector:pg17",
			where(config), server.version/10000)
	case installed == "" && !atLeast(available, vector):
		return fmt.Errorf("PostgreSQL at %s has pgvector %s: install %s or newer, or use the image pgvector/pgvector:pg17",
			where(config), available, vector)
	}
	if server.fsync != "on" || server.fullPages != "on" {
		log.WarnContext(ctx, "the server may lose answered writes in a crash: set fsync and full_page_writes to on",
			"fsync", server.fsync, "full_page_writes", server.fullPages)
	}
	return nil
}

// atLeast compares dotted versions by number, as 0.10 is newer than 0.8.
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
