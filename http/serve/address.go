package serve

import (
	"net/http"
	"strings"
)

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
