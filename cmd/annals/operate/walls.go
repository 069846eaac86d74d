package operate

import (
	"context"
	"net/http"
	"slices"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
)

// walls says which walls stand around the server's log.
func (e *examination) walls(ctx context.Context, server *client.Client) {
	var list api.Protections
	_, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "log", "walls"}}, &list)
	if err == nil {
		walls := make([]domain.Wall, len(list.Items))
		for i, wall := range list.Items {
			walls[i] = domain.Wall(wall)
		}
		e.wallsAre(walls)
		return
	}
	if code := terminal.AsFailure(err).Code; code != terminal.ExitNotFound && code != terminal.ExitRefused { // an older server, or for others to see
		e.failed("walls", err)
	}
}

func (e *examination) wallsAre(walls []domain.Wall) {
	hardening := func(wall domain.Wall) bool { return !wall.Stands && (wall.Name == "role" || wall.Name == "tenants") }
	if plain := slices.DeleteFunc(slices.Clone(walls), hardening); len(plain) == len(walls)-2 {
		walls = plain
		found := finding{Check: "hardening", Status: warned, Detail: "not configured (docs/install.md)"}
		if !slices.Contains(e.findings, found) {
			e.findings = append(e.findings, found)
		}
	}
	for _, wall := range walls {
		status, detail := fine, "stands: "+wall.Detail
		if !wall.Stands {
			status, detail = warned, "does not stand: "+wall.Detail
		}
		found := finding{Check: "wall " + wall.Name, Status: status, Detail: detail, Fix: wall.Fix}
		if !slices.Contains(e.findings, found) { // the server's database may be the one that is named
			e.findings = append(e.findings, found)
		}
	}
}
