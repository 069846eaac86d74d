package viking

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// contents reads and writes files.
type contents struct {
	tree    tree
	editor  editor
	index   index
	answers answers
	files   Files
}

func (s contents) routes(on route) {
	on("GET /api/v1/content/read", s.read)
	on("GET /api/v1/content/abstract", s.levelOf(domain.Abstract))
	on("GET /api/v1/content/overview", s.levelOf(domain.Overview))
	on("GET /api/v1/content/download", s.download)
	on("POST /api/v1/content/write", s.write)
	on("POST /api/v1/content/batch-write", s.writeAll)
	on("GET /api/v1/resources/read", s.read)
	on("GET /api/v1/resources/overview", s.levelOf(domain.Overview))
}

// contentAt is the content at the address of a request. X/.abstract.md and X/.overview.md always have a content: the
// summary of X.
func (s contents) contentAt(ctx context.Context, q *query) (string, *domain.Knowledge, error) {
	a, err := q.caller.address("uri", q.param("uri"))
	if err != nil {
		return "", nil, err
	}
	n, err := s.tree.findWithFacts(ctx, q.caller, a)
	if level := a.uri.Level(); errors.Is(err, domain.ErrNotFound) && level != domain.Detail {
		above := a.parent()
		if n, err = s.tree.findReadable(ctx, q.caller, above); err == nil {
			content, err := s.levelText(ctx, q, n, level)
			return content, n.item, err
		}
	}
	if err == nil && n.isDir {
		if parts, content, err := s.tree.joinParts(ctx, q, n.uri); err != nil || parts != nil {
			s.answers.giveItems(q, domain.Detail, parts...)
			return content, nil, err
		}
	}
	if err == nil && n.isDir { // a skill may be named by its directory
		if n, err = s.tree.findReadable(ctx, q.caller, a.join(domain.SkillName)); err != nil {
			err = domain.Refuse(domain.ErrPrecondition, "it is a directory").WithFix("list it, or read its overview")
		}
	}
	if err != nil {
		return "", nil, err
	}
	s.answers.giveItems(q, domain.Detail, n.items()...)
	return n.item.Text.Content, n.item, nil
}

// read answers with lines of a content.
func (s contents) read(ctx context.Context, q *query) (any, error) {
	offset, limit := q.intParam("offset", 0), q.intParam("limit", -1)
	content, _, err := s.contentAt(ctx, q)
	if err != nil {
		return nil, err
	}
	if offset <= 0 && limit < 0 {
		return content, nil
	}
	lines := strings.SplitAfter(content, "\n")
	lines = lines[min(max(offset, 0), len(lines)):]
	if limit >= 0 {
		lines = lines[:min(limit, len(lines))]
	}
	return strings.Join(lines, ""), nil
}

func (s contents) levelOf(level domain.Level) handler {
	return func(ctx context.Context, q *query) (any, error) {
		a, err := q.caller.address("uri", q.param("uri"))
		if err != nil {
			return nil, err
		}
		n, err := s.tree.findWithFacts(ctx, q.caller, a)
		if err != nil {
			return nil, err
		}
		return s.levelText(ctx, q, n, level)
	}
}

// levelText is a node's L0 or L1. It records that the caller is given it.
func (s contents) levelText(ctx context.Context, q *query, n node, level domain.Level) (string, error) {
	content, err := s.tree.levelText(ctx, q.caller, n, level)
	if err == nil && !n.isDir {
		s.answers.giveItems(q, level, n.items()...)
	}
	return content, err
}

func (s contents) download(ctx context.Context, q *query) (any, error) {
	content, k, err := s.contentAt(ctx, q)
	if err != nil {
		return nil, err
	}
	name := "context.md"
	if k != nil {
		name = domain.URI(k.Text.URI).Name()
		if k.Media != domain.MediaText {
			return s.downloadBytes(ctx, q, name, k)
		}
	}
	return attachment(name, "text/plain; charset=utf-8", []byte(content)), nil
}

// downloadBytes answers with the bytes of an item, after it has checked their digest.
func (s contents) downloadBytes(ctx context.Context, q *query, name string, k *domain.Knowledge) (any, error) {
	file, err := s.files.File(ctx, q.caller.Tenant, k.ID)
	if err != nil {
		return nil, err
	}
	var meta struct {
		Bytes struct {
			SHA256 string `json:"sha256"`
		} `json:"bytes"`
	}
	recorded := json.Unmarshal(k.Text.Meta, &meta) == nil && meta.Bytes.SHA256 != ""
	if recorded && !hashes(string(file.Bytes), meta.Bytes.SHA256) {
		return nil, domain.Refuse(domain.ErrBroken, "the stored bytes are not those that were recorded").
			WithFix("annals verify names the file; a backup has its bytes")
	}
	return attachment(name, file.ContentType, file.Bytes), nil
}

func attachment(name, contentType string, content []byte) rawAnswer {
	return rawAnswer{status: http.StatusOK, body: content, header: http.Header{
		"Content-Type":        {contentType},
		"Content-Disposition": {"attachment; filename*=UTF-8''" + url.PathEscape(name)},
	}}
}

