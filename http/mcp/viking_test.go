package mcp_test

import (
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/events"
	annalshttp "github.com/annals-kb/annals/http"
	httpserve "github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/servertest"
	"github.com/annals-kb/annals/http/viking"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/sessions"
)

// mountOfViking mounts the OpenViking API of a world.
func mountOfViking(t *testing.T, writer httpserve.Writer, base servertest.Base) annalshttp.Mount {
	return viking.Mount(viking.Config{
		Writer: writer.(viking.Writer), Browser: base.Knowledge.Browser, Reader: base.Reader(), Files: events.NewFiles(base.Log),
		Sessions: sessions.Sessions{Log: base.Log, Followers: base.Followers},
		Eraser:   projections.NewEraser(base.Knowledge, base.Log, databasetest.Log(t)), Version: "test",
	})
}
