package markdown

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/body"
)

// Item is a piece of knowledge in the form of the API.
type Item struct {
	ID         string              `json:"id"`
	Type       string              `json:"type,omitempty"`
	Category   string              `json:"category,omitempty"`
	Task       string              `json:"task,omitempty"`
	Content    string              `json:"content"`
	Abstract   string              `json:"abstract,omitempty"`
	Tags       map[string][]string `json:"tags,omitempty"`
	Scopes     []string            `json:"scopes,omitempty"`
	Owner      string              `json:"owner,omitempty"`
	OccurredAt *time.Time          `json:"occurred_at,omitempty"`
	Source     *Source             `json:"source,omitempty"`
	Meta       *From               `json:"meta,omitempty"`
	Origin     string              `json:"causation_id"`

	Known *Known `json:"-"` // set if the file was written by annals export markdown
	Path  string `json:"-"` // of the file; empty in an archive
	file  string // its path in what is read
}

// Source is where an item comes from.
type Source struct {
	SubmittedBy string   `json:"submitted_by,omitempty"`
	URLs        []string `json:"urls,omitempty"`
}

// Unread is a file that was left out.
type Unread struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// Exports are the forms in which other programs export what they know.
type Exports interface {
	// Count is how many notes a file counts as, when the files of a folder tell what it is.
	Count(files fs.FS, name string) int

	// Holds tells whether a file that is no note holds items, by what is in it.
	Holds(name string) bool

	// Reads tells whether a file can be read. It is covered if other files say what it says.
	Reads(files fs.FS, name string) (is, covered bool)

	// Items reads the items of a file.
	Items(in *Input, name string, text []byte) ([]Item, error)

	// Folder passes the items of a folder that is read as a whole; false if it is none.
	Folder(in *Input, files fs.FS, name, above string, yield func(Item) error) (bool, error)
}

// Forms are the forms that are read besides notes.
type Forms struct {
	Named  string  // by the caller; empty to guess
	Root   string  // the name of the folder, wherever it lies; empty to guess
	Others Exports // nil for none
}

// Input is a file or folder of notes, or of what other programs export.
type Input struct {
	// Scope is the scope of what is in a folder; empty for the default.
	Scope func(folder string) string

	// Caller owns what has no scope. Notes of another caller or scope are other items.
	Caller string

	Unread []Unread

	others Exports
	root   string           // the name of the folder
	named  bool             // the caller names what all notes belong to
	whole  string           // its absolute path
	roots  map[string]place // by the folders where they begin
	files  fs.FS
	single string // the only file to read
	total  int64
}

// Limits of what is read. They bound an archive that expands to more than it seems.
const (
	largestNote  = 8 << 20 // bytes of a file
	largestInput = 4 << 30 // bytes of all files
	mostFiles    = 2_000_000
	mostDeep     = 3 // archives in archives
)

// Open opens what is at a path if it has notes, or is of another program; it returns nil if it has the form of annals
// export. A form that is named is not guessed.
func Open(name string, forms Forms) (*Input, error) {
	info, err := os.Stat(name)
	if name == "-" || err != nil || forms.Named == "records" {
		return nil, nil //nolint:nilerr // reading it reports the error
	}
	absolute, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	in := &Input{others: forms.Others, root: filepath.Base(absolute), whole: absolute}
	defer func() {
		if in.roots = map[string]place{".": belongs(in.whole)}; forms.Root != "" {
			in.named, in.roots["."] = true, place{"root:" + forms.Root, Slug(forms.Root)}
		}
	}()
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case info.IsDir():
		if in.files, err = within(name); err != nil {
			return nil, err
		}
		if forms.Named == "" && !in.hasNotes() {
			return nil, nil
		}
	case ext == ".zip" || ext == ".ovpack":
		file, err := os.Open(name) // until the program ends
		if err != nil {
			return nil, err
		}
		if in.files, err = in.archive(file, info.Size(), ""); err != nil {
			return nil, terminal.Wrong("name an archive that is whole", "%s %s", name, err)
		}
		in.root = strings.TrimSuffix(in.root, filepath.Ext(in.root))
	default:
		if target, err := filepath.EvalSymlinks(absolute); err == nil {
			absolute = target // a file that is named may be a link
		}
		in.whole = filepath.Dir(absolute)
		in.root = filepath.Base(in.whole)
		in.single = filepath.Base(absolute)
		if in.files, err = within(filepath.Dir(absolute)); err != nil {
			return nil, err
		}
		small := info.Size() <= largestNote // a larger one is not read at all
		holds := func() bool { return small && in.others != nil && in.others.Holds(absolute) }
		if forms.Named == "" && !isNote(name) && !holds() {
			return nil, nil
		}
	}
	return in, nil
}

