package operate

import (
	"context"
	"net/http"
	"net/url"

	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/proof"
)

// certificate prints what proves, to anybody who has the public key, that something was erased: the record that
// says so, and a signed proof that it is in the log.
func (e *EraseCommand) certificate(ctx context.Context, c *terminal.Console, server *client.Client) error {
	stream := "knowledge:" + e.Certificate
	query := url.Values{"stream": {stream}, "name": {"knowledge.erased"}, "limit": {"1"}}
	var found struct {
		Items []struct {
			EventID string `json:"event_id"`
		} `json:"items"`
	}
	if _, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "events"}, Query: query}, &found); err != nil {
		return err
	}
	if len(found.Items) == 0 {
		return &terminal.Failure{Code: terminal.ExitNotFound, Detail: "no erasure of it is recorded", Fix: "annals history " + e.Certificate + " shows what is"}
	}
	var certificate proof.Certificate
	a, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "log", "proof", found.Items[0].EventID}}, &certificate)
	if err != nil {
		return err
	}
	c.Note("anybody verifies it with: annals verify FILE --key KEY, which annals proof key prints")
	return c.Document(a.Body)
}
