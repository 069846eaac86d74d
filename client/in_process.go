package client

import (
	"context"
	"net/http"
	"net/http/httptest"
)

// Inside is a transport to a handler in this process. A request comes from 127.0.0.1, unless its context has an outer
// request (see [WithOuter]). An answer is complete before the caller reads it, so a stream never begins.
func Inside(handler http.Handler) http.RoundTripper { return handlerTransport{handler} }

type outerKey struct{}

// WithOuter makes the requests of a context that go through [Inside] come from where r came from: they have its remote
// address, its host and its TLS state. A handler that answers strangers must use it, because the server trusts this
// machine and counts wrong keys by address.
func WithOuter(ctx context.Context, r *http.Request) context.Context {
	return context.WithValue(ctx, outerKey{}, r)
}

type handlerTransport struct{ handler http.Handler }

// RoundTrip implements [http.RoundTripper].
func (i handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	asked := r.Clone(r.Context())
	asked.RequestURI, asked.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:0"
	if asked.Host == "" {
		asked.Host = r.URL.Host
	}
	if outer, ok := r.Context().Value(outerKey{}).(*http.Request); ok {
		asked.RemoteAddr, asked.Host, asked.TLS = outer.RemoteAddr, outer.Host, outer.TLS
	}
	if asked.Body == nil {
		asked.Body = http.NoBody
	}
	defer asked.Body.Close() //nolint:errcheck // it is in memory
	answer := httptest.NewRecorder()
	i.handler.ServeHTTP(answer, asked)
	response := answer.Result()
	response.Request = r
	return response, nil
}
