package serve

import (
	"context"
	"errors"
	"time"

	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/rebuild"
)

// openRebuilds resumes rebuilds and drops versions. It offers the rebuilder.
func openRebuilds(_ context.Context, c *core) (part, error) {
	rebuilder := rebuild.New(c.knowledge.Versions, c.knowledge.Models, c.log, c.followers)
	c.registry.MustRegister(projections.NewGauges(c.followers, rebuilder))
	return part{
		run: []func(context.Context){
			c.every(10*time.Second, "resume rebuilds and drop versions", func(ctx context.Context) error {
				return errors.Join(rebuilder.Resume(ctx), c.knowledge.Models.DropRetired(ctx),
					c.knowledge.Versions.DropRetired(ctx))
			}),
		},
		offers: []any{rebuild.Rebuilds{Rebuilder: rebuilder}},
		close: func() error {
			rebuilder.Close()
			return nil
		},
	}, nil
}
