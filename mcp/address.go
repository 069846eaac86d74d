package mcp

import (
	"context"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addressHeader tells a tool at which address its host has called. Whatever a host says there itself is replaced.
const addressHeader = "Annals-Called-At"

// addressed notes at which address a host calls: a server that listens on every address of its machine knows none.
func addressed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address := "http://" + r.Host
		if r.TLS != nil {
			address = "https://" + r.Host
		}
		r.Header.Set(addressHeader, address)
		next.ServeHTTP(w, r)
	})
}

type addressKey struct{}

// calling puts the address that a host has called into the context.
func calling(ctx context.Context, extra *sdk.RequestExtra) context.Context {
	if extra == nil {
		return ctx
	}
	return context.WithValue(ctx, addressKey{}, extra.Header.Get(addressHeader))
}

// calledAt is the address that a host has called; empty for one that has started this process.
func calledAt(ctx context.Context) string {
	address, _ := ctx.Value(addressKey{}).(string)
	return address
}
