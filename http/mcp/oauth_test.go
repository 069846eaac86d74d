package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/keys"
	"github.com/annals-kb/annals/http/mcp"
	"github.com/annals-kb/annals/http/servertest"
)

// hostsAt serves /mcp to nobody, with and without an issuer of tokens.
func hostsAt(t *testing.T, oauth mcp.OAuth) string {
	t.Helper()
	cfg := annalshttp.Config{Callers: keys.Config{RootKey: rootKey}}
	cfg.Mounts = mcp.Mounts(http.NotFoundHandler(), oauth)
	server := httptest.NewServer(annalshttp.New(cfg).Handler())
	t.Cleanup(server.Close)
	return server.URL
}

func TestAHostLearnsWhereToGetAToken(t *testing.T) {
	t.Parallel()
	const issuer = "https://login.example.com/tenant"
	at := hostsAt(t, mcp.OAuth{Issuer: issuer})
	for _, path := range []string{"/mcp", "/mcp?tools=openviking"} {
		request := servertest.Request(t, "POST", at+path, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Accept: application/json")
		status, header, _ := servertest.Send(t, http.DefaultClient, request)
		servertest.Same(t, status, http.StatusUnauthorized)
		challenges, err := oauthex.ParseWWWAuthenticate(header.Values("WWW-Authenticate"))
		if err != nil || len(challenges) != 1 || challenges[0].Scheme != "bearer" {
			t.Fatalf("got %v, %v", challenges, err)
		}
		found, err := oauthex.GetProtectedResourceMetadata(
			t.Context(), challenges[0].Params["resource_metadata"], at+path, http.DefaultClient,
		)
		if err != nil {
			t.Fatal(err)
		}
		servertest.Like(t, found, map[string]any{
			"resource": at + path, "authorization_servers": []any{issuer}, "bearer_methods_supported": []any{"header"},
		})
	}

	at = hostsAt(t, mcp.OAuth{Issuer: issuer, PublicURL: "https://example.com/kb"})
	_, header, _ := servertest.Send(t, http.DefaultClient, servertest.Request(t, "POST", at+"/mcp", "{}", "X-API-Key: annals_wrong"))
	servertest.Same(t, header.Get("WWW-Authenticate"),
		`Bearer resource_metadata="https://example.com/kb/.well-known/oauth-protected-resource/mcp"`)

	at = hostsAt(t, mcp.OAuth{})
	status, header, _ := servertest.Send(t, http.DefaultClient, servertest.Request[string](t, "POST", at+"/mcp", "{}"))
	servertest.Same(t, status, http.StatusUnauthorized)
	servertest.Same(t, header.Values("WWW-Authenticate"), []string{"Bearer"})
	status, _, _ = servertest.Send(t, http.DefaultClient, servertest.Request[string](t, "GET", at+mcp.MetadataPath, nil))
	servertest.Same(t, status, http.StatusNotFound)
}
