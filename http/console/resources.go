package console

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// Uploads is the path that takes files, whose requests may be larger than others.
const Uploads = Root + "resources"

// MaxUpload is the largest size of such a request, in bytes: a file of the OpenViking API and its envelope.
const MaxUpload = 101 << 20

const (
	placeScheme  = "viking://"
	resourceRoot = placeScheme + "resources"
)

// place is a directory or a file of the OpenViking API.
type place struct {
	Name     string         `json:"name"`
	URI      string         `json:"uri"`
	Size     int            `json:"size"`
	IsDir    bool           `json:"isDir"`
	Modified string         `json:"modTime"`
	Abstract string         `json:"abstract"`
	Meta     map[string]any `json:"meta"`
}

// Changed is when the place changed.
func (f place) Changed() time.Time {
	at, _ := time.Parse(time.RFC3339, f.Modified) // zero if it is not known
	return at
}

// ID is the id of a file's item.
func (f place) ID() string { return fmt.Sprint(f.Meta["id"]) }

// places are a place, what is in it, and the form that adds a resource to it.
type places struct {
	form
	URI                          string
	Off                          bool // this server has no OpenViking API
	Above                        []Link
	Here                         place
	Entries                      []place
	Abstract, Overview, Contents string
	Behind                       []api.Projection // that process what was added last
	Unread                       []string         // files of a new resource that could not be read
	Removed                      string           // what scrubbing removed from it
	Added                        string           // its address, if there is something to say about it
}

// IsResource tells whether a place lies below that of resources, where resources are added and removed.
func (d *places) IsResource() bool {
	return d.URI == resourceRoot || strings.HasPrefix(d.URI, resourceRoot+"/")
}

// IsRoot tells whether it is a place that every tenant has.
func (d *places) IsRoot() bool {
	return strings.Count(strings.TrimPrefix(d.URI, placeScheme), "/") == 0
}

// Removable tells whether it can be removed.
func (d *places) Removable() bool { return d.IsResource() && !d.IsRoot() }

// resourceActs name what the page has done.
func resourceActs() []act {
	return []act{
		{Name: "resource", Done: "The resource is added."},
		{Name: "unresource", Done: "The resource is removed."},
	}
}

func resourceFields() []field {
	return []field{
		{Name: "path", Label: "Address, such as https://example.com/guide.md, or a directory of the server that it may read"},
		{Name: "source_name", Label: "Name; that of the file if empty"},
		{Name: "tags", Label: "Tags, one a line, such as domain=web", Rows: 2},
		{Name: "reason", Label: "Why", Rows: 2},
	}
}

// viking asks the OpenViking API, which wraps its answers.
func viking[T any](p *page, request client.Request) (out T, err error) {
	answer := struct{ Result *T }{&out}
	request.Path = append([]string{"api", "v1"}, request.Path...)
	if request.Method == http.MethodGet {
		p.note(request)
	}
	response, err := p.api.Do(p.r.Context(), request, &answer)
	if err == nil {
		p.removed = p.classes(response.Redacted())
	}
	return out, err
}

// at is a GET request about a place.
func at(uri string, path ...string) client.Request {
	request := client.Get(path...)
	request.Query = url.Values{"uri": {uri}}
	return request
}

func showPlaces(p *page) (any, error) { return placesAt(p) }

// placesAt reads the place of the address, that of all resources if it names none.
func placesAt(p *page) (*places, error) {
	data := &places{form: *newForm(p, resourceFields())}
	data.URI = cmp.Or(p.param("uri"), resourceRoot)
	data.Here = place{URI: data.URI, Name: data.URI, IsDir: true}
	if !data.IsRoot() {
		found, err := viking[place](p, at(data.URI, "fs", "stat"))
		if err != nil {
			return nil, err
		}
		data.Here = found
		data.readLevels(p)
	}
	data.Above = above(p, data.URI)
	if data.Here.IsDir {
		var err error
		data.Entries, err = viking[[]place](p, at(data.URI, "fs", "ls"))
		if refusal, is := errors.AsType[*client.Error](err); is && strings.HasPrefix(refusal.Type, "urn:annals:") {
			data.Off, err = true, nil // the refusal is not of the OpenViking API
		}
		if err != nil {
			return nil, err
		}
		rank := map[bool]int{true: -1} // directories come first
		slices.SortStableFunc(data.Entries, func(a, b place) int {
			return cmp.Or(rank[a.IsDir]-rank[b.IsDir], strings.Compare(a.URI, b.URI))
		})
	}
	for i, e := range data.Entries {
		data.Entries[i].Name = e.URI[strings.LastIndex(e.URI, "/")+1:]
	}
	following, _, err := pageOf[api.Projection](p, nil, "v1", "projections")
	for _, f := range following {
		if f.LagEvents > 0 && slices.Contains([]string{meaningProjection, "summaries"}, f.Name) {
			data.Behind = append(data.Behind, f)
		}
	}
	return data, err
}

