package http

import (
	"bytes"
	"crypto/tls"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// address finds the addresses of this server in a page. People's texts have no quotation marks that are not escaped.
var address = regexp.MustCompile(` (href|src|action|formaction|hx-get|hx-post|data-events|data-verifier)="/`)

// behind answers at a public address, if there is one. A proxy passes requests on without the path of the address, and
// the answers lead back to below that path.
func behind(public string, next http.Handler) http.Handler {
	at, err := url.Parse(public)
	if public == "" || err != nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at.Scheme == "https" && r.TLS == nil && strings.EqualFold(r.Host, at.Host) {
			r = r.WithContext(r.Context())
			r.TLS = &tls.ConnectionState{} // the proxy's
		}
		if at.Path == "" {
			next.ServeHTTP(w, r)
			return
		}
		r = r.Clone(r.Context())
		r.Header.Del("Accept-Encoding") // addresses in a compressed page could not be found; the proxy compresses it
		out := &below{ResponseWriter: w, path: at.Path}
		next.ServeHTTP(out, r)
		if out.page.Len() > 0 {
			_, _ = w.Write(address.ReplaceAll(out.page.Bytes(), []byte(` ${1}="`+at.Path+`/`)))
		}
	})
}

// below puts a path before the addresses of an answer.
type below struct {
	http.ResponseWriter
	path  string
	begun bool
	html  bool
	page  bytes.Buffer // until the whole page is known
}

// Unwrap is for [http.NewResponseController].
func (b *below) Unwrap() http.ResponseWriter { return b.ResponseWriter }

func (b *below) WriteHeader(status int) {
	h := b.Header()
	for _, name := range []string{"Location", "Hx-Redirect"} {
		if to := h.Get(name); strings.HasPrefix(to, "/") {
			h.Set(name, b.path+to)
		}
	}
	for i, cookie := range h["Set-Cookie"] {
		if !strings.HasPrefix(cookie, "__Host-") { // whose path is that of the host
			h["Set-Cookie"][i] = strings.Replace(cookie, "; Path=/", "; Path="+b.path+"/", 1)
		}
	}
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	if b.begun, b.html = true, kind == "text/html"; b.html {
		h.Del("Content-Length")
	}
	b.ResponseWriter.WriteHeader(status)
}

func (b *below) Write(some []byte) (int, error) {
	if !b.begun {
		b.WriteHeader(http.StatusOK)
	}
	if b.html {
		return b.page.Write(some)
	}
	return b.ResponseWriter.Write(some)
}
