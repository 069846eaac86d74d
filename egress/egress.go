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
		return "must not lead into a private network, unless the server is started with --fetch-private"
	case at.Scheme != "https":
		return "must begin with https://, unless the server is started with --fetch-private"
	}
	return ""
}

// privatePrefixes are private networks that package netip does not know: networks shared by customers of a provider
// (RFC 6598), and site-local addresses (RFC 3879). Translated addresses can also lead into private networks: NAT64 (RFC
// 6052 and RFC 8215), 6to4 (RFC 3056) and Teredo (RFC 4380).
var privatePrefixes = []netip.Prefix{
	netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("fec0::/10"),
}

// public tells whether an address is on the public Internet.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return a.IsGlobalUnicast() && !a.IsPrivate() && !a.IsLoopback() && !a.IsLinkLocalUnicast() &&
		!slices.ContainsFunc(privatePrefixes, func(p netip.Prefix) bool { return p.Contains(a) })
}
