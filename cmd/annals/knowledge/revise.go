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

	Content    *string  `short:"c" placeholder:"TEXT"`
	Task       *string  `short:"t" placeholder:"TEXT"`
	Abstract   *string  `placeholder:"TEXT"`
	Overview   *string  `placeholder:"TEXT"`
	Type       *string  `complete:"types" placeholder:"TYPE"`
	Category   *string  `complete:"categories" placeholder:"WORD"`
	Polarity   *string  `complete:"polarities" placeholder:"WORD"`
	Scope      []string `short:"s" placeholder:"SCOPE"`
	Owner      *string  `placeholder:"ENTITY"`
	Visibility *string  `complete:"visibilities" placeholder:"WORD"`
	Tag        []string `sep:"none" placeholder:"KEY=VALUE"`
	Untag      []string `placeholder:"KEY"`
	Meta       string   `placeholder:"JSON"`
	URI        *string  `name:"uri" placeholder:"URI"`
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
	patch := map[string]any{}
	if r.Content != nil {
		text, err := textOf(c, *r.Content, "content", mostSaid)
		if err != nil {
			return nil, err
		}
		r.Content = &text
	}
	for name, value := range map[string]*string{
		"content": r.Content, "task": r.Task, "abstract": r.Abstract, "overview": r.Overview, "type": r.Type,
		"category": r.Category,
		"polarity": r.Polarity, "owner": r.Owner, "visibility": r.Visibility, "uri": r.URI,
	} {
		if value != nil {
			patch[name] = *value
		}
	}
	if len(r.Scope) > 0 {
		patch["scopes"] = r.Scope
	}
	switch tags, err := r.tags(); {
	case err != nil:
		return nil, err
	case len(tags) > 0:
		patch["tags"] = tags
	}
	meta, err := metaOf(r.Meta)
	if err != nil {
		return nil, err
	}
	if meta != nil {
		patch["meta"] = meta
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
