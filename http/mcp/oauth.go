package mcp

import (
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/serve"
)

// MetadataPath is the path of the metadata of /mcp (RFC 9728).
const MetadataPath = "/.well-known/oauth-protected-resource/mcp"

// OAuth tells hosts without a token which OpenID provider gives them one.
type OAuth struct {
	Issuer    string // of the accepted tokens
	PublicURL string // what addresses begin with; empty for the address that the host called
}

// addressOf is an address of this server with the parameters of a request.
func (o OAuth) addressOf(r *http.Request, path string) string {
	address := cmp.Or(o.PublicURL, serve.AddressOf(r)) + path
	if parameters := r.URL.Query().Encode(); parameters != "" { // a host compares whole addresses
		address += "?" + parameters
	}
	return address
}

// Mounts are the routes for hosts. Where tokens are accepted, a host without one learns who gives it one.
func Mounts(hosts http.Handler, oauth OAuth) []annalshttp.Mount {
	if oauth.Issuer == "" {
		return []annalshttp.Mount{annalshttp.Hosted("/mcp", hosts, Refuse)}
	}
	refuse := func(w http.ResponseWriter, r *http.Request, status int, problem json.RawMessage) {
		if status == http.StatusUnauthorized {
			w.Header().Set("Www-Authenticate", `Bearer resource_metadata="`+oauth.addressOf(r, MetadataPath)+`"`)
		}
		Refuse(w, r, status, problem)
	}
	paths := []string{MetadataPath}
	return []annalshttp.Mount{
		annalshttp.Hosted("/mcp", hosts, refuse), {Paths: paths, Public: paths, Handler: oauth.metadata},
	}
}

func (o OAuth) metadata(w http.ResponseWriter, r *http.Request) error {
	auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: o.addressOf(r, "/mcp"), AuthorizationServers: []string{o.Issuer},
		BearerMethodsSupported: []string{"header"}, ResourceName: "Annals",
	}).ServeHTTP(w, r)
	return nil
}
