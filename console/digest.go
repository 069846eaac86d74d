package console

import (
	"net/http"
	"net/url"
	"time"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
)

// digest is the page that sums up what happened in a scope.
type digest struct {
	refusal
	Digest   *api.Digest // nil until a scope is named
	Sections []digestSection
	Markdown string
}

// digestSection is a part of a digest with its label.
type digestSection struct {
	Label string
	api.DigestSection
}

func digestSections(d api.Digest) []digestSection {
	return []digestSection{
		{"New", d.New},
		{"Changed", d.Changed},
		{"Contested", d.Contested},
		{"Superseded", d.Superseded},
		{"Forgotten", d.Deleted},
		{"Found helpful", d.Helpful},
		{"Waiting for a review", d.Waiting},
	}
}

// showDigest shows the digest of a scope, also as Markdown.
func showDigest(p *page) (any, error) {
	data := &digest{}
	query := url.Values{}
	for _, name := range []string{"scope", "since", "until"} {
		if value := p.param(name); value != "" {
			query.Set(name, value)
		}
	}
	if p.Moment.Past() && p.Moment.RecordedAt != nil && !query.Has("until") {
		query.Set("until", p.Moment.RecordedAt.UTC().Format(time.RFC3339Nano))
	}
	if !query.Has("scope") {
		return data, nil
	}
	var found api.Digest
	err := p.get(&found, query, "v1", "reports", "digest")
	if err != nil {
		return nil, data.refuse(p, err, "digest", data, "scope", "since", "until")
	}
	data.Digest, data.Sections = &found, digestSections(found)
	text, err := p.api.Do(p.r.Context(), client.Request{
		Method: http.MethodGet, Path: []string{"v1", "reports", "digest"}, Query: query,
		Header: http.Header{"Accept": {"text/markdown"}},
	}, nil)
	if err == nil {
		data.Markdown = string(text.Body)
	}
	return data, err
}
