package viking

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
)

// resources makes items of files, directories and web pages.
type resources struct {
	tree      tree
	editor    editor
	index     index
	files     Files
	fetcher   *http.Client
	host      []string  // directories of this machine
	documents Documents // nil to store them as bytes
}

func (s resources) routes(on route) {
	on("POST /api/v1/resources/temp_upload", s.upload)
	on("POST /api/v1/resources", s.addResource)
	on("DELETE /api/v1/resources", s.removeResource)
}

// maxUpload is the largest size of an uploaded file, in bytes.
const maxUpload = 100 << 20

// MaxBody is the largest size of a request, in bytes: a file and its multipart envelope.
const MaxBody = maxUpload + 1<<20

// upload stores a file for a day, or until a request makes it a resource.
func (s resources) upload(ctx context.Context, q *query) (any, error) {
	const inMemory = 8 << 20
	if err := q.request.ParseMultipartForm(inMemory); err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return nil, domain.Refuse(errBody, "a file may have at most %d bytes", maxUpload)
		}
		return nil, domain.Refuse(domain.ErrMalformed, "the body must be multipart/form-data with a file")
	}
	defer q.request.MultipartForm.RemoveAll() //nolint:errcheck // the system's temporary files
	file, header, err := q.request.FormFile("file")
	if err != nil {
		return nil, invalid("file", "is required")
	}
	defer file.Close() //nolint:errcheck // it was only read
	if header.Size > maxUpload {
		return nil, domain.Refuse(errBody, "a file may have at most %d bytes", maxUpload)
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, domain.Refuse(domain.ErrMalformed, "the body ended too early")
	}
	id := "upload_" + strings.ReplaceAll(newID(), "-", "")
	err = s.files.Keep(ctx, q.caller.Tenant, domain.File{
		ID: id, Waits: true, Uploader: q.caller.EffectiveSubject(), Name: header.Filename,
		ContentType: header.Header.Get("Content-Type"), Bytes: content, UploadedAt: time.Now().UTC(),
	})
	return map[string]string{"temp_file_id": id, "temp_path": id}, err
}

// uploaded is a file that the caller uploaded.
func (s resources) uploaded(ctx context.Context, q *query, id string) (source, error) {
	file, err := s.files.File(ctx, q.caller.Tenant, id)
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return source{}, err
	}
	if err != nil || !file.Waits || file.Uploader != q.caller.EffectiveSubject() {
		return source{}, domain.Refuse(domain.ErrForbidden, "that is no file that the caller uploaded")
	}
	return source{name: file.Name, contentType: file.ContentType, bytes: file.Bytes, path: file.Name}, nil
}

// resourceRequest names a source and a target.
type resourceRequest struct {
	Path        string `json:"path"`
	FileID      string `json:"temp_file_id"`
	TempPath    string `json:"temp_path"`
	To          string `json:"to"`
	Parent      string `json:"parent"`
	Reason      string `json:"reason"`
	Instruction string `json:"instruction"`
	SourceName  string `json:"source_name"` // replaces the name of the file
	Wait        bool   `json:"wait"`

	// Of a directory: names of directories to omit, and patterns of file names; separated by commas.
	IgnoreDirs string `json:"ignore_dirs"`
	Include    string `json:"include"`
	Exclude    string `json:"exclude"`

	Tags oneOrMore `json:"tags"` // key=value, of each item

	tags   domain.Tags
	scopes []domain.Scope // of the content that is replaced
}

// resourceAdded describes the result.
type resourceAdded struct {
	Status  string         `json:"status"`
	RootURI string         `json:"root_uri"`
	Path    string         `json:"source_path"`
	Meta    map[string]any `json:"meta"`
	Errors  []string       `json:"errors"`
	// Warnings lists options of the request that have no effect.
	Warnings []string         `json:"warnings,omitempty"`
	Queue    map[string]queue `json:"queue_status,omitempty"`
}

