package serve

import (
	"bytes"
	"cmp"
	"net/http"
	"strings"
)

// AnyAddress stands in what is rendered once for the address of this server: see [WithAddress].
const AnyAddress = "http://annals.invalid"

// WithAddress is what was rendered, with the public address of this server, or else that at which the caller reached
// it.
func WithAddress(rendered []byte, public string, r *http.Request) []byte {
	return bytes.ReplaceAll(rendered, []byte(AnyAddress), []byte(cmp.Or(public, AddressOf(r))))
}

// AddressOf is the address at which the caller reached the server.
func AddressOf(r *http.Request) string {
	scheme, host := "http", r.Host
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		scheme = "https"
	}
	if host == "" || strings.ContainsFunc(host, isNotOfHosts) { // an answer must not contain arbitrary text of a caller
		host = "127.0.0.1:1933"
	}
	return scheme + "://" + host
}

func isNotOfHosts(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_:[]", r))
}
