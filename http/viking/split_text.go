package viking

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// splitCommands are the commands that write a text to one URI, or several sections into a directory, with their
// numbers in meta.
func (q *query) splitCommands(
	at, directory address, parts []section, meta map[string]any, fill func(*domain.Remembered),
) ([]domain.Submission, error) {
	submissions := make([]domain.Submission, len(parts))
	for i, part := range parts {
		meta := maps.Clone(meta)
		if len(parts) > 1 {
			at.uri = directory.uri.Join(
				fmt.Sprintf("%0*d_%s.md", len(fmt.Sprint(len(parts))), i+1, cmp.Or(segment(part.title), "part")),
			)
			meta["part"], meta["parts"] = i+1, len(parts)
		}
		encoded, err := json.Marshal(meta)
		if err != nil {
			return nil, err
		}
		command, err := q.remembering(at, func(r *domain.Remembered) {
			fill(r)
			r.Text.Content, r.Text.Task, r.Text.Meta = part.content, part.title, encoded
		})
		if err != nil {
			return nil, err
		}
		submissions[i] = q.submission(command)
	}
	return submissions, nil
}

// partNumber is the number of an item among the parts of a text, and how many there are; 0 of 0 if it is none.
func partNumber(k *domain.Knowledge) (part, parts int) {
	var meta struct {
		Part  int `json:"part"`
		Parts int `json:"parts"`
	}
	if json.Unmarshal(k.Text.Meta, &meta) != nil { // the meta of other writers may be anything
		return 0, 0
	}
	return meta.Part, meta.Parts
}

// joinParts joins the parts of a text in a directory; none if the directory has other items or lacks a part.
func (s tree) joinParts(
	ctx context.Context, q *query, directory domain.URI,
) (parts []*domain.Knowledge, content string, err error) {
	const summaries = 2 // two summaries lie before the first part
	walk := domain.Walk{By: q.caller.Principal, Below: directory, Limit: summaries + 1}
	items, err := s.reader.Below(ctx, walk)
	isFirst := func(k *domain.Knowledge) bool {
		number, _ := partNumber(k)
		return number == 1
	}
	if err != nil || !slices.ContainsFunc(items, isFirst) {
		return nil, "", err
	}
	of := 0
	err = s.eachPage(ctx, q, directory, func(items []*domain.Knowledge) error {
		for _, k := range items {
			if number, all := partNumber(k); number > 0 && domain.URI(k.Text.URI).Parent() == directory {
				parts, of = append(parts, k), all
			}
		}
		return nil
	})
	slices.SortFunc(parts, func(a, b *domain.Knowledge) int {
		first, _ := partNumber(a)
		second, _ := partNumber(b)
		return cmp.Compare(first, second)
	})
	var b strings.Builder
	for i, k := range parts {
		if number, all := partNumber(k); number != i+1 || all != of || len(parts) != of {
			return nil, "", err
		}
		b.WriteString(k.Text.Content)
	}
	return parts, b.String(), err
}

// writeParts replaces items with a text, in several parts if it is long. It deletes the first item before the others,
// so that only one of several concurrent requests succeeds. For the others the error matches domain.ErrConflict.
func (s editor) writeParts(
	ctx context.Context, q *query, a address, content string, instead []*domain.Knowledge,
) error {
	parts := []section{{content: content}}
	if len(content) > domain.MaxContent {
		parts = sections(content)
	}
	submissions, err := q.splitCommands(a, a, parts, map[string]any{}, func(r *domain.Remembered) {
		if len(instead) > 0 && domain.URI(instead[0].Text.URI).Within(a.uri) { // not a fact beside a profile
			r.Scopes = instead[0].Scopes
		}
	})
	if err != nil {
		return err
	}
	deletions := make([]domain.Submission, len(instead))
	for i, k := range instead {
		target := q.target(k)
		target.Revisions = []int64{k.Revision}
		deletions[i] = q.submission(domain.Delete{Target: target})
	}
	first := min(1, len(deletions))
	for _, some := range [][]domain.Submission{
		deletions[:first], deletions[first:], submissions[:1], submissions[1:],
	} {
		switch err := s.submitAll(ctx, some); {
		case isGone(err), errors.Is(err, domain.ErrPrecondition), errors.Is(err, domain.ErrTaken):
			return domain.Refuse(domain.ErrConflict, "another request changed the text at the same time").
				WithFix("read it, and try again")
		case err != nil:
			return err
		}
	}
	return nil
}
