package database

import (
	"context"
	"regexp"
)

// Whose rows are seen: on PostgreSQL a role that owns nothing of the log sees, of the tables that hold what
// people wrote, the rows of one tenant alone, whatever its statements ask for. Which one is said by the
// context that a statement is sent with. It goes to the server in the message of the statement itself, or of
// BEGIN, and holds as long as that: no round trip is made for it, no session remembers it, and nothing is
// seen when the context names no tenant.
//
// A transaction sees what its first context says. SQLite has no such wall.

// tenancy marks a context with the tenant whose rows are seen.
type tenancy struct{}

// every is what the setting says for the rows of every tenant. No tenant is called so.
const every = "*"

// ForTenant lets a context see one tenant's rows; with an empty name, none.
func ForTenant(ctx context.Context, tenant string) context.Context {
	return context.WithValue(ctx, tenancy{}, tenant)
}

// ForEveryTenant lets a context see the rows of all of them: for what the server does by itself, and for the
// few questions that are not about one tenant.
func ForEveryTenant(ctx context.Context) context.Context { return ForTenant(ctx, every) }

// confinement is the statement that says whose rows are seen; empty if the context names no tenant.
func confinement(ctx context.Context) string {
	tenant, said := ctx.Value(tenancy{}).(string)
	if !said {
		return ""
	}
	return string(append(AppendString([]byte("SET LOCAL annals.tenant = "), tenant), ";\n"...))
}

// alone are statements that must not be in a transaction, so that nothing can be sent with them. They read
// no rows of tenants.
var alone = regexp.MustCompile(`^\s*(?:VACUUM|CHECKPOINT|(?:CREATE|DROP) INDEX CONCURRENTLY)\b`)

// ofTenants are the tables c whose rows only their own tenant sees: all that have rows of tenants, but for
// those that a search looks through, where the planner needs its freedom, and those that keep count of the
// log or prove it, and hold nothing that anybody wrote.
const ofTenants = `
	c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
	AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'tenant' AND NOT a.attisdropped)
	AND c.relname NOT IN ('checkpoints', 'quarantine', 'rebuild_slices', 'tree', 'signed_checkpoints')
	AND c.relname !~ '^(meaning|vectors)_[0-9]+$|^(knowledge|past)_[0-9]+_(scopes|terms|words|pieces)$'`
