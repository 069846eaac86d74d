package backup

import (
	"context"
	"fmt"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events/proof"
)

// verifyLog verifies the log in a backup with the keys of the backup.
func verifyLog(ctx context.Context, db *database.DB, c Contents) error {
	report, err := proof.Verify(ctx, db, proof.Verification{Keys: c.PublicKeys})
	if err != nil || report.Verified {
		return err
	}
	first := report.Faults[0]
	return &terminal.Failure{
		Code: terminal.ExitFailed,
		Detail: fmt.Sprintf("the log does not verify: tenant %s, position %d: %s", first.Tenant, first.Position,
			first.Message),
		Fix: "annals verify shows everything that is wrong in the database",
	}
}
