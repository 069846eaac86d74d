package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// reachable tells whether other machines can reach the address.
func reachable(ctx context.Context, address string) (bool, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false, terminal.Wrong("as in --listen 127.0.0.1:1933", "%s is no address to listen on", address)
	}
	addresses, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if host == "" {
		addresses, err = []net.IPAddr{{IP: net.IPv6unspecified}}, nil
	}
	if err != nil {
		return false, terminal.Wrong("as in --listen 127.0.0.1:1933", "the host in %s is unknown here", address)
	}
	return slices.ContainsFunc(addresses, func(a net.IPAddr) bool { return !a.IP.IsLoopback() }), nil
}

// listen opens the address.
func listen(ctx context.Context, address string) (net.Listener, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, terminal.Wrong("as in --listen 127.0.0.1:1933", "%s is no address to listen on", address)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case err == nil:
		return listener, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, taken(ctx, address)
	case errors.Is(err, syscall.EACCES):
		return nil, terminal.Wrong("choose a port from 1024 on, as in --listen 127.0.0.1:1933",
			"only root may listen on port %s", port)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, terminal.Wrong("name one that it has, as in --listen 127.0.0.1:1933",
			"%s is no address of this machine", address)
	default:
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
}

// taken names the program that has the address, if it is known.
func taken(ctx context.Context, address string) error {
	who := "another program listens on " + address
	fix := "choose another port with --listen HOST:PORT or ANNALS_LISTEN; port 0 picks a free one"
	if isAnnals(ctx, address) {
		who = "another annals serves at http://" + address + " already"
		fix = "use it as it is, or " + fix
	}
	return &terminal.Failure{Code: terminal.ExitFailed, Detail: who, Fix: fix}
}

// isAnnals tells whether an Annals server answers at the address.
func isAnnals(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	server, err := terminal.Remote{Server: "http://" + address}.Connect()
	if err != nil {
		return false
	}
	health, err := server.Health(ctx)
	return err == nil && health.Status != "" && health.Version != ""
}
