package database

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/uptrace/bun"
)

// MissingTriggers are the triggers around the log that somebody took away, or switched off.
func (db *DB) MissingTriggers(ctx context.Context) (missing []string, err error) {
	query := `SELECT name FROM sqlite_schema WHERE type = 'trigger'`
	if db.Engine == Postgres {
		query = `SELECT tgname FROM pg_trigger WHERE tgenabled IN ('O', 'A') AND NOT tgisinternal`
	}
	var there []string
	if err := db.NewRaw(query).Scan(ctx, &there); err != nil {
		return nil, Classify(ctx, fmt.Errorf("look at the triggers: %w", err))
	}
	for _, name := range triggers[db.Engine] {
		if !slices.Contains(there, name) {
			missing = append(missing, name)
		}
	}
	return missing, nil
}

// RestoreTriggers puts the triggers back that [DB.MissingTriggers] names, as the migrations have them, and tells
// which. The schema must be the newest, and the role must own the log.
func (db *DB) RestoreTriggers(ctx context.Context) (restored []string, err error) {
	restored, err = db.MissingTriggers(ctx)
	if err != nil || len(restored) == 0 {
		return nil, err
	}
	made, err := definedTriggers(db.Engine)
	if err != nil {
		return nil, err
	}
	err = db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		for _, name := range restored {
			drop := "DROP TRIGGER IF EXISTS " + name
			if db.Engine == Postgres { // which may have it, switched off
				drop += " ON " + made[name].table
			}
			for _, statement := range []string{drop, made[name].statement} {
				if _, err := tx.ExecContext(ctx, statement); err != nil {
					return fmt.Errorf("put %s back: %w", name, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return restored, nil
}

// protectionTrigger is how a trigger is made.
type protectionTrigger struct{ table, statement string }

var triggerDefinition = map[Engine]*regexp.Regexp{
	Postgres: regexp.MustCompile(`(?ms)^CREATE TRIGGER (\w+) [^;]*? ON (\w+)$.*?;$`),
	SQLite:   regexp.MustCompile(`(?ms)^CREATE TRIGGER (\w+) [^;]*? ON (\w+)$.*?END;$`),
}

// definedTriggers are the triggers as the newest migration that makes them does.
func definedTriggers(engine Engine) (map[string]protectionTrigger, error) {
	text, err := migrated(engine)
	if err != nil {
		return nil, err
	}
	made := map[string]protectionTrigger{}
	for _, found := range triggerDefinition[engine].FindAllStringSubmatch(text, -1) {
		made[found[1]] = protectionTrigger{table: found[2], statement: found[0]}
	}
	return made, nil
}
