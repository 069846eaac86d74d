package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// tags are what --tag sets and --untag takes away; of the labels only those that were given, see relabel.
func (r *reviseCommand) tags() (tags, error) {
	t := tagsOf(r.Tag)
	labels, _ := t[domain.Labels].([]string)
	for _, key := range r.untagged() {
		if t[key] != nil || slices.Contains(labels, key) {
			return nil, wrong("", "%s cannot be both a --tag and an --untag", key)
		}
		t[key] = nil
	}
	return t, nil
}

// untagged are the keys and labels to be taken away.
func (r *reviseCommand) untagged() []string {
	return slices.DeleteFunc(slices.Clone(r.Untag), func(key string) bool { return strings.TrimSpace(key) == "" })
}

// relabels tells whether the change depends on the labels that are there: a merge patch replaces
// the list of them as a whole.
func (r *reviseCommand) relabels() bool {
	return len(r.untagged()) > 0 || slices.ContainsFunc(r.Tag, bare)
}

func bare(tag string) bool { return !strings.Contains(tag, "=") }

// relabel changes the labels that are there, at the revision that they were read in. Whoever else
// changes the item in between is not overwritten: it is read again.
func (r *reviseCommand) relabel(ctx context.Context, c *console, patch map[string]any) error {
	api, err := r.connect()
	if err != nil {
		return err
	}
	given, _ := patch["tags"].(tags)
	repeats := r.repeated(patch)
	const most = 10
	for try := 1; ; try++ {
		var k struct {
			Tags     map[string]any `json:"tags"`
			Revision int64          `json:"revision"`
		}
		if _, err := api.read(ctx, request{Method: http.MethodGet, Path: []string{"v1", "knowledge", r.ID}}, &k); err != nil {
			return err
		}
		patch["tags"] = r.labelled(given, listed(k.Tags[domain.Labels]))
		once := *r
		if once.Revision == 0 {
			once.Revision = k.Revision
		}
		err := once.send(ctx, c, patch, repeats)
		f, refused := errors.AsType[*failure](err)
		if refused && strings.HasSuffix(f.Type, "key-reused") && repeats != "" {
			return r.again(ctx, c, api, repeats, err)
		}
		if !refused || f.Status != http.StatusPreconditionFailed || r.Revision != 0 || try == most {
			return err
		}
	}
}

// repeated is how the log can tell that the same command was carried out before: the id of its request, which is the
// same whatever labels are there; empty without a key.
func (r *reviseCommand) repeated(patch map[string]any) string {
	if r.IdempotencyKey == "" {
		return ""
	}
	said, _ := json.Marshal([]any{r.IdempotencyKey, r.ID, r.Revision, r.As, r.OnBehalfOf, patch, r.Tag, r.untagged()})
	return fmt.Sprintf("revise-%x", sha256.Sum256(said))
}

// again answers a command that was carried out before, or refuses as it was refused if another one was.
func (r *reviseCommand) again(ctx context.Context, c *console, api *client, repeats string, refused error) error {
	var before struct {
		Items []json.RawMessage `json:"items"`
	}
	query := url.Values{"request_id": {repeats}, "stream": {domain.KnowledgeStream(r.ID)}, "limit": {"1"}}
	if _, err := api.read(ctx, request{Method: http.MethodGet, Path: []string{"v1", "events"}, Query: query}, &before); err != nil || len(before.Items) == 0 {
		return refused
	}
	a, err := api.ask(ctx, request{Method: http.MethodGet, Path: []string{"v1", "knowledge", r.ID}})
	if err != nil {
		return err
	}
	return r.print(c, a, "revised")
}

// labelled is what was given with the whole new list of labels, if that changes.
func (r *reviseCommand) labelled(given tags, there []string) tags {
	all := maps.Clone(given)
	if labels, named := given[domain.Labels]; named && (labels == nil || !slices.ContainsFunc(r.Tag, bare)) {
		return all // every label was named: labels=…, or --untag labels
	}
	added, _ := given[domain.Labels].([]string)
	labels := slices.DeleteFunc(slices.Clone(there), func(label string) bool { return slices.Contains(r.Untag, label) })
	taken := len(labels) < len(there)
	for _, label := range added {
		if !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	switch {
	case len(labels) > 0 && (taken || len(added) > 0):
		all[domain.Labels] = labels
	case taken:
		all[domain.Labels] = nil
	}
	return all
}

// listed are a tag's values, of which one is written by itself.
func listed(values any) []string {
	switch v := values.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, value := range v {
			if s, is := value.(string); is {
				all = append(all, s)
			}
		}
		return all
	}
	return nil
}
