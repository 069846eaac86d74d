package viking

import (
	"context"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// metadata shows the attributes of files and sets their tags.
type metadata struct {
	tree   tree
	editor editor
}

func (s metadata) routes(on route) {
	on("GET /api/v1/fs/attrs", s.attributes)
	on("POST /api/v1/fs/attrs/set_tags", s.setTags)
	on("POST /api/v1/content/set_tags", s.setTags)
}

// attributes are the metadata of a file.
type attributes struct {
	URI         string             `json:"uri"`
	ContextType domain.ContextType `json:"context_type"`
	Attributes  map[string]any     `json:"attrs"` // tags; of a file that is a memory, memory
}

// attributes answers with all attributes of a file, or with the one that key names.
func (s metadata) attributes(ctx context.Context, q *query) (any, error) {
	key, _, _ := strings.Cut(strings.TrimPrefix(q.param("key"), "attrs."), ".")
	if key != "" && key != "tags" && key != "memory" {
		return nil, invalid("key", "must be tags or memory")
	}
	a, err := q.caller.address("uri", q.param("uri"))
	if err != nil {
		return nil, err
	}
	n, err := s.tree.findReadable(ctx, q.caller, a)
	if err != nil {
		return nil, err
	}
	shown := attributes{URI: a.String(), ContextType: a.uri.ContextType(), Attributes: map[string]any{"tags": []string{}}}
	k := n.item
	if n.isDir { // the attributes of a directory are those of its description
		if k, err = s.tree.itemAt(ctx, q.caller, a.uri.Join(domain.AbstractName)); err != nil {
			return nil, err
		}
	}
	if k != nil {
		tags := append([]string{}, k.Text.Tags.Pairs("=")...)
		slices.Sort(tags)
		shown.Attributes["tags"] = tags
	}
	if !n.isDir {
		shown.ContextType = k.ContextType
		if k.ContextType == domain.Memory {
			shown.Attributes["memory"] = map[string]any{
				"id": k.ID, "category": k.Category, "type": k.Type, "owner": k.Owner,
				"created_at": stamp(k.CreatedAt.UTC()), "updated_at": stamp(k.UpdatedAt.UTC()),
			}
		}
	}
	if key != "" {
		value, there := shown.Attributes[key]
		if !there {
			return nil, invalid("key", "names an attribute that this place does not have")
		}
		shown.Attributes = map[string]any{key: value}
	}
	return shown, nil
}
