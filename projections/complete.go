package projections

import (
	"context"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/past"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/vectors"
)

// Complete returns nil if the database has every column that this program reads. The error names the missing columns
// and the command that helps.
func (p *Knowledge) Complete(ctx context.Context) error {
	c := p.catalogue
	if err := database.CheckComplete(ctx, c.DB); err != nil {
		return err
	}
	if err := c.Reload(ctx, c.DB); err != nil {
		return err
	}
	active := c.Active()
	made, err := rows.Definition(c.DB.Engine, catalogue.KnowledgeName, active.Version)
	if err != nil {
		return err
	}
	if err := database.CheckColumns(ctx, c.DB, made, "run annals rebuild knowledge --repair"); err != nil {
		return err
	}
	if made, err = rows.Definition(c.DB.Engine, catalogue.PastName, past.Version); err != nil {
		return err
	}
	if err := database.CheckColumns(ctx, c.DB, made, "restart annals serve, which makes these tables again"); err != nil {
		return err
	}
	if made, err = vectors.Definition(c.DB.Engine, p.Models.Active.Load().Tables); err != nil {
		return err
	}
	return database.CheckColumns(ctx, c.DB, made, "put a backup back, as described in docs/backup.md#restore")
}
