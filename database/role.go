package database

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lib/pq"
	"github.com/uptrace/bun"
)

// GrantTo lets a role serve without owning the log. The role may append to the log, but not change, delete or
// truncate it. It owns the tables of projections, which it creates, drops and indexes. Of tables with texts, it sees
// one tenant at a time: see [ForTenant]. GrantTo runs as the owner after every migration, and revokes any other
// privilege of the role.
func GrantTo(ctx context.Context, db *DB, role string) error {
	if db.Engine != Postgres {
		return fmt.Errorf("a role is for PostgreSQL: %s has none", db.Engine)
	}
	err := db.Transact(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := fitToServe(ctx, tx, role); err != nil {
			return err
		}
		statements, err := grants(ctx, tx, pq.QuoteIdentifier(role))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, strings.Join(statements, ";\n"))
		return err
	})
	if err != nil {
		return fmt.Errorf("let %s serve: %w", role, err)
	}
	return nil
}

// fitToServe refuses a role that the protections would not restrict.
func fitToServe(ctx context.Context, tx bun.Tx, role string) error {
	var exists, strong, member, ours bool
	err := tx.QueryRowContext(ctx, `
		SELECT
			count(*) > 0,
			coalesce(bool_or(rolsuper), false),
			coalesce(bool_or(pg_has_role(oid,
				(SELECT relowner FROM pg_class WHERE oid = to_regclass('events')), 'MEMBER')), false),
			coalesce(bool_or(pg_has_role(current_user, oid, 'MEMBER')), false)
		FROM pg_roles
		WHERE rolname = ?`, role).Scan(&exists, &strong, &member, &ours)
	switch {
	case err != nil:
		return err
	case !exists:
		return fmt.Errorf("there is no such role: make it with CREATE ROLE %s LOGIN PASSWORD '…'", pq.QuoteIdentifier(role))
	case strong:
		return fmt.Errorf("it is a superuser, whom nothing can be refused: name another role")
	case member:
		return fmt.Errorf("it owns the log, or is a member of the role that does: name another role")
	case !ours:
		return fmt.Errorf(
			"this role cannot hand projections over to it: let a superuser run GRANT %s TO this role", pq.QuoteIdentifier(role),
		)
	}
	return nil
}

// grants are the statements that grant exactly what serving needs.
func grants(ctx context.Context, tx bun.Tx, role string) ([]string, error) {
	var schema string
	if err := tx.QueryRowContext(ctx, `SELECT quote_ident(current_schema())`).Scan(&schema); err != nil {
		return nil, err
	}
	statements := []string{fmt.Sprintf("GRANT USAGE, CREATE ON SCHEMA %s TO %s", schema, role)}
	tables, err := migratedTables()
	if err != nil {
		return nil, err
	}
	for _, table := range append(tables, "schema_migrations") {
		rights := "SELECT, INSERT, UPDATE, DELETE"
		if i := slices.IndexFunc(appendOnly, func(a struct{ table, also string }) bool { return a.table == table }); i >= 0 {
			rights = strings.Trim("SELECT, INSERT, "+appendOnly[i].also, ", ")
		} else if table == "schema_migrations" {
			rights = "SELECT"
		}
		statements = append(statements, fmt.Sprintf("REVOKE ALL ON %s.%s FROM %s", schema, table, role),
			fmt.Sprintf("GRANT %s ON %s.%s TO %s", rights, schema, table, role))
	}
	var projected []struct{ Name, Kind string }
	err = tx.NewRaw(`
		SELECT c.oid::regclass::text AS name, CASE c.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END AS kind
		FROM pg_class AS c
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v')
		  AND (
			EXISTS (
				SELECT FROM projections AS p
				WHERE c.relname = p.name OR c.relname = p.name || '_' || p.version
					OR c.relname LIKE p.name || '\_' || p.version || '\_%'
			)
			OR c.relname ~ '^(meaning|vectors)_[0-9]+$'
		  )
		ORDER BY c.relname`).Scan(ctx, &projected)
	for _, p := range projected {
		statements = append(statements, fmt.Sprintf("ALTER %s %s OWNER TO %s", p.Kind, p.Name, role))
	}
	if err != nil {
		return nil, err
	}
	return append(statements, fmt.Sprintf(`
		SELECT confine_to_tenant(c.oid)
		FROM pg_class AS c
		WHERE %s`, ofTenants)), nil
}

var tableMade = regexp.MustCompile(`(?m)^CREATE TABLE (?:IF NOT EXISTS )?(\w+)`)

// migratedTables are the tables of the migrations.
func migratedTables() ([]string, error) {
	text, err := migrated(Postgres)
	var tables []string
	for _, made := range tableMade.FindAllStringSubmatch(text, -1) {
		tables = append(tables, made[1])
	}
	for _, dropped := range tableGone.FindAllStringSubmatch(text, -1) {
		tables = slices.DeleteFunc(tables, func(table string) bool { return table == dropped[1] })
	}
	return tables, err
}
