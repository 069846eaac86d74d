package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
)

// untrusted says why the certificate of the server that answers is not believed; nil if err is about something else.
func (c *client) untrusted(err error) *failure {
	refused, isRefused := errors.AsType[*tls.CertificateVerificationError](err)
	if !isRefused {
		return nil
	}
	return &failure{
		Code: exitUnavailable,
		Detail: fmt.Sprintf("the certificate of the server at %s is not trusted: %s",
			c.base.Redacted(), strings.TrimPrefix(refused.Err.Error(), "x509: ")),
		Fix: trusting(refused.Err),
	}
}

// trusting is what somebody can do about a certificate that is refused for a reason.
func trusting(reason error) string {
	if _, isElsewhere := errors.AsType[x509.HostnameError](reason); isElsewhere {
		return "name the server as its certificate does, with --server URL or ANNALS_SERVER"
	}
	if invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](reason); isInvalid && invalid.Reason == x509.Expired {
		return "let the server have a certificate that is valid now, or set this machine's clock"
	}
	return "if it is yours, let SSL_CERT_FILE name a file with the certificate that it was signed with, as PEM, or add that to the system's trust store"
}
