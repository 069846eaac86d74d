package mcp

import (
	"net/http"
	"net/http/httptest"
)

// Inside is a transport to a handler in this process.
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
	answer := httptest.NewRecorder()
	i.handler.ServeHTTP(answer, asked)
	response := answer.Result()
	response.Request = r
	return response, nil
}
