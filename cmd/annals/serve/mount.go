package serve

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/annals-kb/annals/cmd/annals/terminal"

	annalsclient "github.com/annals-kb/annals/client"

	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/mcp"
	"github.com/annals-kb/annals/viking"
)

// mountViking puts the OpenViking-compatible surface where its clients look for it.
func mountViking(cfg viking.Config) annalshttp.Mount {
	surface := viking.New(cfg)
	paths, public := viking.Paths()
	return annalshttp.Mount{
		Paths: paths, Public: public, Handler: surface.Answer, Refuse: surface.Refuse, As: viking.As, MaxBody: viking.MaxBody,
	}
}

// hashedKey makes a key, with what is kept of it.
func hashedKey() (prefix, key, hash string) {
	prefix, key = annalshttp.NewKey()
	return prefix, key, annalshttp.HashOfKey(key)
}

// mountMCP lets MCP hosts use the API. Its requests have the time of the host's, and are made once.
func mountMCP(api http.HandlerFunc, logger *slog.Logger) (annalshttp.Mount, error) {
	inner, err := annalsclient.New(annalsclient.Config{Transport: mcp.Inside(api), Timeout: -1, Retries: -1})
	if err != nil {
		return annalshttp.Mount{}, fmt.Errorf("mount /mcp: %w", err)
	}
	hosts := mcp.New(mcp.Config{API: inner, Version: terminal.Version().Version, Logger: logger}).Handler()
	return annalshttp.Hosted("/mcp", hosts, mcp.Refuse), nil
}