// linked is the note in the folder that a link leads to; empty if the link is the only way to it.
func (in *Input) linked(name string) string {
	target, err := filepath.EvalSymlinks(filepath.Join(in.whole, name))
	top, failed := filepath.EvalSymlinks(in.whole)
	if err != nil || failed != nil || !isNote(target) {
		return ""
	}
	target, err = filepath.Rel(top, target)
	unread := func(part string) bool {
		return isHidden(part) || isOthers(part) || templates.MatchString(part)
	}
	if err != nil || slices.ContainsFunc(strings.Split(filepath.ToSlash(target), "/"), unread) {
		return ""
	}
	return target
}

// within are the files of a folder. Links that lead out of it cannot be read.
func within(folder string) (fs.FS, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	return root.FS(), nil
}

// hasNotes tells whether most files of a folder that can be read are notes.
func (in *Input) hasNotes() bool {
	notes, others := 0, 0
	_ = fs.WalkDir(in.files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || notes+others > 1000:
			return fs.SkipAll
		case skipped(name, entry):
			return skip(entry)
		case isNote(name):
			notes++
		case in.others != nil && in.others.Count(in.files, name) > 0:
			notes += in.others.Count(in.files, name)
		case slices.Contains([]string{".json", ".ndjson", ".jsonl", ".gz"}, path.Ext(name)):
			others++
		}
		return nil
	})
	return notes > 0 && notes >= others
}

func isNote(name string) bool {
	return slices.Contains([]string{".md", ".mdc", ".markdown"}, strings.ToLower(path.Ext(name))) ||
		path.Base(name) == ".cursorrules"
}

// isPage tells whether a file is a page of HTML, as other programs export it.
func isPage(name string) bool { return strings.EqualFold(path.Ext(name), ".html") }

// templates are the names of folders of templates: they are there to be copied.
var templates = regexp.MustCompile(`^[^\p{L}]*(?i:templates?|模板|テンプレート)$`)

// skipped tells whether a file or folder is none of a user's notes.
func skipped(name string, entry fs.DirEntry) bool {
	base := path.Base(name)
	return isHidden(base) || entry.IsDir() && isOthers(base)
}

// isHidden tells whether a file or folder of this name is hidden. Rules of agents are not, although their names say so.
func isHidden(base string) bool {
	return strings.HasPrefix(base, ".") && base != "." &&
		!slices.Contains([]string{".cursor", ".claude", ".cursorrules"}, base)
}

// isOthers tells whether a folder of this name has what programs have put there.
func isOthers(base string) bool { return base == "node_modules" || base == "_ovpack" }

func skip(entry fs.DirEntry) error {
	if entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// Items passes all items, in the order of their files. Files that cannot be read are noted.
func (in *Input) Items(yield func(Item) error) error {
	if in.single != "" {
		return in.file(in.files, in.single, "", 0, yield)
	}
	return in.walk(in.files, "", 0, yield)
}

func (in *Input) walk(files fs.FS, above string, depth int, yield func(Item) error) error {
	count := 0
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			in.Leave(path.Join(above, name), err.Error())
			return skip(entry)
		}
		if skipped(name, entry) {
			return skip(entry)
		}
		if entry.IsDir() {
			if templates.MatchString(entry.Name()) && name != "." {
				in.Leave(path.Join(above, name), "is a folder of templates: name it to import it")
				return fs.SkipDir
			}
			if at := filepath.Join(in.whole, name); above == "" && name != "." && !in.named && begins(at) {
				in.roots[name] = belongs(at)
			}
			if in.others != nil {
				if whole, err := in.others.Folder(in, files, name, above, yield); whole {
					return cmp.Or(err, fs.SkipDir)
				}
			}
			return nil
		}
		if count++; count > mostFiles {
			return terminal.Wrong("name a folder in it", "there are more than %d files", mostFiles)
		}
		if entry.Type() == fs.ModeSymlink && above == "" {
			if other := in.linked(name); other != "" {
				in.Leave(name, "is a link to "+other)
				return nil
			}
		}
		return in.file(files, name, above, depth, yield)
	})
}

