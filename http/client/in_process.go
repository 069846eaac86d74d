package client

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// Inside is a transport to a handler in this process. A request comes from 127.0.0.1, unless its context has an outer
// request (see [WithOuter]). The caller reads an answer while it is written, and must close it.
func Inside(handler http.Handler) http.RoundTripper { return handlerTransport{handler} }

type outerKey struct{}

// WithOuter makes the requests of a context that go through [Inside] come from where r came from: they have its remote
// address, its host and its TLS state. A handler that answers strangers must use it, because the server trusts this
// machine and counts wrong keys by address.
func WithOuter(ctx context.Context, r *http.Request) context.Context {
	return context.WithValue(ctx, outerKey{}, r)
}

type handlerTransport struct{ handler http.Handler }

func (i handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	request := r.Clone(r.Context())
	request.RequestURI, request.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:0"
	if request.Host == "" {
		request.Host = r.URL.Host
	}
	if outer, ok := r.Context().Value(outerKey{}).(*http.Request); ok {
		request.RemoteAddr, request.Host, request.TLS = outer.RemoteAddr, outer.Host, outer.TLS
	}
	if request.Body == nil {
		request.Body = http.NoBody
	}
	answer := &inProcessAnswer{header: http.Header{}, begun: make(chan struct{})}
	body, written := io.Pipe()
	answer.body = written
	go func() {
		defer request.Body.Close() //nolint:errcheck // it is in memory
		defer func() {
			if recover() != nil { // the server logs a panic before it cuts an answer with another one
				answer.begin(http.StatusInternalServerError)
				_ = written.CloseWithError(io.ErrUnexpectedEOF)
			}
		}()
		i.handler.ServeHTTP(answer, request)
		answer.begin(http.StatusOK)
		_ = written.Close()
	}()
	select {
	case <-answer.begun:
	case <-r.Context().Done():
		_ = body.Close()
		return nil, r.Context().Err()
	}
	return &http.Response{
		Status: http.StatusText(answer.status), StatusCode: answer.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: answer.sent, Body: body, ContentLength: -1, Request: r,
	}, nil
}

// inProcessAnswer writes the body of an answer into a pipe. The answer begins with the first byte of its body.
type inProcessAnswer struct {
	header http.Header
	body   *io.PipeWriter
	begun  chan struct{}
	once   sync.Once
	status int
	sent   http.Header // as it was when the answer began
}

func (a *inProcessAnswer) begin(status int) {
	a.once.Do(func() {
		a.status, a.sent = status, a.header.Clone()
		close(a.begun)
	})
}

func (a *inProcessAnswer) Header() http.Header { return a.header }

func (a *inProcessAnswer) WriteHeader(status int) {
	if status >= http.StatusOK {
		a.begin(status)
	}
}

func (a *inProcessAnswer) Write(p []byte) (int, error) {
	a.begin(http.StatusOK)
	return a.body.Write(p)
}

// Flush implements [http.Flusher]: the reader gets each part at once.
func (a *inProcessAnswer) Flush() { a.begin(http.StatusOK) }
