package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lib/pq"
)

// silence is how long a peer may leave a connection unanswered before it counts as dead.
const silence = 30 * time.Second

// sessionSettings make the server read quoted strings as written, and detect clients that vanished, which may hold a
// tenant's lock. They are not startup parameters, because a connection pooler refuses unknown ones. A pooler in
// transaction mode sets them itself (deploy/pgbouncer.ini): here they reach some of its sessions.
const sessionSettings = `
SET standard_conforming_strings = on;
SET tcp_keepalives_idle = 15;
SET tcp_keepalives_interval = 5;
SET tcp_keepalives_count = 3;
SET idle_in_transaction_session_timeout = '5min'`

// connector makes connections that detect a dead server within silence, and sets up each session.
type connector struct {
	*pq.Connector
	guarded  atomic.Bool // whether this role sees only the rows of the tenant that it names
	settings string      // what each session sets
	choosy   bool        // whether the URL has several servers or requires a certain kind
	dsn      string      // the URL that lib/pq is given
	dialer   dialer
	fence    *fence
}

var _ driver.Connector = (*connector)(nil)

func newConnector(config pq.Config, dsn string) (*connector, error) {
	c, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, err
	}
	kept, _ := fences.LoadOrStore(dsn, &fence{servers: 1 + len(config.Multi)})
	fence := kept.(*fence) //nolint:errcheck,forcetypeassert // it has nothing else
	dialer := dialer{fence: fence, Dialer: &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence / 2, Interval: silence / 6, Count: 3},
		Control:         setUserTimeout,
	}}
	c.Dialer(dialer)
	choosy := fence.servers > 1 || config.TargetSessionAttrs != ""
	settings := sessionSettings
	// Requests have a time limit, and background work has none.
	if _, chosen := config.Runtime["statement_timeout"]; !chosen {
		settings += ";\nSET statement_timeout = 0"
	}
	return &connector{Connector: c, settings: settings, choosy: choosy, dsn: dsn, dialer: dialer, fence: fence}, nil
}

// oneLine joins the errors of lib/pq, which has a line per server.
type oneLine struct{ error }

func (e oneLine) Unwrap() error { return e.error }

func (e oneLine) Error() string {
	return strings.ReplaceAll(strings.ReplaceAll(e.error.Error(), ":\n", ": "), "\n", "; ")
}

// Connect connects to another server of the URL if the fence refuses one.
func (c *connector) Connect(ctx context.Context) (conn driver.Conn, err error) {
	for range c.fence.servers {
		conn, err = c.connect(ctx)
		if _, refused := errors.AsType[fencedError](err); !refused {
			break
		}
	}
	return conn, err
}

func (c *connector) connect(ctx context.Context) (driver.Conn, error) {
	line := &line{}
	conn, err := c.Connector.Connect(context.WithValue(ctx, dialling{}, line))
	if errors.Is(err, io.EOF) { // as from a load balancer without a server behind it
		return nil, fmt.Errorf("%w: connection closed before the server greeted: %w", ErrUnavailable, err)
	}
	if refusal, refused := errors.AsType[*pq.Error](err); refused { // the server may accept the role again
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, refusal)
	}
	// If every listed server refuses the session, a failover may be under way.
	if err != nil && ctx.Err() == nil && c.choosy {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, oneLine{err})
	} else if err != nil {
		return nil, err
	}
	session := &pipelinedConn{
		pqConn: conn.(pqConn), unread: line.unread, guarded: &c.guarded, fence: c.fence, has: map[string]bool{},
	}
	if session.server, err = introduce(ctx, session.pqConn, c.settings); err != nil {
		return nil, errors.Join(fmt.Errorf("set up session: %w", err), conn.Close())
	}
	if err := c.fence.admit(session.server, line.address); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return session, nil
}

// line is the network connection beneath one of lib/pq, which does not expose it.
type line struct {
	raw     syscall.RawConn
	address string
}

// dialling marks the context in which a line is stored.
type dialling struct{}

func (l *line) unread() bool { return l.raw != nil && isReadable(l.raw) }

// dialer is a net.Dialer as lib/pq wants it. Of several servers, it leaves out those that the fence has just refused.
type dialer struct {
	*net.Dialer
	fence *fence
}

var _ pq.DialerContext = dialer{}

func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if err := d.fence.avoid(address); err != nil {
		return nil, err
	}
	conn, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l, found := ctx.Value(dialling{}).(*line)
	if tcp, isRaw := conn.(syscall.Conn); found && isRaw {
		l.address = address
		l.raw, err = tcp.SyscallConn()
	}
	return conn, err
}

func (d dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}
