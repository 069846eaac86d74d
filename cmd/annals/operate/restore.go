package operate

import (
	"context"

	"github.com/annals-kb/annals/cmd/annals/knowledge"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// RestoreCommand restores an item, or a backup.
type RestoreCommand struct {
	terminal.Writing

	What     string `arg:"" complete:"ids"`
	Revision int64  `field:"If-Match" least:"1" placeholder:"N"`
	Reason   string `short:"r" placeholder:"TEXT"`

	restoring // part: backup
}

func (r *RestoreCommand) Run(ctx context.Context, c *terminal.Console) error {
	if backup, err := r.isBackup(r.What); err != nil { // part: backup
		return err // part: backup
	} else if backup { // part: backup
		return r.restore(ctx, c, r.What) // part: backup
	} // part: backup
	item := knowledge.Changing{Writing: r.Writing, ID: r.What, Revision: r.Revision}
	return item.Change(ctx, c, client.Post(api.Reason{Reason: r.Reason}, "restore"), "restored")
}
