package events

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// archivesCondition is the condition of the index of archives. Queries contain it literally, so that both engines
// recognise the index.
const archivesCondition = `e.name IN ('session.committed', 'session.extracted', 'session.extraction_failed')`

// SessionReader reads sessions from the log: messages, commits and extraction results.
type SessionReader struct{ log *Reader }

// Messages are the newest messages of a session before a version of its stream, up to limit, the oldest first. If
// before is 0, they are the newest of all. The cost depends only on their number.
func (r SessionReader) Messages(
	ctx context.Context, tenant, stream string, before int64, limit int,
) ([]domain.Event, error) {
	if limit <= 0 {
		return nil, nil
	}
	bound := ""
	args := []any{tenant, stream, domain.MessageAdded{}.Name()}
	if before > 0 {
		bound = " AND e.version < ?"
		args = append(args, before)
	}
	messages, err := queryEvents(ctx, r.log.db, `
		WHERE e.tenant = ? AND e.stream = ? AND e.name = ?`+bound+`
		ORDER BY e.version DESC
		LIMIT ?`, append(args, limit)...)
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", Unavailable(err))
	}
	slices.Reverse(messages)
	return messages, nil
}

// ContextsThatHelped are the contexts reported as helpful in a session since the previous commit, each URI once.
func (r SessionReader) ContextsThatHelped(
	ctx context.Context, commit domain.Event, fact domain.SessionCommitted,
) ([]domain.Help, error) {
	before, _, err := r.Commit(ctx, commit.Tenant, commit.Stream, fact.Archive-1)
	if err != nil {
		return nil, err
	}
	used, err := queryEvents(ctx, r.log.db, `
		WHERE e.tenant = ? AND e.stream = ? AND e.name = ? AND e.version > ? AND e.version < ?
		ORDER BY e.version
		LIMIT ?`, commit.Tenant, commit.Stream, domain.ContextUsed{}.Name(), before.Version, commit.Version, PageSize)
	if err != nil {
		return nil, fmt.Errorf("read what was used: %w", Unavailable(err))
	}
	var helped []domain.Help
	known := map[string]bool{}
	for _, event := range used {
		fact, _ := event.Fact.(domain.ContextUsed)
		for _, uri := range fact.Helped() {
			if !known[uri] {
				known[uri] = true
				helped = append(helped, domain.Help{URI: uri, EventID: event.EventID})
			}
		}
	}
	return helped, nil
}

// ExtractionResult is the newest event with the result of a commit's archive, or its failure; false if it is pending.
func (r SessionReader) ExtractionResult(ctx context.Context, commit domain.Event) (domain.Event, bool, error) {
	return one(queryEvents(ctx, r.log.db, `
		WHERE e.tenant = ? AND e.stream = ? AND `+archivesCondition+` AND e.version > ? AND e.causation_id = ?
		ORDER BY e.version DESC
		LIMIT 1`, commit.Tenant, commit.Stream, commit.Version, commit.EventID))
}

// ExtractionResultsOf are the results of several commits of a tenant, by the commits' positions. It takes two
// queries.
func (r SessionReader) ExtractionResultsOf(
	ctx context.Context, tenant string, commits []int64,
) (map[int64]domain.Event, error) {
	settled := map[int64]domain.Event{}
	if len(commits) == 0 {
		return settled, nil
	}
	of := map[int64]int64{} // by the position of the settlement
	err := database.ForEach(ctx, r.log.db, func(rows *sql.Rows) error {
		var commit, settlement int64
		err := rows.Scan(&commit, &settlement)
		of[settlement] = commit
		return err
	}, `
		SELECT c.position, coalesce((
			SELECT e.position
			FROM events AS e
			WHERE e.tenant = c.tenant AND e.stream = c.stream AND `+archivesCondition+` AND e.version > c.version AND e.causation_id = CAST(c.event_id AS text)
			ORDER BY e.version DESC
			LIMIT 1
		), 0)
		FROM events AS c
		WHERE c.tenant = ? AND c.position IN (?)`, tenant, bun.List(commits))
	if err != nil {
		return nil, fmt.Errorf("find extraction results: %w", Unavailable(err))
	}
	delete(of, 0)
	if len(of) == 0 {
		return settled, nil
	}
	found, err := queryEvents(ctx, r.log.db, `
		WHERE e.tenant = ? AND e.position IN (?)`, tenant, bun.List(slices.Collect(maps.Keys(of))))
	if err != nil {
		return nil, fmt.Errorf("read extraction results: %w", Unavailable(err))
	}
	for _, event := range found {
		settled[of[event.Position]] = event
	}
	return settled, nil
}

