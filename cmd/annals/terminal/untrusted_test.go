package terminal

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/servertest"
)

// What is refused of a certificate is said, and what helps against that.
func TestACertificateThatIsNotTrustedIsNoSilence(t *testing.T) {
	t.Parallel()
	server := servertest.Untrusted(t)
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	later := func() time.Time { return server.Certificate().NotAfter.Add(time.Hour) }
	for name, c := range map[string]struct {
		client      *tls.Config
		detail, fix string
	}{
		"signed by nobody known": {&tls.Config{}, "is not trusted: certificate signed by unknown authority", "SSL_CERT_FILE"},
		"of another name": {
			&tls.Config{RootCAs: trusted, ServerName: "elsewhere.internal"},
			"not elsewhere.internal", "--server",
		},
		"expired": {&tls.Config{RootCAs: trusted, Time: later}, "has expired", "clock"},
	} {
		api, err := Remote{
			Server:  server.URL,
			Timeout: time.Minute,
		}.Through(&http.Transport{TLSClientConfig: c.client})
		if err != nil {
			t.Fatal(err)
		}
		_, err = api.Do(t.Context(), client.Request{Method: http.MethodGet, Path: []string{"x"}}, nil)
		f := AsFailure(err)
		if f.Code != ExitUnavailable || !strings.Contains(f.Detail, c.detail) || !strings.Contains(f.Fix, c.fix) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
