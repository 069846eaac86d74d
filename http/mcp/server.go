package mcp

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/serve"
)

// Config configures a [Server].
type Config struct {
	// API receives the requests. Required.
	API *client.Client
	// Tools selects the tools for hosts that do not select them by the address: [OpenViking], or empty for Annals' own.
	Tools string
	// Work are the groups that searches and new knowledge about work are for. Empty for everything that the caller
	// belongs to.
	Work Work
	// PublicURL is what the addresses of the server begin with. Default: the address that a host called.
	PublicURL string
	// Version is shown to hosts.
	Version string
	// Logger logs errors between hosts and this server, never what people wrote. Nil for no log.
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
	server.AddReceivingMiddleware(withErrorCodes, s.stateReaders)
	all := tools()
	if set == OpenViking {
		all = vikingTools()
	}
	for _, t := range all {
		s.add(server, t)
		if aliases {
			for _, name := range t.aliases {
				t.name, t.alias = name, true
				s.add(server, t)
			}
		}
	}
	s.addPrompts(server)
	s.addResources(server)
	return server
}

// Handler answers hosts over HTTP without sessions. ?tools=openviking selects the tools of an OpenViking server,
// ?tools=annals those of Annals, and ?aliases=true adds the tool names of its older clients.
func (s *Server) Handler() http.Handler {
	return noteAddress(s.cfg.PublicURL, parseMessages(sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		return s.serverFor(cmp.Or(r.URL.Query().Get("tools"), s.cfg.Tools), r.URL.Query().Get("aliases") == "true")
	}, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, Logger: s.cfg.Logger,
		DisableLocalhostProtection: true, // the mount identifies the caller
	})))
}

// Serve answers the one host that started this process, a message per line. It returns when the host has closed its
// input and every request is answered, or when ctx ends. Nothing else may write to out.
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

// forwardedHeaders are the headers with the identity of the caller and the origin of the request.
var forwardedHeaders = []string{
	"Authorization", "X-Api-Key", "Annals-Tenant", "Annals-Actor", "Annals-On-Behalf-Of", "X-Openviking-Account",
	"X-Openviking-User", "Annals-Correlation-Id", "X-Request-Id", "Traceparent", "Annals-Host", "Annals-Session",
	"User-Agent",
}

// api makes requests as the caller of a tool, from its host. They are of an agent's session, whoever has the key.
func (s *Server) api(request sdk.Request) *client.Client {
	header := http.Header{}
	if extra := request.GetExtra(); extra != nil {
		for _, name := range forwardedHeaders {
			if values := extra.Header.Values(name); len(values) > 0 {
				header[name] = values
			}
		}
	}
	if header.Get("Annals-Host") == "" {
		header.Set("Annals-Host", "mcp")
		asking, is := request.(interface{ ClientInfo() *sdk.Implementation })
		if is && asking.ClientInfo() != nil {
			header.Set("Annals-Host", cmp.Or(hostOf(*asking.ClientInfo()), "mcp"))
		}
	}
	return s.cfg.API.With(header)
}

// hostOf names a host in a header: by its name and version, without spaces.
func hostOf(info sdk.Implementation) string {
	const most = 64
	name := strings.Map(func(r rune) rune {
		if r < '!' || r > '~' {
			return '-'
		}
		return r
	}, strings.Trim(info.Name+"/"+info.Version, "/"))
	return name[:min(len(name), most)]
}

// calledAtHeader holds the address that a host called. The server replaces a value that a host sends.
const calledAtHeader = "Annals-Called-At"

// noteAddress notes the address that a host called: a server that listens on all addresses does not know its own.
func noteAddress(public string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set(calledAtHeader, cmp.Or(public, serve.AddressOf(r)))
		next.ServeHTTP(w, r)
	})
}

type addressKey struct{}

// withCalledAt puts the address that a host called into the context.
func withCalledAt(ctx context.Context, extra *sdk.RequestExtra) context.Context {
	if extra == nil {
		return ctx
	}
	return context.WithValue(ctx, addressKey{}, extra.Header.Get(calledAtHeader))
}

// calledAt is the address that a host called; empty for a host that started this process.
func calledAt(ctx context.Context) string {
	address, _ := ctx.Value(addressKey{}).(string)
	return address
}
