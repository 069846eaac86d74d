package mcp

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text/scrub"
)

// queryRunes is how many characters of a text the search uses.
const queryRunes = 500

// findKnown finds an item with the content and the audience that the caller wants to remember; nil if there is none.
// Looked is the position of the log up to which the search is complete.
func findKnown(
	ctx context.Context, api *client.Client, in arguments,
) (said *client.Knowledge, looked int64, err error) {
	usual, err := scrub.New(nil, nil)
	if err != nil {
		return nil, 0, err
	}
	content, contentErr := recordedForms(ctx, usual, in.text("content"))
	task, taskErr := recordedForms(ctx, usual, in.text("task"))
	if err := errors.Join(contentErr, taskErr); err != nil || content[0] == "" {
		return nil, 0, err
	}
	level, question := int(domain.Detail), []rune(content[0])
	found, err := api.Search(ctx, client.Search{
		Query: string(question[:min(queryRunes, len(question))]), Order: "score", Level: &level, Position: true, Copies: true,
	})
	if err != nil {
		return nil, 0, renameFields(err, map[string]string{"query": "content"})
	}
	for _, h := range found.Items {
		k := h.Knowledge
		if !slices.Contains(content, strings.TrimSpace(k.Content)) || !slices.Contains(task, strings.TrimSpace(k.Task)) ||
			kindOf(*k) != in.text("category") || in.text("polarity") != "" && k.Polarity != in.text("polarity") ||
			len(in.texts("scopes")) > 0 && !domain.SameScopes(k.Scopes, in.texts("scopes")) {
			continue
		}
		if !domain.Category(in.text("category")).AboutUser() {
			return k, *found.Position, nil
		}
		who, err := api.Whoami(ctx)
		if err != nil {
			return nil, 0, err
		}
		if k.Owner == cmp.Or(who.OnBehalfOf, who.Subject) {
			return k, *found.Position, nil
		}
	}
	return nil, *found.Position, nil
}

// recordedForms are the forms in which a text may be recorded: as it is, or with redacted secrets. It does not know
// the rules of the tenant: texts that those redact are remembered again.
func recordedForms(ctx context.Context, usual *scrub.Scrubber, said string) ([]string, error) {
	said = strings.TrimSpace(said)
	scrubbed, _, err := usual.Scrub(ctx, said)
	return []string{said, scrubbed}, err
}

// confirmKnown counts repeated content as a helpful vote, one per voter and day. It changes nothing if the voter has
// already voted that day.
func confirmKnown(ctx context.Context, api *client.Client, k client.Knowledge) (any, string, error) {
	done, err := api.GiveFeedback(ctx, k.ID, client.Vote{Verdict: "helpful", Outcome: "said again"})
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == http.StatusConflict {
		done, err = client.Receipt{Knowledge: k, Outcome: "unchanged"}, nil
	}
	if err != nil {
		return nil, "", err
	}
	c := changedOf(done)
	if c.Outcome != "unchanged" {
		c.Outcome = "restated"
	}
	return c, c.says("Known already:"), nil
}
