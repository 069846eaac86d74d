package serve

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	annalshttp "github.com/annals-kb/annals/http"
	annalsclient "github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/mcp"
)

// hosting are the settings of the MCP server.
type hosting struct {
	// MCPTools selects the tools at /mcp for hosts that do not select them by the address.
	MCPTools string `group:"where" name:"mcp-tools" env:"ANNALS_MCP_TOOLS" enum:"annals,openviking" default:"annals"`
}

// openMCP mounts the MCP server.
func openMCP(_ context.Context, c *core) (part, error) {
	hosts := mcp.New(mcp.Config{
		API: c.inner, Tools: c.cfg.MCPTools, PublicURL: c.cfg.PublicURL,
		Version: terminal.Version().Version, Logger: c.logger,
	}).Handler()
	return part{
		mounts: mcp.Mounts(hosts, mcp.OAuth{Issuer: c.cfg.issuer(), PublicURL: c.cfg.PublicURL}),
		rooms:  []annalshttp.Room{mcp.Room{}},
	}, nil
}

type McpCommand struct {
	terminal.Remote
	Storage

	Tools   string `enum:"annals,openviking" default:"annals"`
	Aliases bool
	Project string `placeholder:"ID"`
	Team    string `placeholder:"ID"`
}

func (m *McpCommand) Run(ctx context.Context, c *terminal.Console) error {
	if m.Tools == mcp.OpenViking && m.Project+m.Team != "" {
		return terminal.Wrong("leave --tools out", "--project and --team are for the tools of Annals")
	}
	server, err := EmbeddedServerOf(ctx, c, &m.Remote, m.Storage)
	if err != nil {
		return err
	}
	reach := &failover{find: server.Find}
	if _, err := reach.transport(ctx, nil); err != nil {
		return err
	}
	api, err := annalsclient.New(annalsclient.Config{
		Server: cmp.Or(server.address,
			m.Server), Key: m.APIKey, Tenant: m.Tenant, Actor: m.As, OnBehalfOf: m.OnBehalfOf, Timeout: m.Timeout,
		Transport: reach, Session: rand.Text(), // a host starts a process for each
	})
	if err != nil {
		return terminal.Wrong("annals mcp --help shows how", "%s", err)
	}
	project, team := strings.TrimPrefix(m.Project, domain.Project+":"), strings.TrimPrefix(m.Team, domain.Team+":")
	work, err := mcp.WorkFor(ctx, api, project, team)
	if _, answered := errors.AsType[*annalsclient.Error](err); err != nil && !answered {
		err = terminal.Wrong("annals whoami shows what you belong to", "%s", err)
	}
	if err != nil {
		return errors.Join(err, server.Close())
	}
	err = mcp.New(mcp.Config{API: api, Tools: m.Tools, Work: work, Version: terminal.Version().Version}).Serve(ctx,
		io.NopCloser(c.In), unclosed{c.Out}, m.Aliases)
	if ctx.Err() != nil {
		err = nil // the host or Ctrl-C has ended it
	}
	if err = errors.Join(err, server.Close()); err != nil {
		return fmt.Errorf("answer the host: %w", err)
	}
	return nil
}

// unclosed is standard output, which must stay open.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
