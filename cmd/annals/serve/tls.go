package serve

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// encryption are the TLS settings.
type encryption struct {
	// Certificate is read again when its file changes.
	Certificate string `group:"where" name:"tls-cert" env:"ANNALS_TLS_CERT" placeholder:"FILE" complete:"file"`

	// PrivateKey is the certificate's key.
	PrivateKey string `group:"where" name:"tls-key" env:"ANNALS_TLS_KEY" placeholder:"FILE" complete:"file"`
}

// scheme is the scheme of this server's URLs.
func (e encryption) scheme() string {
	if e.Certificate != "" {
		return "https://"
	}
	return "http://"
}

// encrypt adds TLS to a listener, if there is a certificate.
func (e encryption) encrypt(l net.Listener, logger *slog.Logger) (net.Listener, error) {
	if e.Certificate == "" && e.PrivateKey == "" {
		return l, nil
	}
	if e.Certificate == "" || e.PrivateKey == "" {
		return nil, terminal.Wrong("set both ANNALS_TLS_CERT and ANNALS_TLS_KEY", "a certificate and its key go together")
	}
	c := &certificate{encryption: e, logger: logger}
	if err := c.load(); err != nil {
		return nil, terminal.Wrong("name files with a certificate and its key, as PEM", "%s", err)
	}
	return tls.NewListener(l, &tls.Config{
		MinVersion: tls.VersionTLS12, GetCertificate: c.current,
		NextProtos: []string{"http/1.1"},
	}), nil
}

// certificate is the newest valid certificate in its files. It is safe for concurrent use.
type certificate struct {
	encryption
	logger *slog.Logger

	mu      sync.Mutex
	pair    *tls.Certificate
	written [2]time.Time // the modification times of the files
	looked  time.Time
}

// between is how long the files are not checked again.
const between = time.Second

// current answers a handshake. While the files do not match, as during a renewal, it uses the previous certificate.
func (c *certificate) current(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < between {
		return c.pair, nil
	}
	c.looked = time.Now()
	if c.times() == c.written {
		return c.pair, nil
	}
	if err := c.load(); err != nil {
		c.logger.WarnContext(hello.Context(),
			"the renewed certificate is not valid; the server keeps the previous one", "error", err)
	}
	return c.pair, nil
}

func (c *certificate) times() (at [2]time.Time) {
	for i, name := range []string{c.Certificate, c.PrivateKey} {
		if info, err := os.Stat(name); err == nil {
			at[i] = info.ModTime()
		}
	}
	return at
}

func (c *certificate) load() error {
	at := c.times()
	pair, err := tls.LoadX509KeyPair(c.Certificate, c.PrivateKey)
	if err != nil {
		return fmt.Errorf("read the certificate: %w", err)
	}
	c.pair, c.written = &pair, at
	return nil
}
