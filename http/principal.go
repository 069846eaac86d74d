package http

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// authenticator finds out who is calling. The error is a refusal for the caller.
type authenticator func(*http.Request) (domain.Principal, error)

// openMode believes what the caller says about itself: whoever reaches this machine's loopback
// is trusted. A website in a browser reaches it too, by letting its own name point here; so no
// name will do that a stranger could register.
func openMode(r *http.Request) (domain.Principal, error) {
	if !local(r.Host) {
		return domain.Principal{}, domain.Refuse(errOrigin, "in open mode the server answers to this machine's names only").
			WithFix("call it as localhost or 127.0.0.1")
	}
	var found domain.Problems
	p := domain.OpenPrincipal()
	claim(r, "Annals-Actor", &p.Subject, &found)
	claim(r, "Annals-On-Behalf-Of", &p.OnBehalfOf, &found)
	if asked := r.Header.Get("Annals-Tenant"); asked != "" && asked != p.Tenant { // whoever sends it must not write elsewhere
		found.Add("Annals-Tenant", "there is one tenant, %s, while the server asks nobody for a key", p.Tenant)
	}
	return p, found.Err()
}

func claim(r *http.Request, header string, entity *domain.Entity, found *domain.Problems) {
	claimed := r.Header.Get(header)
	if claimed == "" {
		return
	}
	parsed, err := domain.ParseEntity(claimed)
	if err != nil {
		found.Add(header, "%s", err)
		return
	}
	*entity = parsed
}

// local tells whether a Host header is an address, a name without a dot, or one under localhost
// or internal, which are kept for private use.
func local(host string) bool {
	if !strings.ContainsAny(host, ".:") {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	host = strings.ToLower(host)
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".internal")
}
