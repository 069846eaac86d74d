package viking

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// attributes are the metadata of a file.
type attributes struct {
	URI         string             `json:"uri"`
	ContextType domain.ContextType `json:"context_type"`
	Attributes  map[string]any     `json:"attrs"` // tags; of a file that is a memory, memory
}

// attributes answers with all attributes of a file, or with the one that key names.
func (s *Server) attributes(ctx context.Context, q *query) (any, error) {
	key, _, _ := strings.Cut(strings.TrimPrefix(q.param("key"), "attrs."), ".")
	if key != "" && key != "tags" && key != "memory" {
		return nil, invalid("key", "must be tags or memory")
	}
	a, err := q.caller.address("uri", q.param("uri"))
	if err != nil {
		return nil, err
	}
	n, err := s.findReadable(ctx, q.caller, a)
	if err != nil {
		return nil, err
	}
	shown := attributes{URI: a.String(), ContextType: a.uri.ContextType(), Attributes: map[string]any{"tags": []string{}}}
	k := n.item
	if n.isDir { // the attributes of a directory are those of its description
		if k, err = s.itemAt(ctx, q.caller, a.uri.Join(domain.AbstractName)); err != nil {
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

// unreadItem is an item whose newest event has no vectors yet.
type unreadItem struct {
	URI   string       `json:"uri"`
	Path  string       `json:"path"`
	Level domain.Level `json:"level"`
}

// consistency compares the items at and below an address with their vectors. It counts the items that a search by
// meaning does not find yet.
func (s status) consistency(ctx context.Context, q *query) (any, error) {
	var in struct {
		URI string `json:"uri"`
	}
	a, err := q.at(q.bind(&in))
	if err != nil {
		return nil, err
	}
	meaning, err := s.meaningStatus(ctx, q)
	if err != nil {
		return nil, err
	}
	const most = 100
	items, missing, list := 0, 0, []unreadItem{}
	err = s.walkItems(ctx, q, a, func(k *domain.Knowledge) error {
		items++
		if k.Position > meaning.Position {
			uri := domain.URI(k.Text.URI)
			if missing++; len(list) < most {
				path := strings.TrimPrefix(strings.TrimPrefix(string(uri), string(a.uri)), "/")
				list = append(list, unreadItem{URI: a.format(uri), Path: path, Level: uri.Level()})
			}
		}
		return nil
	})
	far := errors.Is(err, errTruncated)
	if err != nil && !far {
		return nil, err
	}
	return map[string]any{
		"ok": missing == 0 && !far, "expected_count": items, "missing_record_count": missing,
		"missing_records": list, "missing_records_truncated": missing > len(list) || far,
	}, nil
}
