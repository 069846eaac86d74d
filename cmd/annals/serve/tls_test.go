package serve

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/annals-kb/annals/http/servertest"
)

// certify writes a certificate and its key.
func (e encryption) certify(t *testing.T, number int64) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := &x509.Certificate{
		SerialNumber: big.NewInt(number), Subject: pkix.Name{CommonName: "annals"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	signed, err := x509.CreateCertificate(rand.Reader, made, made, public, private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		e.Certificate: {Type: "CERTIFICATE", Bytes: signed},
		e.PrivateKey:  {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(number) * time.Minute) // whatever the file system's clock
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

func TestARenewedCertificateIsUsedWithoutARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := encryption{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	e.certify(t, 1)
	c := &certificate{encryption: e, logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	shown := func() int64 {
		here, there := net.Pipe()
		c.looked = time.Time{} // a second has passed
		server := tls.Server(there, &tls.Config{GetCertificate: c.current})
		done := make(chan error, 1)
		go func() { done <- server.HandshakeContext(t.Context()) }()
		client := tls.Client(here, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // what is shown is what is asked
		if err := client.HandshakeContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		return client.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	servertest.Same(t, shown(), 1, "first got certificate")
	e.certify(t, 2)
	servertest.Same(t, shown(), 2, "renewed got certificate")
	if err := os.WriteFile(e.PrivateKey, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	servertest.Same(t, shown(), 2, "half renewed got certificate")
}

func TestACertificateNeedsItsKey(t *testing.T) {
	t.Parallel()
	for _, e := range []encryption{{Certificate: "x"}, {PrivateKey: "x"}, {"nowhere", "nowhere"}} {
		if _, err := e.encrypt(nil, slog.Default()); err == nil {
			t.Errorf("%+v is accepted", e)
		}
	}
}
