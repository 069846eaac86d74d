package database

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/uptrace/bun"
)

// Protection is a mechanism that keeps the log from being changed.
type Protection struct {
	Name   string
	Stands bool
	Detail string
	Fix    string // what to do if it is not enabled
}

// appendOnly are the append-only tables, and the only other change that is allowed: an erasure destroys texts.
var appendOnly = []struct{ table, also string }{
	{"events", ""}, {"event_texts", "DELETE"}, {"tree", ""}, {"signed_checkpoints", ""},
}

// triggers are the triggers that refuse changes, by engine.
var triggers = map[Engine][]string{
	Postgres: {
		"event_texts_append_only", "event_texts_erased", "events_append_only", "signed_checkpoints_append_only",
		"tree_append_only",
	},
	SQLite: {
		"event_texts_append_only", "event_texts_erased", "events_append_only", "events_append_only_delete",
		"signed_checkpoints_append_only", "signed_checkpoints_append_only_delete", "tree_append_only",
		"tree_append_only_delete",
	},
}

// Protections tells which protections of the log are enabled in this database, for the role that opened it.
func Protections(ctx context.Context, db *DB) ([]Protection, error) {
	first, err := ownership(ctx, db)
	if err != nil {
		return nil, Classify(ctx, fmt.Errorf("look at who owns the log: %w", err))
	}
	missing, err := MissingTriggers(ctx, db)
	if err != nil {
		return nil, err
	}
	second := Protection{
		Name: "triggers", Stands: true,
		Detail: "events are appended and nothing else, and texts are destroyed only after an event says so",
	}
	if len(missing) > 0 {
		second.Stands, second.Detail = false, "somebody took away, or switched off, "+strings.Join(missing, ", ")
		second.Fix = "run annals verify; " + restoringCommand(first) + " puts them back"
	}
	foreign, err := ForeignCode(ctx, db)
	if err != nil {
		return nil, err
	}
	if len(foreign) > 0 {
		second.Stands = false
		second.Detail += "; the role that serves has code of its own, which would run with the rights of the owner: " +
			strings.Join(foreign, ", ")
		second.Fix = strings.TrimPrefix(second.Fix+"; look at what the role has made, and drop it", "; ")
	}
	if db.Engine == SQLite {
		return []Protection{first, second}, nil
	}
	third, err := separation(ctx, db)
	if err != nil {
		return nil, Classify(ctx, fmt.Errorf("look at what separates tenants: %w", err))
	}
	return []Protection{first, second, third}, nil
}

// RestoringCommand is the command that restores the triggers, which a role that only appends may not create.
func RestoringCommand(ctx context.Context, db *DB) (string, error) {
	first, err := ownership(ctx, db)
	return restoringCommand(first), Classify(ctx, err)
}

func restoringCommand(first Protection) string {
	if first.Name == "role" && first.Stands {
		return "annals migrate --role ROLE --database OWNER_URL"
	}
	return "annals migrate"
}

// separation is the protection of tenants from one another.
func separation(ctx context.Context, db *DB) (Protection, error) {
	var open []string
	err := db.NewRaw(`
		SELECT c.relname
		FROM pg_class AS c
		WHERE NOT row_security_active(c.oid) AND`+ofTenants+`
		ORDER BY c.relname`).Scan(ctx, &open)
	w := Protection{
		Name: "tenants", Stands: len(open) == 0,
		Detail: "of what people wrote, whoever asks is shown the rows of one tenant, " +
			"even by a statement that forgets to say which",
	}
	if !w.Stands {
		w.Detail = "nothing but the statements themselves keeps tenants apart in " + strings.Join(open, ", ")
		w.Fix = "let a role serve that owns nothing: annals migrate --role ROLE, as described in docs/install.md"
	}
	return w, err
}

// ownership is the protection by privileges.
func ownership(ctx context.Context, db *DB) (Protection, error) {
	if db.Engine == SQLite {
		return fileMode(ctx, db)
	}
	var user string
	var may []string
	err := db.QueryRowContext(ctx, `SELECT current_user`).Scan(&user)
	for _, a := range appendOnly {
		if err != nil {
			break
		}
		var owns, update, remove, truncate bool
		err = db.QueryRowContext(ctx, `
			SELECT
				pg_has_role(current_user, relowner, 'USAGE'),
				has_table_privilege(oid, 'UPDATE'), has_table_privilege(oid, 'DELETE'), has_table_privilege(oid, 'TRUNCATE')
			FROM pg_class
			WHERE oid = to_regclass(?)`, a.table).Scan(&owns, &update, &remove, &truncate)
		if owns || update || truncate || remove && a.also == "" {
			may = append(may, a.table)
		}
	}
	w := Protection{
		Name: "role", Stands: len(may) == 0, Detail: user + " may append to the log, and change or delete nothing of it",
	}
	if !w.Stands {
		w.Detail = user + " owns " + strings.Join(may, ", ") + ", or may change them"
		w.Fix = "let a role serve that owns nothing: annals migrate --role ROLE, as described in docs/install.md"
	}
	return w, err
}

func fileMode(ctx context.Context, db *DB) (Protection, error) {
	file, err := file(ctx, db)
	if err != nil {
		return Protection{}, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return Protection{}, err
	}
	w := Protection{
		Name: "file", Stands: info.Mode()&fs.FileMode(0o077) == 0,
		Detail: "only the user who serves can open the file; whoever is that user can change it",
	}
	if !w.Stands {
		w.Detail, w.Fix = "other users of this machine can open the file", "chmod 600 "+file
	}
	return w, nil
}

// MissingTriggers are the triggers of the log that were dropped or disabled.
func MissingTriggers(ctx context.Context, db *DB) (missing []string, err error) {
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

// RestoreTriggers restores the triggers that [MissingTriggers] names, and returns them. The schema must be the
// newest, and the role must own the log.
func RestoreTriggers(ctx context.Context, db *DB) (restored []string, err error) {
	restored, err = MissingTriggers(ctx, db)
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
			if db.Engine == Postgres { // it may exist, disabled
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

// protectionTrigger is the statement that creates a trigger, and its table.
type protectionTrigger struct{ table, statement string }

var triggerDefinition = map[Engine]*regexp.Regexp{
	Postgres: regexp.MustCompile(`(?ms)^CREATE TRIGGER (\w+) [^;]*? ON (\w+)$.*?;$`),
	SQLite:   regexp.MustCompile(`(?ms)^CREATE TRIGGER (\w+) [^;]*? ON (\w+)$.*?END;$`),
}

// definedTriggers are the triggers as the newest migrations create them.
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
