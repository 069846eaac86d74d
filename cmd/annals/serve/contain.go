package serve

import (
	"context"

	annalshttp "github.com/annals-kb/annals/http"
	httpcontain "github.com/annals-kb/annals/http/contain"
	"github.com/annals-kb/annals/projections/contain"
)

// openContain contains what a source wrote. It says which answers had it if a part offers that.
func openContain(_ context.Context, c *core) (part, error) {
	all := &contain.Containments{View: c.knowledge.View, Log: c.log, Answers: offered[contain.Answers](c)}
	return part{rooms: []annalshttp.Room{httpcontain.Room{Containments: all}}}, nil
}
