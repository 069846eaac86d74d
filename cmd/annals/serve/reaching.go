package serve

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"syscall"
)

// reaching is a transport that looks for a server again when the one that it had has gone: of several that one host
// has started, the one that was the server for all may be the first to end.
type reaching struct {
	// find gives a way to a server: the way that it gave, if that still leads there.
	find func(context.Context) (http.RoundTripper, error)

	mu  sync.Mutex
	now http.RoundTripper
}

// RoundTrip implements [http.RoundTripper]. A request that nobody has received is sent to whoever is found next.
func (r *reaching) RoundTrip(request *http.Request) (*http.Response, error) {
	transport, err := r.transport(request.Context(), nil)
	if err != nil {
		return nil, err
	}
	response, err := transport.RoundTrip(request) //nolint:bodyclose // whoever asked closes it
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

// transport is the way to a server, another than the one that leads nowhere any more.
func (r *reaching) transport(ctx context.Context, gone http.RoundTripper) (http.RoundTripper, error) {
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