// addResource adds a file or a directory as a tree of items.
func (s resources) addResource(ctx context.Context, q *query) (any, error) {
	var in resourceRequest
	if err := q.bindWrite(&in); err != nil {
		return nil, err
	}
	switch in.FileID = cmp.Or(in.FileID, in.TempPath); {
	case in.Path == "" && in.FileID == "":
		return nil, invalid("path", "is required, or temp_file_id")
	case in.To != "" && in.Parent != "":
		return nil, invalid("to", "must not be given beside parent")
	}
	root, err := in.root(q)
	if err != nil {
		return nil, err
	}
	if in.tags = tagsOfRequest(q, in.Tags); q.found != nil {
		return nil, q.found.Err()
	}
	file, err := s.source(ctx, q, in)
	if err != nil {
		return nil, err
	}
	if err := s.readAll(ctx, &file); err != nil {
		return nil, err
	}
	root, unkept, err := s.store(ctx, q, in, root, file)
	if err != nil {
		return nil, err
	}
	if in.FileID != "" {
		if err := s.files.Drop(ctx, q.caller.Tenant, in.FileID); err != nil {
			return nil, err
		}
	}
	added := resourceAdded{
		Warnings: q.warnings(), Status: "success", RootURI: root.String(), Path: file.path, Meta: map[string]any{},
		Errors: []string{},
	}
	added.Errors = append(append(added.Errors, file.unread...), unkept...)
	if in.Wait {
		added.Queue, err = s.index.awaitIndexed(ctx, q)
	}
	return added, err
}

