package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/http/client"
)

// EmbeddedServer is the server that a command runs itself if it finds none.
type EmbeddedServer struct {
	cfg     Config
	Named   bool // the server is named, or is known to have another database
	Passing bool // it only reads, and serves no other process
	console *terminal.Console

	service *Service // nil while another process is the server
	address string   // where other processes reach this one; empty if they cannot
	stop    context.CancelFunc
	ended   chan error
}

// EmbeddedServerOf reads the server's settings from the environment and the configuration file. An embedded server
// listens on this machine only.
func EmbeddedServerOf(
	ctx context.Context, c *terminal.Console, r *terminal.Remote, where Storage,
) (*EmbeddedServer, error) {
	o := &EmbeddedServer{Named: c.Named, console: c}
	parser, err := kong.New(&o.cfg, append(terminal.NumberMappers(), kong.Resolvers(c.Settings))...)
	if err == nil {
		_, err = parser.Parse(nil)
	}
	if err != nil {
		return nil, terminal.Wrong("annals serve --help lists what can be set", "%s", terminal.UsageFailure(err))
	}
	o.cfg.Storage = Storage{Database: cmp.Or(where.Database, o.cfg.Database), Data: cmp.Or(where.Data, o.cfg.Data)}
	o.cfg.LogLevel = cmp.Or(o.cfg.LogLevel, "warn")
	o.cfg = o.cfg.Complete()
	if beyond, err := reachable(ctx, o.cfg.Listen); err == nil && beyond {
		o.cfg.Listen = Config{}.Complete().Listen
	}
	if err := o.cfg.validate(); err != nil {
		return nil, err
	}
	if !o.Named {
		r.Server = "http://" + o.cfg.Listen
	}
	return o, nil
}

// beginning is how long to wait for another process that owns the database, until it answers or releases the
// database.
const beginning = 10 * time.Second

// Find returns the way to the named server, to a server at the usual address, or to this process. If a host starts
// several processes at once, one becomes the server and the others wait for it.
func (o *EmbeddedServer) Find(ctx context.Context) (http.RoundTripper, error) {
	away := http.DefaultTransport.(*http.Transport).Clone()
	if o.Named {
		return away, nil
	}
	away.Proxy = nil // the server is on this machine
	for deadline := time.Now().Add(beginning); o.service == nil; {
		if isAnnals(ctx, o.cfg.Listen) {
			o.Named = !o.cfg.IsServedAt("http://" + o.cfg.Listen) // when it ends, this process does not take its place
			return away, nil
		}
		err := o.open(context.WithoutCancel(ctx))
		if err == nil {
			break
		}
		if !errors.Is(err, database.ErrOwned) || time.Now().After(deadline) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(50 * time.Millisecond):
		}
	}
	return client.Inside(o.service.API.Handler()), nil
}

// open serves the local database: in this process, and at the usual address if it is free, so that other hosts and
// commands find it.
func (o *EmbeddedServer) open(ctx context.Context) error {
	embedder, _, err := o.cfg.Choose()
	if err != nil {
		return err
	}
	previous, err := o.cfg.previous()
	if err != nil {
		return err
	}
	o.cfg.warned = new(warnings)
	service, err := OpenService(ctx, o.cfg, embedder, previous, o.cfg.warned.beside(o.cfg.Logger(o.console)))
	if err != nil {
		return err
	}
	listener, taken := o.listen(ctx)
	if taken == nil { // else another program has the address, and only the host is served
		o.address = "http://" + listener.Addr().String() // with the port that was picked for port 0
		if err := service.core.db.Announce(o.address); err != nil {
			return errors.Join(err, listener.Close(), service.Close())
		}
	}
	if !o.Passing {
		o.console.Note("no server answers: this process becomes the server, with the database %s and the data directory %s",
			DatabaseName(o.cfg.Database), o.cfg.Data)
	}
	ctx, o.stop = context.WithCancel(ctx)
	o.service, o.ended = service, make(chan error, 1)
	go func() {
		if taken != nil {
			o.ended <- service.Work(ctx)
			return
		}
		o.ended <- service.serve(ctx, listener)
	}()
	return nil
}

// listen opens the usual address, unless this process ends soon.
func (o *EmbeddedServer) listen(ctx context.Context) (net.Listener, error) {
	if o.Passing {
		return nil, net.ErrClosed
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", o.cfg.Listen)
}

// kept tells whether there is a database: a command that only reads creates none.
func (o *EmbeddedServer) kept() bool {
	return !isAbsentFile(o.cfg.Database)
}

// Close finishes accepted requests and writes.
func (o *EmbeddedServer) Close() error {
	if o.service == nil {
		return nil
	}
	o.stop()
	if err := errors.Join(<-o.ended, o.service.Close()); err != nil {
		return fmt.Errorf("end the server: %w", err)
	}
	return nil
}

// Reach connects a command that ends soon: to the named server, to one at the usual address, or else to the local
// database of annals mcp, which it opens in this process. The caller calls done at the end.
func Reach(
	ctx context.Context, c *terminal.Console, r *terminal.Remote,
) (server *client.Client, done func() error, err error) {
	// if the settings are not valid for a server, none is embedded
	own, unfit := EmbeddedServerOf(ctx, c, r, Storage{})
	done = func() error { return nil }
	if unfit != nil || own.Named || !own.kept() || isAnnals(ctx, own.cfg.Listen) {
		server, err = r.Connect()
		return server, done, err
	}
	own.Passing = true
	transport, err := own.Find(ctx)
	if err != nil {
		return nil, done, err
	}
	server, err = r.Through(transport)
	return server, own.Close, err
}

// failover is a transport that finds another server when its server has ended. If a host has started several
// commands, the one that serves them all may end first.
type failover struct {
	// find finds a server.
	find func(context.Context) (http.RoundTripper, error)

	mu  sync.Mutex
	now http.RoundTripper
}

// RoundTrip implements [http.RoundTripper]. It repeats a request that the server did not receive on the next server.
func (r *failover) RoundTrip(request *http.Request) (*http.Response, error) {
	transport, err := r.transport(request.Context(), nil)
	if err != nil {
		return nil, err
	}
	response, err := transport.RoundTrip(request) //nolint:bodyclose // the caller closes it
	if !errors.Is(err, syscall.ECONNREFUSED) || request.Body != nil && request.GetBody == nil {
		return response, err
	}
	again := request.Clone(request.Context())
	if request.Body != nil {
		if again.Body, err = request.GetBody(); err != nil {
			return nil, err
		}
	}
	if transport, err = r.transport(request.Context(), transport); err != nil {
		return nil, err
	}
	return transport.RoundTrip(again)
}

// transport is the way to a server other than gone.
func (r *failover) transport(ctx context.Context, gone http.RoundTripper) (http.RoundTripper, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil || r.now == gone {
		found, err := r.find(ctx)
		if err != nil {
			return nil, err
		}
		r.now = found
	}
	return r.now, nil
}
