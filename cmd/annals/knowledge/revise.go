package knowledge

import (
	"context"
	"net/http"

	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

type ReviseCommand struct {
	Changing

	Content    *string  `short:"c" placeholder:"TEXT" help:"What it says; - reads it from standard input."`
	Task       *string  `short:"t" placeholder:"TEXT" help:"What one was doing, in which situation."`
	Abstract   *string  `placeholder:"TEXT" help:"A sentence or two instead of the text."`
	Overview   *string  `placeholder:"TEXT" help:"A page or two instead of the text."`
	Type       *string  `complete:"types" placeholder:"TYPE" help:"user_profile, strategy, tool, usecase, definition or plan."`
	Category   *string  `complete:"categories" placeholder:"WORD" help:"profile, preferences, entities, events, cases, patterns, tools, skills or antipatterns."`
	Polarity   *string  `complete:"polarities" placeholder:"WORD" help:"positive, or negative: a failure to avoid."`
	Scope      []string `short:"s" placeholder:"SCOPE" help:"Who may see it, from now on: the whole new set. Repeat for more."`
	Owner      *string  `placeholder:"ENTITY" help:"Whose it is, from now on."`
	Visibility *string  `complete:"visibilities" placeholder:"WORD" help:"What the scopes should come to: private, shared, org or public. Refused if they do not."`
	Tag        []string `sep:"none" placeholder:"KEY=VALUE" help:"Set a tag, or add a label without KEY=; the others stay. Repeat for more."`
	Untag      []string `placeholder:"KEY" help:"Take a tag or a label away."`
	Meta       string   `placeholder:"JSON" help:"Merge into the object with whatever else you keep."`
	URI        *string  `name:"uri" placeholder:"URI" help:"Where it lies, from now on."`
	Reason     string   `short:"r" placeholder:"TEXT" help:"Why. It stays in the history."`
	Clear      []string `enum:"task,abstract,overview,category,tags,meta" placeholder:"FIELD" help:"Empty a field: task, abstract, overview, category, tags or meta."`
}

// Help implements kong.HelpProvider.
func (ReviseCommand) Help() string {
	return `Examples:

    annals revise retry-advice --content "Honour Retry-After, then add jitter" --reason "the RFC says so" --revision 3
    annals revise retry-advice --scope team:web --scope org:acme
    annals revise retry-advice --tag domain=http --untag draft`
}

// Run implements the command.
func (r *ReviseCommand) Run(ctx context.Context, c *terminal.Console) error {
	patch, err := r.patch(c)
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/merge-patch+json"}}
	return r.Change(ctx, c, client.Request{Method: http.MethodPatch, Body: patch, Header: header}, "revised")
}

// patch is a merge patch (RFC 7396): null clears, what is not named stays.
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
		"content": r.Content, "task": r.Task, "abstract": r.Abstract, "overview": r.Overview, "type": r.Type, "category": r.Category,
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
	if len(patch) == 0 {
		return nil, terminal.Wrong("annals revise --help lists what can change", "say what is to change")
	}
	if r.Reason != "" {
		patch["reason"] = r.Reason
	}
	return patch, nil
}
