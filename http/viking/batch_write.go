package viking

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// oneWrite is a file to create or replace.
type oneWrite struct {
	URI       string  `json:"uri"`
	Content   *string `json:"content"`
	Base64    string  `json:"content_base64"` // instead of content
	Mode      string  `json:"mode"`           // as of content/write; empty for upsert
	Condition struct {
		Kind string `json:"kind"`      // create_if_absent, replace_if_hash; empty for either
		Hash string `json:"base_hash"` // of the present content: SHA-256 in hexadecimal
	} `json:"precondition"`
}

// writtenAll names the created and the changed files.
type writtenAll struct {
	RootURI   string           `json:"root_uri"`
	Created   []string         `json:"created"`
	Updated   []string         `json:"updated"`
	Unchanged []string         `json:"unchanged"`
	Queue     map[string]queue `json:"queue_status,omitempty"`
}

// mostWrites is how many files one request writes.
const mostWrites = 500

// writeAll writes files below one directory. It checks every condition before it writes. A file that another request
// changes in between is refused.
func (s contents) writeAll(ctx context.Context, q *query) (any, error) {
	var in struct {
		RootURI string     `json:"root_uri"`
		Writes  []oneWrite `json:"operations"`
		Wait    bool       `json:"wait"`
	}
	if err := q.bindWrite(&in); err != nil {
		return nil, err
	}
	root, err := q.caller.address("root_uri", in.RootURI)
	if err != nil {
		return nil, err
	}
	if len(in.Writes) == 0 || len(in.Writes) > mostWrites {
		return nil, invalid("operations", "must be 1 to %d", mostWrites)
	}
	out := writtenAll{RootURI: root.String(), Created: []string{}, Updated: []string{}, Unchanged: []string{}}
	var submissions []domain.Submission
	named := map[domain.URI]int{}
	for i, one := range in.Writes {
		field := fmt.Sprintf("operations[%d]", i)
		a, err := q.caller.address(field+".uri", one.URI)
		if err != nil {
			return nil, err
		}
		if first, twice := named[a.uri]; twice {
			return nil, invalid(field+".uri", "must be another than that of operations[%d]", first)
		}
		named[a.uri] = i
		if one.Content == nil && one.Base64 != "" {
			content, err := base64.StdEncoding.DecodeString(one.Base64)
			if err != nil {
				return nil, invalid(field+".content_base64", "must be base64")
			}
			one.Content = new(string(content))
		}
		command, err := s.writeCommand(ctx, q, root, a, one)
		if err != nil {
			return nil, fieldsOf(err, func(name string) string { return field + "." + name })
		}
		uri := a.String()
		switch command.(type) {
		case nil:
			out.Unchanged = append(out.Unchanged, uri)
			continue
		case domain.Remember:
			out.Created = append(out.Created, uri)
		default:
			out.Updated = append(out.Updated, uri)
		}
		submissions = append(submissions, q.submission(command))
	}
	switch err := s.editor.submitAll(ctx, submissions); {
	case errors.Is(err, domain.ErrPrecondition), errors.Is(err, domain.ErrTaken):
		return nil, domain.Refuse(domain.ErrConflict, "another request wrote one of the files in the meantime")
	case err != nil:
		return nil, err
	}
	slices.Sort(out.Unchanged)
	if in.Wait {
		out.Queue, err = s.index.awaitIndexed(ctx, q)
	}
	return out, err
}

// writeCommand is the command for one file; nil if the content is the same.
func (s contents) writeCommand(ctx context.Context, q *query, root, a address, one oneWrite) (domain.Command, error) {
	if err := one.check(root, a); err != nil {
		return nil, err
	}
	n, err := s.tree.find(ctx, q.caller, a)
	if errors.Is(err, domain.ErrNotFound) {
		if err := s.tree.requireDirectory(ctx, q.caller, a); err != nil {
			return nil, err
		}
	}
	switch {
	case errors.Is(err, domain.ErrNotFound) && (one.Mode == "replace" || one.Mode == "append"):
		return nil, err
	case errors.Is(err, domain.ErrNotFound) && one.Condition.Kind == "replace_if_hash":
		return nil, domain.Refuse(domain.ErrConflict, "nothing lies there any more")
	case errors.Is(err, domain.ErrNotFound):
		return q.remembering(a, func(r *domain.Remembered) { r.Text.Content = *one.Content })
	case err != nil:
		return nil, err
	case n.isDir:
		return nil, domain.Refuse(domain.ErrPrecondition, "it is a directory")
	case one.Mode == "create":
		return nil, occupied(a)
	}
	content := *one.Content
	if one.Mode == "append" {
		content = n.item.Text.Content + content
	}
	switch {
	case n.item.Text.Content == content:
		return nil, nil
	case one.Condition.Kind == "create_if_absent":
		return nil, occupied(a)
	case one.Condition.Kind == "replace_if_hash" && !hashes(n.item.Text.Content, one.Condition.Hash):
		return nil, domain.Refuse(domain.ErrConflict, "the file says something else by now")
	}
	target := q.target(n.item)
	target.Revisions = []int64{n.item.Revision}
	command := domain.Revise{Target: target, Changes: domain.Revised{Content: &content}, MayBeEmpty: true}
	return command, command.Validate()
}

// check refuses an operation that is not below the directory.
func (one oneWrite) check(root, a address) error {
	var p domain.Problems
	if a.uri == root.uri || !a.uri.Within(root.uri) {
		p.Add("uri", "must lie below root_uri")
	}
	if one.Content == nil {
		p.Add("content", "is required")
	}
	if !slices.Contains([]string{"", "create", "replace", "append", "upsert"}, one.Mode) {
		p.Add("mode", "must be replace, append, create or upsert")
	}
	if !slices.Contains([]string{"", "create_if_absent", "replace_if_hash"}, one.Condition.Kind) {
		p.Add("precondition", "must be create_if_absent or replace_if_hash")
	}
	return p.Err()
}

// hashes tells whether content has this hash.
func hashes(content, hash string) bool {
	return strings.EqualFold(strings.TrimPrefix(hash, "sha256:"), fmt.Sprintf("%x", sha256.Sum256([]byte(content))))
}