// file passes the items of one file. above is the archive that it is in.
func (in *Input) file(files fs.FS, name, above string, depth int, yield func(Item) error) error {
	whole := path.Join(above, name)
	ext := strings.ToLower(path.Ext(name))
	known, covered := isNote(name) || ext == ".zip", false
	if !known && in.others != nil {
		known, covered = in.others.Reads(files, name)
	}
	if covered {
		return nil
	}
	if !known {
		in.Leave(whole, strings.TrimSpace("is not read: "+cmp.Or(ext, "it has no ending")))
		return nil
	}
	info, err := fs.Stat(files, name)
	if err != nil || !info.Mode().IsRegular() {
		in.Leave(whole, "is no file that can be read here")
		return nil
	}
	if ext == ".zip" {
		return in.inner(files, name, above, depth, yield)
	}
	text, err := in.Read(files, name, false)
	if errors.Is(err, errTooMuch) {
		return err
	}
	if err != nil {
		in.Leave(whole, err.Error())
		return nil
	}
	var found []Item
	left := len(in.Unread)
	switch {
	case !utf8.Valid(text):
		err = errors.New("is not in UTF-8")
	case isNote(name):
		found, err = in.Note(whole, string(text))
	default:
		found, err = in.others.Items(in, whole, text)
	}
	if err != nil {
		in.Leave(whole, err.Error())
		return nil
	}
	if len(found) == 0 && len(in.Unread) == left {
		in.Leave(whole, "has no text")
	}
	for _, item := range found {
		if err := in.Pass(item, name, above, yield); err != nil {
			return err
		}
	}
	return nil
}

// Pass passes an item of a file, with what follows from its place.
func (in *Input) Pass(item Item, name, above string, yield func(Item) error) error {
	whole := path.Join(above, name)
	if len(item.Content) > largestContent {
		in.Leave(whole, fmt.Sprintf("%q is longer than %d bytes", item.Task, largestContent))
		return nil
	}
	if above == "" && in.whole != "" {
		item.Path = filepath.Join(in.whole, filepath.FromSlash(name))
	}
	item.file = whole
	item.Origin = "file:" + LastRunes(controls.ReplaceAllString(path.Join(in.root, whole), " "), 120)
	if scope := in.scopeOf(whole); scope != "" {
		item.Scopes = []string{scope}
		switch domain.Entity(scope).Kind() {
		case domain.Project, domain.Team, domain.Org:
			item.Owner = scope // any of its members may import the file again
		}
	}
	return yield(item)
}

// scopeOf is the scope of a file; empty for the default.
func (in *Input) scopeOf(file string) string {
	if in.Scope == nil {
		return ""
	}
	return in.Scope(path.Dir(file))
}

const largestContent = domain.MaxContent

var errTooMuch = terminal.Wrong("import its folders one by one", "the files have more than %d bytes", largestInput)

// Read reads a file, within the limits of one file and of all.
func (in *Input) Read(files fs.FS, name string, archive bool) ([]byte, error) {
	most := int64(largestNote)
	if archive {
		most = largestInput / 4
	}
	file, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(body.UTF8(file), most+1))
	in.total += int64(len(text))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot be read: %w", err)
	case in.total > largestInput:
		return nil, errTooMuch
	case int64(len(text)) > most:
		return nil, fmt.Errorf("is larger than %d bytes", most)
	}
	return text, nil
}

// Leave notes a file that is left out.
func (in *Input) Leave(file, why string) { in.Unread = append(in.Unread, Unread{file, why}) }

var (
	unfit    = regexp.MustCompile(`[^A-Za-z0-9]+`)
	controls = regexp.MustCompile(`\pC+`)
)

// Slug is a text as a part of an id or of a file's name.
func Slug(text string) string { return strings.Trim(unfit.ReplaceAllString(text, "-"), "-") }

// LastRunes is the end of a text, of at most some characters.
func LastRunes(s string, most int) string {
	runes := []rune(s)
	return string(runes[max(0, len(runes)-most):])
}

// PrintUnread lists files that were left out, the first ones by name.
func PrintUnread(c *terminal.Console, files []Unread) {
	const most = 20
	for _, left := range files[:min(len(files), most)] {
		c.Note("left out: %s %s", left.File, left.Why)
	}
	if len(files) > most {
		c.Note("left out: %d more; --json lists them", len(files)-most)
	}
}
