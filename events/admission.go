package events

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// Admission may refuse what would be written. Its errors are refusals, or fail the command.
type Admission interface {
	// Admit is called in the transaction of an append, under the tenant's lock, before the facts are folded.
	Admit(ctx context.Context, tx bun.IDB, of Decision) error
	// AdmitFile is called in the transaction that keeps a file.
	AdmitFile(ctx context.Context, tx bun.IDB, tenant string, file domain.File) error
}

// Decision is what a command decided on.
type Decision struct {
	By      domain.Principal
	Command domain.Command
	Facts   []domain.Fact
	Items   domain.ItemReader // as they were before the facts
	At      time.Time
}
