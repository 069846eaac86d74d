package knowledge

import (
	"slices"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
)

// tags are what --tag sets and --untag takes away. Of the labels those that are not named stay, unless all of them
// are: labels=…, or --untag labels.
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
