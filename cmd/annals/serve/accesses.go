package serve

import (
	"context"
	"time"

	"github.com/annals-kb/annals/events"
	annalshttp "github.com/annals-kb/annals/http"
)

// recording are the settings for records of reads.
type recording struct {
	RecordRetrievals string        `group:"accesses" env:"ANNALS_RECORD_RETRIEVALS" enum:"off,sampled,all" default:"off"`
	KeepAccesses     time.Duration `group:"accesses" env:"ANNALS_KEEP_ACCESSES" default:"2160h" placeholder:"TIME"`
}

// openAccesses records accesses. It offers the recorder.
func openAccesses(_ context.Context, c *core) (part, error) {
	recorder := events.NewAccesses(c.log, events.AccessOptions{
		Retrievals: c.cfg.RecordRetrievals, Keep: c.cfg.KeepAccesses, Registerer: c.registry, Logger: c.logger,
	})
	return part{
		run: []func(context.Context){recorder.Run}, offers: []any{recorder},
		api: func(api *annalshttp.Config) { api.Recorder = recorder },
	}, nil
}
