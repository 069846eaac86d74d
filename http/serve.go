package http

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Serve answers requests on l until ctx ends, then finishes what it accepted: /readyz says no,
// after Config.Notice no connection is accepted any more, and within Config.Drain every request
// is answered; requests that remember many are cut short after half of that and say so. It
// closes l. The error says that the listener broke, or that requests had to be abandoned.
//
// The end of ctx ends no request: what they use must be closed only after Serve returned.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	const header, carryThrough, idle, headerBytes = 10 * time.Second, time.Minute, 2 * time.Minute, 64 << 10
	server := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: min(header, s.cfg.Timeout),
		ReadTimeout:       s.cfg.Timeout,
		WriteTimeout:      s.cfg.Timeout + carryThrough, // the log finishes what it began, whatever the time
		IdleTimeout:       idle,
		MaxHeaderBytes:    headerBytes,
		BaseContext:       func(net.Listener) context.Context { return s.cfg.Confine(context.WithoutCancel(ctx), "") },
		ErrorLog:          slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug),
	}
	broken := make(chan error, 1)
	var serving sync.WaitGroup
	serving.Go(func() { broken <- server.Serve(l) })
	defer serving.Wait()
	select {
	case err := <-broken:
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	s.closing.Store(true)
	time.Sleep(s.cfg.Notice)
	return s.drain(context.WithoutCancel(ctx), server)
}

func (s *Server) drain(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Drain)
	defer cancel()
	close(s.leaving)
	cut := time.AfterFunc(s.cfg.Drain/2, func() { close(s.cut) })
	defer cut.Stop()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(fmt.Errorf("requests were not finished within %s", s.cfg.Drain), server.Close())
	}
	return err
}
