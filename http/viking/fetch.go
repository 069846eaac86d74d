package viking

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/egress"
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

// fetcher is a client for other servers. It follows a few redirects.
func fetcher(private bool) *http.Client {
	client := egress.Client(private, fetchTime)
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > mostRedirect || r.URL.Scheme != "http" && r.URL.Scheme != "https" {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return client
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
	case errors.Is(err, egress.ErrPrivate):
		return source{}, domain.Refuse(domain.ErrForbidden, "the URL leads into a private network").
			WithFix("upload the file, or let the server be started with --fetch-private")
	case err != nil:
		return source{}, invalid("path", "nothing could be fetched from there: %s", whyNotFetched(err))
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

// whyNotFetched says in words why a request failed, without its URL.
func whyNotFetched(err error) string {
	_, isName := errors.AsType[*net.DNSError](err)
	waited, isNet := errors.AsType[net.Error](err)
	switch {
	case isName:
		return "its host name does not resolve (DNS)"
	case isNet && waited.Timeout():
		return fmt.Sprintf("there was no answer within %s", fetchTime)
	case strings.Contains(err.Error(), "tls: "):
		return "its certificate or its TLS is not accepted"
	}
	return "the connection failed"
}

// extensionOf is the usual extension of files of a content type.
func extensionOf(contentType string) string {
	kind, _, _ := mime.ParseMediaType(contentType)
	usual := map[string]string{
		"text/html": ".html", "text/markdown": ".md", "text/plain": ".txt", "application/json": ".json",
		"application/pdf": ".pdf",
	}
	if extension, known := usual[kind]; known {
		return extension
	}
	if extensions, err := mime.ExtensionsByType(kind); err == nil && len(extensions) > 0 {
		return extensions[0]
	}
	return ""
}
