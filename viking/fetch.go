package viking

import (
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"syscall"
	"time"

	"github.com/annals-kb/annals/domain"
)

// The limits of a file from another server.
const (
	maxFetched   = 20 << 20
	fetchTime    = 20 * time.Second
	mostRedirect = 5
)

// source is a file that was uploaded or fetched.
type source struct {
	name        string // with its extension
	contentType string // if known
	bytes       []byte
	path        string // the path or URL that the caller gave
	url         string

	files  []source // of a directory: its files, those in directories included
	unread []string // of a directory: the omitted files with the reasons
	under  []string // of a file in a directory: the names of the directories between

	content string // its text
	isText  bool   // false for a file that was not parsed
}

// errPrivate is the refusal of a private address.
var errPrivate = errors.New("an address of a private network")

// fetcher is a client for other servers. Unless private is set, it refuses addresses that are reachable only from
// this machine or its network. It checks the address when it dials, since a name may resolve to any address.
func fetcher(private bool) *http.Client {
	dialer := &net.Dialer{Timeout: fetchTime / 2}
	if !private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil || !public(to.Addr()) {
				return errPrivate
			}
			return nil
		}
	}
	return &http.Client{
		Timeout: fetchTime,
		Transport: &http.Transport{
			DialContext: dialer.DialContext, DisableKeepAlives: true, TLSHandshakeTimeout: fetchTime / 2,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > mostRedirect || r.URL.Scheme != "http" && r.URL.Scheme != "https" {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
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

// fetch downloads a URL.
func (s resources) fetch(ctx context.Context, address string) (source, error) {
	at, err := url.Parse(address)
	if err != nil || at.Host == "" {
		return source{}, invalid("path", "is no URL")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return source{}, invalid("path", "is no URL")
	}
	request.Header.Set("Accept", "text/markdown, text/plain, text/html, application/json, */*;q=0.1")
	response, err := s.fetcher.Do(request)
	switch {
	case errors.Is(err, errPrivate):
		return source{}, domain.Refuse(domain.ErrForbidden, "the URL leads into a private network").
			WithFix("upload the file, or let the server be started with --fetch-private")
	case err != nil:
		return source{}, invalid("path", "nothing could be fetched from there")
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	if response.StatusCode != http.StatusOK {
		return source{}, invalid("path", "is answered there with status %d", response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxFetched+1))
	if err != nil {
		return source{}, invalid("path", "the download ended too early")
	}
	if len(body) > maxFetched {
		return source{}, domain.Refuse(domain.ErrTooLarge, "what is there has more than %d bytes", maxFetched)
	}
	fetched := source{
		name: path.Base(response.Request.URL.Path), contentType: response.Header.Get("Content-Type"), bytes: body,
		path: address, url: address,
	}
	if fetched.name == "/" || fetched.name == "." {
		fetched.name = at.Hostname()
	}
	if path.Ext(fetched.name) == "" {
		fetched.name += extensionOf(fetched.contentType)
	}
	return fetched, nil
}

// extensionOf is the usual extension of files of a content type.
func extensionOf(contentType string) string {
	kind, _, _ := mime.ParseMediaType(contentType)
	for _, known := range []struct{ kind, extension string }{
		{"text/html", ".html"},
		{"text/markdown", ".md"},
		{"text/plain", ".txt"},
		{"application/json", ".json"},
		{"application/pdf", ".pdf"},
	} {
		if known.kind == kind {
			return known.extension
		}
	}
	if extensions, err := mime.ExtensionsByType(kind); err == nil && len(extensions) > 0 {
		return extensions[0]
	}
	return ""
}
