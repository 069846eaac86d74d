package mcp

import (
	"context"
	"io"
	"log/slog"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/client"
)

// Config is what a [Server] is made of.
type Config struct {
	// API is where requests go. Required.
	API *client.Client
	// Tools is which set of tools a host is offered that started this process: [OpenViking], or empty for Annals' own.
	Tools string
	// Version is shown to hosts.
	Version string
	// Logger hears what goes wrong between a host and this server. Never what people wrote. Nil for no log.
	Logger *slog.Logger
}

// Server answers MCP hosts. It is safe for concurrent use.
type Server struct {
	cfg                       Config
	standard, aliased, viking *sdk.Server
}

const instructions = `Annals is the memory that people and agents share, with a history of everything in it.
` + "Retrieve before you start on a task and when something fails; remember what will help the next one, " +
	`failures too (polarity negative).
Say with give_feedback whether what you retrieved helped; report what is out of date; forget only what the user asks you to forget.`

// New makes a server.
func New(cfg Config) *Server {
	s := &Server{cfg: cfg}
	s.standard, s.aliased, s.viking = s.build("", false), s.build("", true), s.build(OpenViking, false)
	return s
}

func (s *Server) build(set string, aliases bool) *sdk.Server {
	server := sdk.NewServer(
		&sdk.Implementation{Name: "annals", Title: "Annals", Version: s.cfg.Version},
		&sdk.ServerOptions{Instructions: instructions, Logger: s.cfg.Logger, Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{}, Prompts: &sdk.PromptCapabilities{}, Resources: &sdk.ResourceCapabilities{},
		}, SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { *c = privateToCaller }},
	)
	server.AddReceivingMiddleware(withErrorCodes)
	all := tools()
	if set == OpenViking {
		all = vikingTools()
	}
	for _, t := range all {
		s.add(server, t)
		if aliases {
			for _, name := range t.aliases {
				s.add(server, t.as(name))
			}
		}
	}
	s.addPrompts(server)
	s.addResources(server)
	return server
}

// Handler answers hosts over HTTP, each request by itself. With ?tools=openviking the tools are those of an
// OpenViking server, with ?aliases=true they have the names, too, that older clients of one know.
func (s *Server) Handler() http.Handler {
	return noteAddress(parseMessages(sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		return s.serverFor(r.URL.Query().Get("tools"), r.URL.Query().Get("aliases") == "true")
	}, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, Logger: s.cfg.Logger,
		DisableLocalhostProtection: true, // the mount identifies the caller
	})))
}

// Serve answers the one host that started this process, line by line, until it leaves and everything that it asked is
// answered, or ctx ends. Nothing else may write to out.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser, aliases bool) error {
	return s.serverFor(s.cfg.Tools, aliases).Run(ctx, &stdioTransport{in: in, out: out})
}

func (s *Server) serverFor(set string, aliases bool) *sdk.Server {
	if set == OpenViking {
		return s.viking
	}
	if aliases {
		return s.aliased
	}
	return s.standard
}

// passed on are the headers that tell who is calling, and what for.
var forwardedHeaders = []string{
	"Authorization", "X-Api-Key", "Annals-Tenant", "Annals-Actor", "Annals-On-Behalf-Of", "X-Openviking-Account",
	"X-Openviking-User", "Annals-Correlation-Id", "X-Request-Id", "Traceparent",
}

// api makes requests as the caller of this one.
func (s *Server) api(extra *sdk.RequestExtra) *client.Client {
	if extra == nil || len(extra.Header) == 0 {
		return s.cfg.API
	}
	header := http.Header{}
	for _, name := range forwardedHeaders {
		if values := extra.Header.Values(name); len(values) > 0 {
			header[name] = values
		}
	}
	return s.cfg.API.With(header)
}

// calledAtHeader tells a tool at which address its host has called. A value that a host sends is replaced.
const calledAtHeader = "Annals-Called-At"

// noteAddress notes at which address a host calls: a server that listens on every address of its machine knows none.
func noteAddress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address := "http://" + r.Host
		if r.TLS != nil {
			address = "https://" + r.Host
		}
		r.Header.Set(calledAtHeader, address)
		next.ServeHTTP(w, r)
	})
}

type addressKey struct{}

// withCalledAt puts the address that a host has called into the context.
func withCalledAt(ctx context.Context, extra *sdk.RequestExtra) context.Context {
	if extra == nil {
		return ctx
	}
	return context.WithValue(ctx, addressKey{}, extra.Header.Get(calledAtHeader))
}

// calledAt is the address that a host has called; empty for one that has started this process.
func calledAt(ctx context.Context) string {
	address, _ := ctx.Value(addressKey{}).(string)
	return address
}
