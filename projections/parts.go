package projections

import (
	"context"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections/browse"
	"github.com/annals-kb/annals/projections/erasure"
	"github.com/annals-kb/annals/projections/past"
	"github.com/annals-kb/annals/projections/rebuild"
	"github.com/annals-kb/annals/projections/sessions"
	"github.com/annals-kb/annals/projections/vectors"
)

// The parts by which the program that wires them knows them.
type (
	Checked     = rebuild.Checked
	Directories = browse.Directories
	Eraser      = erasure.Eraser
	Keys        = sessions.Keys
	Meaning     = vectors.Projection
	Past        = past.Projection
	Rebuilder   = rebuild.Rebuilder
	Rebuilds    = rebuild.Rebuilds
	Reports     = browse.Reports
	Sessions    = sessions.Sessions
)

// NewKeys makes the keys of a log.
func NewKeys(db *database.DB, log *events.Log) *Keys { return sessions.NewKeys(db, log) }

// NewDirectories keeps the summaries of directories in a migrated database.
func NewDirectories(db *database.DB) Directories { return browse.NewDirectories(db) }

// SweepFiles rewrites the files of a database, see [erasure.SweepFiles].
func SweepFiles(ctx context.Context, db *database.DB, now func() time.Time) (domain.Purge, error) {
	return erasure.SweepFiles(ctx, db, now)
}
