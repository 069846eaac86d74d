package console

import (
	"strings"
	"time"

	"github.com/annals-kb/annals/http/api"
)

// digest is the page that sums up what happened in a scope.
type digest struct {
	form               // of the filters
	Digest *api.Digest // nil until a scope is named
}

// showDigest shows the digest of a scope, also as Markdown and as HTML.
func showDigest(p *page) (any, error) {
	data := &digest{form: *newForm(p, []field{{Name: "scope"}, {Name: "since"}, {Name: "until"}})}
	query := p.params(namesOf(data.Fields)...)
	if p.Moment.Past() && p.Moment.RecordedAt != nil && !query.Has("until") {
		query.Set("until", p.Moment.RecordedAt.UTC().Format(time.RFC3339Nano))
	}
	if !query.Has("scope") {
		return data, nil
	}
	var found api.Digest
	err := p.get(&found, query, "v1", "reports", "digest")
	if err != nil {
		return nil, data.failed(p, err, "digest", data)
	}
	if data.Digest = &found; strings.HasPrefix(found.Links, "/") {
		found.Links = p.Origin() + found.Links
	}
	return data, nil
}
