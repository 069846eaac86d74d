package mcp

import (
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// plain puts what the SDK refuses in plain text, such as a method that it does not know, into the form that hosts read.
type plain struct {
	http.ResponseWriter
	id      any // of the message
	refused bool
}

// WriteHeader implements [http.ResponseWriter].
func (p *plain) WriteHeader(status int) {
	header := p.Header()
	if p.refused = status >= http.StatusBadRequest && strings.HasPrefix(header.Get("Content-Type"), "text/plain"); p.refused {
		header.Set("Content-Type", "application/json")
		header.Del("Content-Length")
	}
	p.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (p *plain) Write(text []byte) (int, error) {
	if !p.refused {
		return p.ResponseWriter.Write(text)
	}
	wrong := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: strings.TrimSpace(string(text))}
	if strings.HasPrefix(wrong.Message, "JSON RPC not handled") { // how the SDK says it before its newest protocol
		wrong.Code = jsonrpc.CodeMethodNotFound
	}
	if _, err := p.ResponseWriter.Write(append(refusal(p.id, wrong), '\n')); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Unwrap is for [http.ResponseController].
func (p *plain) Unwrap() http.ResponseWriter { return p.ResponseWriter }
