package serve

import (
	"context"
	"path/filepath"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/events"
	annalshttp "github.com/annals-kb/annals/http"
	httpkeys "github.com/annals-kb/annals/http/keys"
	"github.com/annals-kb/annals/http/viking"
	"github.com/annals-kb/annals/projections/people"
	"github.com/annals-kb/annals/projections/sessions"
)

// vikingSettings are the settings of the OpenViking API.
type vikingSettings struct {
	HostPaths []string `group:"limits" env:"ANNALS_HOST_PATHS" sep:":" placeholder:"DIR" complete:"file"`
}

// hostPaths are the directories as absolute paths, which callers use.
func (v vikingSettings) hostPaths() []string {
	var all []string
	for _, path := range v.HostPaths {
		if whole, err := filepath.Abs(path); err == nil && path != "" {
			all = append(all, whole)
		}
	}
	return all
}

// openViking mounts the OpenViking API at its usual paths.
func openViking(_ context.Context, c *core) (part, error) {
	cfg := viking.Config{
		Writer: c.writer, Browser: c.knowledge.Browser, Reader: present{c},
		Directories: offered[viking.Directories](c), Documents: offered[viking.Documents](c), Files: events.NewFiles(c.log),
		Sessions: sessions.Sessions{Log: c.log, Followers: c.followers}, Recorder: offered[viking.Recorder](c),
		Keys: c.keys, NewKey: httpkeys.NewKey, Members: people.Directory{Log: c.log.Reader}.Members,
		Eraser: c.eraser, Closed: c.cfg.RootKey != "" || c.cfg.issuer() != "",
		FetchPrivate: c.cfg.FetchPrivate, HostPaths: c.cfg.hostPaths(), Version: terminal.Version().Version,
		PublicURL: c.cfg.PublicURL,
		Probes: []viking.Probe{
			{Name: "database", Check: c.db.Answers},
			{Name: "schema", Check: c.knowledge.Complete},
			{Name: "writes", Check: c.db.Writable},
		},
	}
	return part{mounts: []annalshttp.Mount{viking.Mount(cfg)}}, nil
}
