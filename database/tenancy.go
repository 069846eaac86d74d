package database

import (
	"context"
	"regexp"
)

// Row-level security: on PostgreSQL, a role that owns nothing of the log sees only the rows of one tenant in the
// tables with texts. The context of a statement names the tenant. The name is sent in the message of the statement,
// or of BEGIN, and applies only to that. It costs no round trip, and no session remembers it. Without a tenant in the
// context, the role sees no rows.
//
// A transaction uses the tenant of its first context. SQLite has no such protection.

// tenancy is the context key of the visible tenant.
type tenancy struct{}

// every is the setting for the rows of all tenants. No tenant can have this name.
const every = "*"

// ForTenant makes one tenant's rows visible to a context; with an empty name, none.
func ForTenant(ctx context.Context, tenant string) context.Context {
	return context.WithValue(ctx, tenancy{}, tenant)
}

// ForEveryTenant makes the rows of all tenants visible to a context, for background work of the server and the few
// queries across tenants.
func ForEveryTenant(ctx context.Context) context.Context { return ForTenant(ctx, every) }

// confinement is the statement that sets the visible tenant; empty if the context names none.
func confinement(ctx context.Context) string {
	tenant, found := ctx.Value(tenancy{}).(string)
	if !found {
		return ""
	}
	return string(append(AppendString([]byte("SET LOCAL annals.tenant = "), tenant), ";\n"...))
}

// alone matches statements that cannot run in a transaction, so nothing can be sent with them. They read no rows of
// tenants.
var alone = regexp.MustCompile(`^\s*(?:VACUUM|CHECKPOINT|(?:CREATE|DROP) INDEX CONCURRENTLY)\b`)

// ofTenants are the tables c whose rows only their own tenant sees. These are the tables with rows of tenants, except
// two groups. Searches read some, for which the planner must stay free; others only count or prove the log, and
// contain no text.
const ofTenants = `
	c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
	AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'tenant' AND NOT a.attisdropped)
	AND c.relname NOT IN ('checkpoints', 'quarantine', 'rebuild_slices', 'tree', 'signed_checkpoints')
	AND c.relname !~ '^(meaning|vectors)_[0-9]+$|^(knowledge|past)_[0-9]+_(scopes|blocks|changes|words|pieces)$'`
