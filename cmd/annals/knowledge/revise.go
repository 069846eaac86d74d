package knowledge

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/client"
)

type ReviseCommand struct {
	Changing

	Content *string `short:"c" placeholder:"TEXT"`
	fields
	Polarity   *string  `complete:"polarities" placeholder:"WORD"`
	Visibility *string  `complete:"visibilities" placeholder:"WORD"`
	Untag      []string `placeholder:"KEY"`
	Reason     string   `short:"r" placeholder:"TEXT"`
	Clear      []string `enum:"task,abstract,overview,category,tags,meta" placeholder:"FIELD"`
	Confirm    bool
}

func (r *ReviseCommand) Run(ctx context.Context, c *terminal.Console) error {
	patch, err := r.patch(c)
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/merge-patch+json"}}
	return r.Change(ctx, c, client.Request{Method: http.MethodPatch, Body: patch, Header: header}, "revised")
}

// patch is a merge patch (RFC 7396): null clears a field, and an absent field stays.
func (r *ReviseCommand) patch(c *terminal.Console) (map[string]any, error) {
	if r.Content != nil {
		text, err := textOf(c, *r.Content, "content", mostContent)
		if err != nil {
			return nil, err
		}
		r.Content = &text
	}
	patch, err := r.values(map[string]*string{"content": r.Content, "polarity": r.Polarity, "visibility": r.Visibility})
	if err != nil {
		return nil, err
	}
	switch tags, err := r.tags(); {
	case err != nil:
		return nil, err
	case len(tags) > 0:
		patch["tags"] = tags
	}
	for _, field := range r.Clear {
		if _, set := patch[field]; set {
			return nil, terminal.Wrong("", "%s cannot be both set and cleared", field)
		}
		patch[field] = nil
	}
	if r.Confirm {
		patch["confirm"] = true
	}
	if len(patch) == 0 {
		return nil, terminal.Wrong("annals revise --help lists what can change", "say what is to change")
	}
	if r.Reason != "" {
		patch["reason"] = r.Reason
	}
	return patch, nil
}

// tags are the changes of --tag and --untag. Labels that are not named stay, unless all of them are replaced
// (labels=…) or removed (--untag labels).
func (r *ReviseCommand) tags() (map[string]any, error) {
	t, labels := map[string]any{}, []string(nil)
	for key, values := range tagsOf(r.Tag) {
		if t[key] = any(values); len(values) == 1 && key != domain.Labels {
			t[key] = values[0]
		}
		if key == domain.Labels {
			labels = values
		}
	}
	untagged := slices.DeleteFunc(slices.Clone(r.Untag), func(key string) bool { return strings.TrimSpace(key) == "" })
	for _, key := range untagged {
		if t[key] != nil || slices.Contains(labels, key) {
			return nil, terminal.Wrong("", "%s cannot be both a --tag and an --untag", key)
		}
		t[key] = nil
	}
	if _, named := t[domain.Labels]; named && !slices.ContainsFunc(r.Tag, bare) {
		return t, nil
	}
	changed := map[string]any{}
	for _, label := range labels {
		changed[label] = true
	}
	for _, key := range untagged {
		changed[key] = nil
	}
	if len(changed) > 0 {
		t[domain.Labels] = changed
	}
	return t, nil
}

func bare(tag string) bool { return !strings.Contains(tag, "=") }