// FailedExtraction names a session with an extraction that failed.
type FailedExtraction struct{ Tenant, Stream string }

// FailedExtractions are the sessions of all tenants with an extraction that failed since a time.
func (r SessionReader) FailedExtractions(ctx context.Context, since time.Time) (found []FailedExtraction, err error) {
	err = r.log.db.NewRaw(`
		SELECT DISTINCT tenant, stream
		FROM events
		WHERE name = 'session.extraction_failed' AND recorded_at >= ?
		ORDER BY tenant, stream`, database.At(since)).Scan(database.ForEveryTenant(ctx), &found)
	if err != nil {
		return nil, fmt.Errorf("read failures: %w", Unavailable(database.Classify(ctx, err)))
	}
	return found, nil
}

// ExtractionResults are the results of a session's archives, the newest first.
func (r SessionReader) ExtractionResults(
	ctx context.Context, tenant, stream string, limit int,
) ([]domain.Event, error) {
	found, err := queryEvents(ctx, r.log.db, `
		WHERE e.tenant = ? AND e.stream = ? AND `+archivesCondition+` AND e.name <> 'session.committed'
		ORDER BY e.version DESC
		LIMIT ?`, tenant, stream, limit)
	if err != nil {
		return nil, fmt.Errorf("read archives: %w", Unavailable(err))
	}
	return found, nil
}

// Commit is the event of a session's archive with this number; false if there is none.
func (r SessionReader) Commit(ctx context.Context, tenant, stream string, archive int) (domain.Event, bool, error) {
	if archive < 1 {
		return domain.Event{}, false, nil
	}
	return one(queryEvents(ctx, r.log.db, `
		WHERE e.tenant = ? AND e.stream = ? AND `+archivesCondition+` AND e.name = 'session.committed'
		ORDER BY e.version
		LIMIT 1 OFFSET ?`, tenant, stream, archive-1))
}

// one is the only event of a result, if there is one.
func one(found []domain.Event, err error) (domain.Event, bool, error) {
	if err != nil {
		return domain.Event{}, false, fmt.Errorf("read archive: %w", Unavailable(err))
	}
	if len(found) == 0 {
		return domain.Event{}, false, nil
	}
	return found[0], true, nil
}

// Commits are the commits before a position, the newest first; before 0 means all. If stream is not empty, they are
// those of one session.
func (r SessionReader) Commits(
	ctx context.Context, tenant, stream string, before int64, limit int,
) ([]domain.Event, error) {
	where, args := `e.tenant = ? AND e.name = 'session.committed'`, []any{tenant}
	if stream != "" {
		where, args = where+" AND e.stream = ? AND "+archivesCondition, append(args, stream)
	}
	if before > 0 {
		where, args = where+" AND e.position < ?", append(args, before)
	}
	found, err := queryEvents(ctx, r.log.db, `
		WHERE `+where+`
		ORDER BY e.position DESC
		LIMIT ?`, append(args, limit)...)
	if err != nil {
		return nil, fmt.Errorf("read commits: %w", Unavailable(err))
	}
	return found, nil
}

// Event finds an event of a tenant by its id; false if there is none.
func (r SessionReader) Event(ctx context.Context, tenant, id string) (domain.Event, bool, error) {
	if uuid.Validate(id) != nil {
		return domain.Event{}, false, nil
	}
	found, err := queryEvents(ctx, r.log.db, `
		WHERE e.tenant = ? AND e.event_id = ?`, tenant, id)
	if err != nil {
		return domain.Event{}, false, fmt.Errorf("find event: %w", Unavailable(err))
	}
	if len(found) == 0 {
		return domain.Event{}, false, nil
	}
	return found[0], true, nil
}
