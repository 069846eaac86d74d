package proof

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/annals-kb/annals/database"
)

// signedName is under which the table of checkpoints keeps how many events were signed.
const signedName = Name + "_signed"

// extent is how far a tenant's tree goes and what was signed of it, and how far both went as the table of checkpoints
// has it.
type extent struct {
	tree, grown    int64 // events that are in the tree, and that were taken into it
	newest, signed int64 // events of the newest signed checkpoint that is there, and of the newest that was signed
}

// extent reads all four as they are at one moment.
func (t tree) extent(ctx context.Context) (x extent, err error) {
	err = database.ForEach(ctx, t.db, func(rows *sql.Rows) error { return rows.Scan(&x.tree, &x.grown, &x.newest, &x.signed) }, `
		SELECT
			coalesce((SELECT size FROM tree WHERE tenant = ? ORDER BY number DESC LIMIT 1), 0),
			coalesce((SELECT position FROM checkpoints WHERE projection = ? AND tenant = ?), 0),
			coalesce((SELECT max(size) FROM signed_checkpoints WHERE tenant = ?), 0),
			coalesce((SELECT position FROM checkpoints WHERE projection = ? AND tenant = ?), 0)`,
		t.tenant, Name, t.tenant, t.tenant, signedName, t.tenant)
	return x, err
}

// lost says what was there and is not any more.
func (x extent) lost() (faults []Fault) {
	if x.tree < x.grown {
		faults = append(faults, Fault{
			Position: x.tree + 1, Kind: Tree,
			Message: fmt.Sprintf("the stored tree was cut: it had %d events, and ends at position %d", x.grown, x.tree),
		})
	}
	if x.newest < x.signed {
		faults = append(faults, Fault{
			Position: x.newest + 1, Kind: Checkpoint,
			Message: fmt.Sprintf("signed checkpoints are missing: %d events were signed, and those that are there cover %d", x.signed, x.newest),
		})
	}
	return faults
}

// whole refuses to build and to sign anew what was built and signed already: the log may have been rewritten meanwhile.
func (x extent) whole() error {
	for _, fault := range x.lost() {
		return halt(fault.Message)
	}
	return nil
}
