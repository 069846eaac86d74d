package mcp

import (
	"bytes"
	"io"
	"net/http"
)

// Inside is a transport to a handler of the same process.
func Inside(handler http.Handler) http.RoundTripper { return handlerTransport{handler} }

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
	if asked.Body == nil {
		asked.Body = http.NoBody
	}
	defer asked.Body.Close() //nolint:errcheck // it is in memory
	w := &responseRecorder{header: http.Header{}, status: http.StatusOK}
	i.handler.ServeHTTP(w, asked)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// responseRecorder keeps an answer.
type responseRecorder struct {
	header http.Header
	status int
	body   bytes.Buffer
	begun  bool
}

// Header implements [http.ResponseWriter].
func (w *responseRecorder) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *responseRecorder) WriteHeader(status int) {
	if !w.begun && status >= http.StatusOK {
		w.status, w.begun = status, true
	}
}

// Write implements [http.ResponseWriter].
func (w *responseRecorder) Write(part []byte) (int, error) {
	w.begun = true
	return w.body.Write(part)
}

// Flush implements [http.Flusher].
func (w *responseRecorder) Flush() {}
