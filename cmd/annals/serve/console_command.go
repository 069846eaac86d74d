package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/console"
)

type ConsoleCommand struct {
	terminal.Remote

	Listen string `default:"127.0.0.1:1934" placeholder:"ADDRESS"`
}

func (m *ConsoleCommand) Run(ctx context.Context, c *terminal.Console) error {
	api, err := m.Connect()
	if err != nil {
		return err
	}
	if beyond, err := reachable(ctx, m.Listen); err != nil || beyond {
		return errors.Join(err, terminal.Wrong("as in --listen 127.0.0.1:1934",
			"the console uses your key for every visitor, so it listens on this machine only"))
	}
	if _, err := api.Whoami(ctx); err != nil {
		return err
	}
	listener, err := listen(ctx, m.Listen)
	if err != nil {
		return err
	}
	pages := console.New(console.Config{API: api, Version: terminal.Version().Version})
	server := &http.Server{
		Handler: http.NewCrossOriginProtection().Handler(onThisMachine(pages)), ReadHeaderTimeout: 10 * time.Second,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	c.Say("The console of %s is at http://%s%s. It ends with Ctrl-C.", api.Server(), listener.Addr(), consolePath)
	select {
	case err = <-ended:
	case <-ctx.Done():
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = server.Shutdown(stopping)
	}
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("show the console: %w", err)
	}
	return nil
}

// onThisMachine refuses requests to other names than this machine's. A website could let its own name lead here.
func onThisMachine(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if address, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !address.IsLoopback()) {
			http.Error(w, "This console answers to localhost only.", http.StatusForbidden)
			return
		}
		if r.URL.Path == "/" {
			http.Redirect(w, r, consolePath, http.StatusSeeOther)
			return
		}
		next.ServeHTTP(w, r)
	})
}
