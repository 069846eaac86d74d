// Package egress makes HTTP clients for addresses that callers name.
//
// Its one rule: unless the operator allows it, no request reaches an address of this machine or of its network. The
// check is made when the connection is dialled, since a name may resolve to any address.
package egress

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// ErrPrivate is the refusal of a private address.
var ErrPrivate = errors.New("an address of a private network")

// Client is a client for other servers. It follows no redirects. Unless private is set, it refuses addresses that are
// reachable only from this machine or its network; then the error of a request matches [ErrPrivate].
func Client(private bool, timeout time.Duration) *http.Client {
	dialer := &net.Dialer{Timeout: timeout / 2}
	if !private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil || !public(to.Addr()) {
				return ErrPrivate
			}
			return nil
		}
	}
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			DialContext: dialer.DialContext, DisableKeepAlives: true, TLSHandshakeTimeout: timeout / 2,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// CheckURL describes what is wrong with an address to which texts will be sent; empty if nothing is. Names are not
// resolved: the client checks what they lead to.
func CheckURL(address string, private bool) string {
	at, err := url.Parse(address)
	if err != nil || at.Hostname() == "" || at.Scheme != "http" && at.Scheme != "https" {
		return "must be a URL such as https://example.com/hook"
	}
	host := strings.TrimSuffix(strings.ToLower(at.Hostname()), ".")
	ip, parsed := netip.ParseAddr(host)
	switch {
	case at.User != nil || at.Fragment != "":
		return "must have no user, password or fragment"
	case private:
		return ""
	case parsed == nil && !public(ip), host == "localhost", strings.HasSuffix(host, ".localhost"),
		parsed != nil && !strings.Contains(host, "."):
		return "must not lead into a private network, unless the operator sets ANNALS_FETCH_PRIVATE"
	case at.Scheme != "https":
		return "must begin with https://, unless the operator sets ANNALS_FETCH_PRIVATE"
	}
	return ""
}

// special are networks that are not on the public Internet although package netip calls their addresses global. Source:
// the registries of special-purpose addresses of IANA. Some hold services of a provider, such as its metadata.
var special = prefixes(`0.0.0.0/8 100.64.0.0/10 168.63.129.16/32 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15
	198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 2001::/23 2001:db8::/32 2002::/16 3fff::/20`)

// internet contains all public addresses of IPv6, and no translated or mapped ones, which may lead into private
// networks.
var internet = netip.MustParsePrefix("2000::/3")

func prefixes(list string) (all []netip.Prefix) {
	for one := range strings.FieldsSeq(list) {
		all = append(all, netip.MustParsePrefix(one))
	}
	return all
}

// public tells whether an address is on the public Internet.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return a.IsGlobalUnicast() && !a.IsPrivate() && (a.Is4() || internet.Contains(a)) &&
		!slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}
