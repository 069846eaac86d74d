package viking

import (
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
)

// setTags sets the tags of a file, of the files in a directory, or of everything below it.
func (s metadata) setTags(ctx context.Context, q *query) (any, error) {
	in := struct {
		URI       string   `json:"uri"`
		Tags      []string `json:"tags"`
		Mode      string   `json:"mode"`
		Recursive bool     `json:"recursive"`
	}{Mode: "replace"}
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"replace", "append", "clear"}, in.Mode) {
		q.found.Add("mode", "must be replace, append or clear")
	}
	if in.Tags == nil && in.Mode != "clear" {
		q.found.Add("tags", "is required")
	}
	input := tagsOfRequest(q, in.Tags)
	if err := q.found.Err(); err != nil {
		return nil, err
	}
	a, err := q.caller.address("uri", in.URI)
	if err != nil {
		return nil, err
	}
	depth := len(a.uri.Names()) + 1
	command := func(k *domain.Knowledge) (domain.Command, error) {
		if !in.Recursive && len(domain.URI(k.Text.URI).Names()) > depth {
			return nil, nil
		}
		target, tags := q.target(k), input
		switch in.Mode {
		case "append":
			target.Revisions, tags = []int64{k.Revision}, k.Text.Tags.With(input)
		case "clear":
			tags = domain.Tags{}
		}
		return domain.Revise{Target: target, Changes: domain.Revised{Tags: &tags}}, nil
	}
	var done []domain.URI
	err = retryOverwritten(func() error {
		done, err = s.editor.changeAt(ctx, q, a, command)
		return err
	})
	tagged := make([]string, len(done))
	for i, uri := range done {
		tagged[i] = a.format(uri)
	}
	return map[string]any{"uri": a.String(), "mode": in.Mode, "updated_uris": tagged, "updated_count": len(tagged)}, err
}

// tagsOfRequest merges the tags of a request.
func tagsOfRequest(q *query, tags []string) domain.Tags {
	all := domain.Tags{}
	for _, set := range tagsOf(q, tags) {
		all = all.With(set)
	}
	return all
}
