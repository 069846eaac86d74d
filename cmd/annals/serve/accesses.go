package serve

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/events"
)

// recording says what is kept of who read what.
type recording struct {
	// Retrievals is off unless somebody wants to know who relied on what.
	Retrievals string `group:"accesses" name:"record-retrievals" env:"ANNALS_RECORD_RETRIEVALS" enum:"off,sampled,all" default:"off"`

	// KeepAccesses bounds how much that becomes.
	KeepAccesses time.Duration `group:"accesses" env:"ANNALS_KEEP_ACCESSES" default:"2160h" placeholder:"TIME"`
}

// accesses prepares to record.
func (r recording) accesses(s *Service, registry *prometheus.Registry) *events.Accesses {
	return events.NewAccesses(s.log, events.AccessOptions{
		Retrievals: r.Retrievals, Keep: r.KeepAccesses, Registerer: registry, Logger: s.logger,
	})
}