// written describes a write.
type written struct {
	URI         string `json:"uri"`
	RootURI     string `json:"root_uri"`
	ContextType string `json:"context_type"`
	Mode        string `json:"mode"`
	Bytes       int    `json:"written_bytes"`

	Warnings []string         `json:"warnings,omitempty"`
	Queue    map[string]queue `json:"queue_status,omitempty"`
}

// write creates a file or changes its content.
func (s contents) write(ctx context.Context, q *query) (any, error) {
	var in struct {
		URI     string  `json:"uri"`
		Content *string `json:"content"`
		Mode    string  `json:"mode"`
		Wait    bool    `json:"wait"`
	}
	a, err := q.at(q.bindWrite(&in))
	if err != nil {
		return nil, err
	}
	switch {
	case in.Content == nil:
		return nil, invalid("content", "is required")
	case in.Mode == "":
		in.Mode = "replace"
	}
	n, err := s.tree.find(ctx, q.caller, a)
	there := err == nil
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return nil, err
	}
	var parts []*domain.Knowledge
	var before string
	facts, failed := s.tree.profileFacts(ctx, q.caller, a)
	if failed != nil {
		return nil, failed
	}
	if there && n.isDir {
		if parts, before, err = s.tree.joinParts(ctx, q, n.uri); err != nil {
			return nil, err
		}
		if parts == nil {
			return nil, domain.Refuse(domain.ErrPrecondition, "it is a directory")
		}
	}
	if !there {
		if err := s.tree.requireDirectory(ctx, q.caller, a); err != nil {
			return nil, err
		}
	}
	mode, known := in.Mode, there || len(facts) > 0
	isSummary := a.uri.Name() == domain.AbstractName || a.uri.Name() == domain.OverviewName
	switch {
	case !known && (mode == "upsert" || mode == "replace" && isSummary): // which is computed until somebody writes it
		mode = "create"
	case mode == "upsert":
		mode = "replace"
	}
	switch mode {
	case "create":
		if known && q.idempotencyKey() == "" { // a repeated request may find its own earlier write
			return nil, occupied(a)
		}
		switch long := len(*in.Content) > domain.MaxContent; {
		case there && (long || n.isDir):
			if before != *in.Content { // a repeated request finds its own earlier write
				err = occupied(a)
			}
		case long:
			err = s.editor.writeParts(ctx, q, a, *in.Content, nil)
		default:
			err = s.create(ctx, q, a, *in.Content)
		}
	case "replace", "append":
		if !known {
			if a.beyond {
				_, err = q.caller.assign(a)
			}
			return nil, err
		}
		content := *in.Content
		if parts == nil && there {
			parts, before = []*domain.Knowledge{n.item}, n.item.Text.Content
		}
		if in.Mode == "append" {
			content = withFacts(before, facts) + content
		} else {
			parts = append(parts, facts...) // the profile replaces them
		}
		if n.isDir || len(facts) > 0 || len(content) > domain.MaxContent {
			if in.Mode == "append" && q.idempotencyKey() != "" {
				return nil, invalid(idempotencyHeader, "is not supported where a text grows beyond %d bytes", domain.MaxContent)
			}
			err = s.editor.writeParts(ctx, q, a, content, parts)
		} else if in.Mode == "append" {
			err = s.appendTo(ctx, q, n.item, *in.Content)
		} else {
			_, err = s.editor.submitIdempotent(
				ctx, q, domain.Revise{Target: q.target(n.item), Changes: domain.Revised{Content: in.Content}, MayBeEmpty: true},
			)
		}
	default:
		return nil, invalid("mode", "must be replace, append, create or upsert")
	}
	out := written{
		URI: a.String(), RootURI: a.format(rootOf(a.uri)), ContextType: string(a.uri.ContextType()), Mode: in.Mode,
		Bytes: len(*in.Content), Warnings: q.warnings(),
	}
	if err == nil && in.Wait {
		out.Queue, err = s.index.awaitIndexed(ctx, q)
	}
	return out, err
}

func (s contents) create(ctx context.Context, q *query, a address, content string) error {
	command, err := q.remembering(a, func(r *domain.Remembered) { r.Text.Content = content })
	if err == nil {
		_, err = s.editor.submitIdempotent(ctx, q, command)
	}
	return err
}

// appendTo appends to the content of a file. If another request appends at the same time, it tries again.
func (s contents) appendTo(ctx context.Context, q *query, k *domain.Knowledge, more string) error {
	uri := domain.URI(k.Text.URI)
	return retryOverwritten(func() error {
		target, content := q.target(k), k.Text.Content+more
		target.Revisions = []int64{k.Revision}
		_, err := s.editor.submitIdempotent(
			ctx, q, domain.Revise{Target: target, Changes: domain.Revised{Content: &content}, MayBeEmpty: true},
		)
		if !errors.Is(err, domain.ErrPrecondition) {
			return err
		}
		now, lost := s.tree.reader.At(ctx, q.caller.Tenant, uri)
		if lost != nil {
			return lost
		}
		k = now
		return err
	})
}

// rootOf is the root of the tree that contains an item: of a resource, its own; else the item's directory.
func rootOf(uri domain.URI) domain.URI {
	if names := uri.Names(); len(names) > 2 && names[0] == "resources" {
		return domain.URIOfNames(names[:2]...)
	}
	return uri.Parent()
}
