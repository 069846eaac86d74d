package servertest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
)

// Statements are what was sent to a database, of which those after the first ones must name their tenant.
type Statements struct {
	databasetest.Statements
	from int
}

var (
	// tenantTable is a table whose rows belong to tenants.
	tenantTable = regexp.MustCompile(`(?i)\b(?:FROM|JOIN|INTO|UPDATE)\s+"?(events|event_texts|requests|streams|key_uses|receipt_pages|item_uses|deliveries|webhook_secrets|former_secrets|proposals|tree|signed_checkpoints|knowledge(?:_\d+\w*)?|meaning_\d+|past\w*)\b`)
	// ofATenant names one.
	ofATenant = regexp.MustCompile(`'(?:default|other|_system|made-by-[\w-]+)'`)
	// anyTenants are the questions that are asked of all: whose key it is, whether there is any, and what root
	// asks before a rebuild; and which erasures are under way, which the server asks by itself.
	anyTenants = regexp.MustCompile(`stream >= 'key:' AND stream < 'key;'|stream >= 'erasure:' AND stream < 'erasure;'|WITH RECURSIVE tenants|^SELECT count\(\*\), coalesce\(sum\(words\), 0\) FROM "knowledge_\d+" AS k$`)
)

// check fails the test for every statement that reads or writes rows of tenants and does not say of which.
func (s *Statements) check(t *testing.T) {
	t.Helper()
	named, wrong := 0, map[string]bool{}
	for _, batch := range s.Sent()[s.from:] {
		for statement := range strings.SplitSeq(batch, ";\n") {
			switch {
			case !tenantTable.MatchString(statement), anyTenants.MatchString(statement):
			case ofATenant.MatchString(statement):
				named++
			default:
				wrong[regexp.MustCompile(`\d+`).ReplaceAllString(statement, "0")] = true
			}
		}
	}
	for statement := range wrong {
		t.Errorf("this names no tenant:\n%.1500s", statement)
	}
	if named == 0 {
		t.Error("no statement was heard that names a tenant")
	}
}
