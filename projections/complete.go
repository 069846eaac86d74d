package projections

import (
	"context"
	"fmt"
	"strings"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
	"github.com/annals-kb/annals/projections/vectors"
)

// Complete returns nil if the database has every column that this program cannot do without. The error names the
// missing columns and the command that helps.
func (p *Knowledge) Complete(ctx context.Context) error {
	c := p.catalogue
	if err := database.CheckComplete(ctx, c.DB); err != nil {
		return err
	}
	active, err := c.LookAgain(ctx)
	if err == nil && len(active.Lost) > 0 {
		err = fmt.Errorf("the database lacks %s: run annals rebuild knowledge --repair", strings.Join(active.Lost, ", "))
	}
	if err != nil {
		return err
	}
	const remedy = "restart annals serve, which makes these tables again"
	made, at := "", p.Browser.Past.Load()
	if at == nil {
		return nil
	}
	if made, err = rows.Definition(c.DB.Engine, catalogue.PastName, at.Version); err != nil {
		return err
	}
	if err := database.CheckColumns(ctx, c.DB, made, remedy); err != nil {
		return err
	}
	for _, m := range p.Models.Read() {
		if made, err = vectors.Definition(c.DB.Engine, m.Tables); err != nil {
			return err
		}
		if err := database.CheckColumns(ctx, c.DB, made, remedy); err != nil {
			return err
		}
	}
	return nil
}
