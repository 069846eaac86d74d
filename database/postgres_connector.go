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

// silence is how long the other side may leave a connection unanswered before it counts as dead.
const silence = 30 * time.Second

// sessionSettings let the server read quoted values as they are written, and notice a client that
// vanished: it may hold a tenant's lock.
// They are no startup parameters, because a connection pooler refuses those it does not know.
const sessionSettings = `
SET standard_conforming_strings = on;
SET tcp_keepalives_idle = 15;
SET tcp_keepalives_interval = 5;
SET tcp_keepalives_count = 3;
SET idle_in_transaction_session_timeout = '5min'`

// connector makes connections that notice a dead server within silence, and sets up each session.
type connector struct {
	*pq.Connector
	guarded atomic.Bool // whether this role sees only the rows that it says it wants to see
	choosy  bool        // whether there are several servers, or not every one will do
}

var _ driver.Connector = (*connector)(nil)

func newConnector(config pq.Config) (*connector, error) {
	c, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, err
	}
	c.Dialer(dialer{&net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence / 2, Interval: silence / 6, Count: 3},
		Control:         setUserTimeout,
	}})
	return &connector{Connector: c, choosy: len(config.Multi) > 0 || config.TargetSessionAttrs != ""}, nil
}

// oneLine says in one line what lib/pq says in one for each server.
type oneLine struct{ error }

func (e oneLine) Unwrap() error { return e.error }

func (e oneLine) Error() string {
	return strings.ReplaceAll(strings.ReplaceAll(e.error.Error(), ":\n", ": "), "\n", "; ")
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	line := &line{}
	conn, err := c.Connector.Connect(context.WithValue(ctx, dialling{}, line))
	if errors.Is(err, io.EOF) { // as from a load balancer without a server behind it
		return nil, fmt.Errorf("%w: connection closed before the server greeted: %w", ErrUnavailable, err)
	}
	if refusal, refused := errors.AsType[*pq.Error](err); refused { // the server may accept the role again
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, refusal)
	}
	// If no server of the list takes this session, they may be about to change places.
	if err != nil && ctx.Err() == nil && c.choosy {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, oneLine{err})
	} else if err != nil {
		return nil, err
	}
	if _, err := conn.(driver.ExecerContext).ExecContext(ctx, sessionSettings, nil); err != nil {
		return nil, errors.Join(fmt.Errorf("set up session: %w", err), conn.Close())
	}
	return &pipelinedConn{pqConn: conn.(pqConn), unread: line.unread, guarded: &c.guarded}, nil
}

// line is the network connection beneath one of lib/pq, which keeps it to itself.
type line struct{ raw syscall.RawConn }

// dialling marks the context in which a line is made.
type dialling struct{}

func (l *line) unread() bool { return l.raw != nil && isReadable(l.raw) }

// dialer is a net.Dialer as lib/pq wants it.
type dialer struct{ *net.Dialer }

var _ pq.DialerContext = dialer{}

func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l, asked := ctx.Value(dialling{}).(*line)
	if tcp, isRaw := conn.(syscall.Conn); asked && isRaw {
		l.raw, err = tcp.SyscallConn()
	}
	return conn, err
}

func (d dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}