// source is the file that a request names, with the name that it gives it; of an archive, its content.
func (s resources) source(ctx context.Context, q *query, in resourceRequest) (file source, err error) {
	switch {
	case in.FileID != "":
		file, err = s.uploaded(ctx, q, in.FileID)
	case strings.HasPrefix(in.Path, "http://"), strings.HasPrefix(in.Path, "https://"):
		file, err = s.fetch(ctx, in.Path)
	default:
		file, err = s.onHost(in)
	}
	if err != nil {
		return file, err
	}
	isZip := file.isZip()
	if in.SourceName != "" {
		name := path.Base(strings.ReplaceAll(in.SourceName, `\`, "/"))
		if path.Ext(name) == "" && !isZip && file.files == nil {
			name += path.Ext(file.name)
		}
		file.name = name
		if in.FileID != "" {
			file.path = in.SourceName
		}
	}
	if isZip {
		return in.unpackZip(file)
	}
	return file, nil
}

// root is the target of a request, or with parent the directory of the target.
func (in resourceRequest) root(q *query) (address, error) {
	field, uri := "to", in.To
	if uri == "" {
		field, uri = "parent", cmp.Or(in.Parent, "viking://resources")
	}
	a, err := q.caller.address(field, uri)
	if err != nil {
		return a, err
	}
	if !a.uri.Within("viking://resources") || field == "to" && a.uri == "viking://resources" {
		return a, invalid(field, "must lie below viking://resources")
	}
	if a.beyond {
		return a, domain.Refuse(domain.ErrForbidden, "the uri is another tenant's than the caller's")
	}
	return a, nil
}

// store writes a file to its target and replaces what is there. Without a target it picks a free name; it skips names
// that are occupied, even by items that the caller may not see.
func (s resources) store(
	ctx context.Context, q *query, in resourceRequest, root address, file source,
) (at address, unkept []string, err error) {
	if in.To != "" {
		if in.scopes, err = s.clearPlace(ctx, q, root); err != nil {
			return root, nil, err
		}
		unkept, err = s.storeAll(ctx, q, root, in, file)
		return root, unkept, err
	}
	for n := 0; ; n++ {
		at, name := root, file.stem()
		if n > 0 {
			name = fmt.Sprintf("%s_%d", name, n)
		}
		at.uri = root.uri.Join(name)
		_, err := s.tree.find(ctx, q.caller, at)
		if err == nil {
			continue
		}
		if !errors.Is(err, domain.ErrNotFound) {
			return at, nil, err
		}
		unkept, err = s.storeAll(ctx, q, at, in, file)
		if !errors.Is(err, domain.ErrTaken) {
			return at, unkept, err
		}
	}
}

// clearPlace deletes what an address contains, and returns its audience, which the new content inherits.
func (s resources) clearPlace(ctx context.Context, q *query, at address) (scopes []domain.Scope, err error) {
	_, err = s.editor.changeAt(ctx, q, at, func(k *domain.Knowledge) (domain.Command, error) {
		if scopes != nil && !slices.Equal(scopes, k.Scopes) {
			return nil, domain.Refuse(domain.ErrPrecondition, "nothing was changed: the items there have different audiences").
				WithFix("choose another place, or remove them first")
		}
		if slices.ContainsFunc(k.Scopes, func(scope domain.Scope) bool { return !q.caller.MayPublish(scope) }) {
			return nil, domain.Refuse(
				domain.ErrForbidden, "nothing was changed: the caller may not write for the audience of the items there",
			)
		}
		scopes = k.Scopes
		return q.deleteCommand(k)
	})
	if errors.Is(err, domain.ErrNotFound) {
		err = nil
	}
	return scopes, err
}

// storeFile writes the parts of a text file, or the bytes of another file.
func (s resources) storeFile(ctx context.Context, q *query, root address, in resourceRequest, file source) error {
	meta := map[string]any{"source_path": file.path}
	for name, value := range map[string]string{"reason": in.Reason, "instruction": in.Instruction} {
		if value != "" {
			meta[name] = value
		}
	}
	from := domain.Source{Name: cut(file.name, 200), Category: "resource"}
	if file.url != "" {
		from.URLs = []string{file.url}
	}
	if file.isText {
		return s.storeText(ctx, q, root, in, file, meta, from)
	}
	root.uri = root.uri.Join(file.stem() + file.extension())
	return s.storeBytes(ctx, q, root, in, file, meta, from)
}

// fill sets the request's options on an item.
func (in resourceRequest) fill(r *domain.Remembered) {
	if len(in.tags) > 0 {
		r.Text.Tags = in.tags
	}
	if in.scopes != nil {
		r.Scopes = in.scopes
	}
}

// storeText writes the text of a file in its parts.
func (s resources) storeText(
	ctx context.Context, q *query, root address, in resourceRequest, file source, meta map[string]any, from domain.Source,
) error {
	at, parts := root, []section{{title: titleOf(file.content), content: file.content}}
	if name := file.keptName(); name != "" {
		at.uri = root.uri.Join(name)
	} else {
		at.uri, parts = root.uri.Join(file.stem()+".md"), sections(file.content)
	}
	submissions, err := q.splitCommands(at, root, parts, meta, func(r *domain.Remembered) {
		in.fill(r)
		r.Source = from
	})
	if err != nil {
		return err
	}
	return s.editor.submitAll(ctx, submissions)
}

// storeBytes writes a binary file: an item that describes it, and the bytes.
func (s resources) storeBytes(
	ctx context.Context, q *query, at address, in resourceRequest, file source, meta map[string]any, from domain.Source,
) error {
	kind := file.kind()
	meta["bytes"] = map[string]any{
		"sha256": fmt.Sprintf("%x", sha256.Sum256(file.bytes)), "size": len(file.bytes),
		"content_type": kind, "name": file.name,
	}
	encoded, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	command, err := q.remembering(at, func(r *domain.Remembered) {
		in.fill(r)
		r.Text.Content = fmt.Sprintf("%s (%s, %d bytes)", file.name, kind, len(file.bytes))
		if in.Reason != "" {
			r.Text.Content += "\n" + in.Reason
		}
		r.ContextType, r.Media, r.Text.Meta, r.Source = domain.Resource, mediaOf(kind), encoded, from
	})
	if err != nil {
		return err
	}
	err = s.files.Keep(ctx, q.caller.Tenant, domain.File{
		ID: command.ID, Uploader: q.caller.EffectiveSubject(), Name: file.name, ContentType: kind,
		Bytes: file.bytes, UploadedAt: time.Now().UTC(),
	})
	if err != nil {
		return err
	}
	if _, err = s.editor.submit(ctx, q, command); err != nil {
		return errors.Join(err, s.files.Drop(context.WithoutCancel(ctx), q.caller.Tenant, command.ID))
	}
	return nil
}

// mediaOf is the medium of a content type.
func mediaOf(contentType string) domain.Media {
	kind, _, _ := strings.Cut(contentType, "/")
	if media := domain.Media(kind); slices.Contains([]domain.Media{
		domain.MediaImage, domain.MediaVideo, domain.MediaAudio,
	}, media) {
		return media
	}
	return domain.MediaBinary
}

// removeResource deletes the resource at uri, which is a parameter or in the body, with its whole tree.
func (s resources) removeResource(ctx context.Context, q *query) (any, error) {
	in := struct {
		URI       string `json:"uri"`
		Recursive bool   `json:"recursive"`
	}{URI: q.param("uri"), Recursive: q.boolParam("recursive")}
	if in.URI == "" {
		if err := q.bind(&in); err != nil {
			return nil, err
		}
	}
	a, err := q.caller.address("uri", in.URI)
	if err != nil {
		return nil, err
	}
	isSkill := a.uri.ContextType() == domain.Skill && a.uri.Parent().Name() == "skills"
	return s.editor.removeAt(ctx, q, in.URI, in.Recursive || isSkill || rootOf(a.uri).Within("viking://resources"))
}
