package serve

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
)

// serveInRoles serves until ctx ends, and closes the listener and the service. When the database is promoted, or
// becomes a standby, the service gives way to the next one. Meanwhile, new connections wait.
func (s *Service) serveInRoles(
	ctx context.Context, listener net.Listener, metrics string, next func(context.Context) (*Service, error),
) error {
	shared := share(ctx, listener)
	defer shared.end()
	for {
		err := s.serveBeside(ctx, shared.turn(), metrics)
		changed, logger := s.core.role.Err() != nil && ctx.Err() == nil, s.core.logger
		if err = errors.Join(err, s.Close()); !changed {
			return err
		}
		if err != nil {
			logger.WarnContext(ctx, "the server did not end well in its previous role", "error", err)
		}
		s, err = next(ctx)
		for errors.Is(err, database.ErrUnavailable) && ctx.Err() == nil {
			logger.WarnContext(ctx, "the database has another role, and cannot be opened yet", "error", err)
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			s, err = next(ctx)
		}
		if err != nil && ctx.Err() != nil { // nothing is open
			return nil
		} else if err != nil {
			return err
		}
		logger.InfoContext(ctx, "the database has another role", "role", s.core.db.Role())
	}
}

// sharedListener lets one server after another listen, until its context ends.
type sharedListener struct {
	net.Listener
	ctx      context.Context //nolint:containedctx // of the last server
	accepted chan accepted
	ended    chan struct{}
	end      func() // closes the listener
}

type accepted struct {
	conn net.Conn
	err  error
}

func share(ctx context.Context, listener net.Listener) *sharedListener {
	s := &sharedListener{Listener: listener, ctx: ctx, accepted: make(chan accepted), ended: make(chan struct{})}
	s.end = sync.OnceFunc(func() {
		close(s.ended)
		_ = s.Close()
	})
	go func() {
		for {
			conn, err := s.Accept()
			select {
			case s.accepted <- accepted{conn, err}:
			case <-s.ended:
				if conn != nil {
					_ = conn.Close()
				}
				return
			}
		}
	}()
	return s
}

// turn is the listener of the next server. Its Close leaves the shared one open, unless that server was the last.
func (s *sharedListener) turn() net.Listener {
	ctx, over := context.WithCancel(context.Background())
	return turn{Listener: s.Listener, shared: s, ctx: ctx, over: over}
}

type turn struct {
	net.Listener
	shared *sharedListener
	ctx    context.Context //nolint:containedctx // ends with Close
	over   context.CancelFunc
}

func (t turn) Accept() (net.Conn, error) {
	if t.ctx.Err() != nil {
		return nil, net.ErrClosed
	}
	select {
	case a := <-t.shared.accepted:
		return a.conn, a.err
	case <-t.ctx.Done():
		return nil, net.ErrClosed
	}
}

func (t turn) Close() error {
	t.over()
	if t.shared.ctx.Err() != nil {
		t.shared.end()
	}
	return nil
}