// above are the places that a place lies in, and itself.
func above(p *page, uri string) []Link {
	links := []Link{{placeScheme, p.To("resources", "uri", placeScheme)}}
	whole := placeScheme
	for name := range strings.FieldsFuncSeq(strings.TrimPrefix(uri, placeScheme), func(r rune) bool { return r == '/' }) {
		whole += name
		links = append(links, Link{name, p.To("resources", "uri", whole)})
		whole += "/"
	}
	return links
}

// readLevels reads the three levels of detail of a place. A place may lack some.
func (d *places) readLevels(p *page) {
	level := func(name string) string {
		found, _ := viking[string](p, at(d.URI, "content", name))
		return found
	}
	d.Abstract, d.Overview = level("abstract"), level("overview")
	if !d.Here.IsDir {
		d.Contents = level("read")
	}
}

// addedResource is a new resource, and its files that could not be read.
type addedResource struct {
	URI    string   `json:"root_uri"`
	Errors []string `json:"errors"`
}

// addResource adds a file or an address, and goes to the place that it got.
func addResource(p *page) (any, error) {
	values := map[string]any{}
	err := upload(p, values)
	data, problem := placesAt(p)
	if problem != nil {
		return nil, problem
	}
	var added addedResource
	if err == nil {
		data.put(values, false, namesOf(data.Fields)...)
		data.put(values, true, "tags")
		if data.URI != resourceRoot {
			values["parent"] = data.URI
		}
		added, err = viking[addedResource](p, client.Post(values, "resources"))
	}
	if err := data.failed(p, err, "resources", data); err != nil {
		return nil, err
	}
	p.setDone("resource")
	if len(added.Errors) > 0 || p.removed != "" {
		data.Unread, data.Removed, data.Added, data.Values = added.Errors, p.removed, added.URI, map[string]string{}
		return data, nil
	}
	http.Redirect(p.w, p.r, p.To("resources", "uri", added.URI), http.StatusSeeOther)
	return nil, errAnswered
}

// upload passes the file of a form on to the API, if there is one, and names it in a request.
func upload(p *page, values map[string]any) error {
	return withFile(p, func(name string, file io.Reader) error {
		var body bytes.Buffer
		parts := multipart.NewWriter(&body)
		part, err := parts.CreateFormFile("file", name)
		if err == nil {
			_, err = io.Copy(part, file)
		}
		if err = errors.Join(err, parts.Close()); err != nil {
			return err
		}
		request := client.Post(body.Bytes(), "resources", "temp_upload")
		request.Header = http.Header{"Content-Type": {parts.FormDataContentType()}}
		kept, err := viking[map[string]string](p, request)
		values["temp_file_id"] = kept["temp_file_id"]
		return err
	})
}

// withFile calls use with the file of a form, if there is one. A file that did not arrive is refused.
func withFile(p *page, use func(name string, file io.Reader) error) error {
	const inMemory = 8 << 20
	err := p.r.ParseMultipartForm(inMemory)
	if tooLarge, is := errors.AsType[*http.MaxBytesError](err); is {
		return &client.Error{Problem: api.Problem{
			Status: http.StatusRequestEntityTooLarge, Title: "The file is too large",
			Detail: "the form may have at most " + bytesOf(tooLarge.Limit),
		}}
	}
	if errors.Is(err, http.ErrNotMultipart) {
		return nil
	}
	if err != nil {
		return &client.Error{Problem: api.Problem{
			Status: http.StatusBadRequest, Title: "The file did not arrive as a whole: send it again",
		}}
	}
	defer p.r.MultipartForm.RemoveAll() //nolint:errcheck // the system's temporary files
	sent, header, err := p.r.FormFile("file")
	if err != nil || header.Size == 0 && header.Filename == "" {
		return nil // no file was chosen
	}
	defer sent.Close() //nolint:errcheck // it was only read
	return use(header.Filename, sent)
}

// removeResource removes a resource, and goes to the list.
func removeResource(p *page) (any, error) {
	data, err := placesAt(p)
	if err != nil {
		return nil, err
	}
	if !data.Removable() {
		return nil, notFound(p)
	}
	request := at(data.URI, "resources")
	request.Method = http.MethodDelete
	request.Query.Set("reason", data.text("reason"))
	_, err = viking[any](p, request)
	if err := data.failed(p, err, "resources", data); err != nil {
		return nil, err
	}
	return goBack(p, "unresource", "resources")
}
