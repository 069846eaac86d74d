package egress

import (
	"net/netip"
	"testing"
)

func TestAddressesOfPrivateNetworksAreNotFetched(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1::1": true, "::ffff:93.184.216.34": true,
		"10.0.0.1": false, "::ffff:10.0.0.1": false, "127.0.0.1": false, "169.254.169.254": false, "100.64.0.1": false, "fd00::1": false, "fe80::1": false,
		"64:ff9b::a00:1": false, "64:ff9b::5db8:d822": false, "64:ff9b:1::a00:1": false, // NAT64
		"2002:a00:1::1": false, "2001:0:a00:1::1": false, // 6to4, Teredo
		"192.0.0.192": false, "168.63.129.16": false, "240.0.0.1": false, "198.18.0.1": false, "0.1.2.3": false, "192.88.99.1": false,
		"::a00:1": false, "::ffff:0:a00:1": false, "2001:db8::1": false, "2001:67c::1": true,
		"fec0::1": false, "feff::1": false, "fec0::1%eth0": false, // site-local
	} {
		if got := public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: got public %t, want %t", address, got, want)
		}
	}
}

func TestAWebhookIsAPublicHTTPSAddressUnlessTheOperatorAllowsMore(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]struct{ public, private bool }{
		"https://example.com/hook?a=b": {true, true}, "http://example.com/": {false, true},
		"http://127.0.0.1:8080/": {false, true}, "https://[::1]/": {false, true}, "https://localhost/": {false, true},
		"https://a.localhost./": {false, true}, "https://intranet/": {false, true}, "https://10.1.2.3/": {false, true},
		"https://u:p@example.com/": {}, "https://example.com/#x": {}, "ftp://example.com/": {}, "example.com": {}, "": {},
	} {
		if got := CheckURL(address, false); (got == "") != want.public {
			t.Errorf("%q: got %q, want public %t", address, got, want.public)
		}
		if got := CheckURL(address, true); (got == "") != want.private {
			t.Errorf("%q: got %q, want private %t", address, got, want.private)
		}
	}
}
