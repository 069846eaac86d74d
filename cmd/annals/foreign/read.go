package foreign

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
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
	"github.com/annals-kb/annals/http/body"
)

// Item is a piece of knowledge in the form of the API.
type Item struct {
	ID         string              `json:"id"`
	Type       string              `json:"type,omitempty"`
	Category   string              `json:"category,omitempty"`
	Task       string              `json:"task,omitempty"`
	Content    string              `json:"content"`
	Tags       map[string][]string `json:"tags,omitempty"`
	Scopes     []string            `json:"scopes,omitempty"`
	OccurredAt *time.Time          `json:"occurred_at,omitempty"`
	Source     *Source             `json:"source,omitempty"`
	Origin     string              `json:"causation_id"`

	Known *Known `json:"-"` // set if the file was written by annals export markdown
	Path  string `json:"-"` // of the file; empty in an archive
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

// Input is a file or folder of another program.
type Input struct {
	// Scope is the scope of what is in a folder; empty for the default.
	Scope func(folder string) string

	Unread []Unread

	root   string // the name of the folder
	whole  string // its absolute path, the first part of ids
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

// Open opens what is at a path if it is of another program; it returns nil if it has the form of annals export. A
// format that is named is not guessed.
func Open(name, format string) (*Input, error) {
	info, err := os.Stat(name)
	if name == "-" || err != nil || format == "records" {
		return nil, nil //nolint:nilerr // reading it reports the error
	}
	absolute, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	in := &Input{root: filepath.Base(absolute), whole: absolute}
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case info.IsDir():
		if in.files, err = within(name); err != nil {
			return nil, err
		}
		if format == "" && !hasNotes(in.files) {
			return nil, nil
		}
	case ext == ".zip" || ext == ".ovpack":
		file, err := os.Open(name) // until the program ends
		if err != nil {
			return nil, err
		}
		if in.files, err = zip.NewReader(file, info.Size()); err != nil {
			return nil, terminal.Wrong("name an archive that is whole", "%s: %s", name, err)
		}
		in.root = strings.TrimSuffix(in.root, filepath.Ext(in.root))
	default:
		in.whole = filepath.Dir(absolute)
		in.root = filepath.Base(in.whole)
		if target, err := filepath.EvalSymlinks(absolute); err == nil {
			absolute = target // a file that is named may be a link
		}
		in.single = filepath.Base(absolute)
		if in.files, err = within(filepath.Dir(absolute)); err != nil {
			return nil, err
		}
		isJSON := (ext == ".json" || ext == ".af") && info.Size() <= largestNote // a larger one is not read at all
		if format == "" && !isNote(name) && (!isJSON || !isMemory(absolute)) {
			return nil, nil
		}
	}
	return in, nil
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
func hasNotes(files fs.FS) bool {
	notes, others := 0, 0
	_ = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || notes+others > 1000:
			return fs.SkipAll
		case skipped(name, entry):
			return skip(entry)
		case isNote(name) || path.Ext(name) == ".html" || notionTable.MatchString(path.Base(name)):
			notes++
		case path.Base(name) == "channels.json" && isSlack(files, path.Dir(name)):
			notes = 2000
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

// isMemory tells whether a file of JSON is an export of memories.
func isMemory(name string) bool {
	read, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	read, _ = io.ReadAll(body.UTF8(bytes.NewReader(read)))
	all, format, err := memories(read)
	return err == nil && format != "" && len(all) > 0
}

// skipped tells whether a file or folder is none of a user's notes. Rules of agents are in hidden folders.
func skipped(name string, entry fs.DirEntry) bool {
	base := path.Base(name)
	hidden := strings.HasPrefix(base, ".") && name != "." &&
		!slices.Contains([]string{".cursor", ".claude", ".cursorrules"}, base)
	return hidden || entry.IsDir() && (base == "node_modules" || base == "_ovpack")
}

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
			in.leave(path.Join(above, name), err.Error())
			return skip(entry)
		}
		if skipped(name, entry) {
			return skip(entry)
		}
		if entry.IsDir() {
			if isSlack(files, name) {
				return cmp.Or(in.slack(files, name, above, yield), fs.SkipDir)
			}
			return nil
		}
		if count++; count > mostFiles {
			return terminal.Wrong("name a folder in it", "there are more than %d files", mostFiles)
		}
		return in.file(files, name, above, depth, yield)
	})
}

// file passes the items of one file. above is the archive that it is in.
func (in *Input) file(files fs.FS, name, above string, depth int, yield func(Item) error) error {
	whole := path.Join(above, name)
	ext := strings.ToLower(path.Ext(name))
	if ext == ".csv" && notionTable.MatchString(path.Base(name)) && !isNotionTable(files, name) {
		return nil // other files have its rows
	}
	known := isNote(name) || slices.Contains([]string{".json", ".af", ".zip", ".html"}, ext) || isNotionTable(files, name)
	if !known {
		in.leave(whole, strings.TrimSpace("is not read: "+cmp.Or(ext, "it has no ending")))
		return nil
	}
	info, err := fs.Stat(files, name)
	if err != nil || !info.Mode().IsRegular() {
		in.leave(whole, "is no file that can be read here")
		return nil
	}
	text, err := in.read(files, name, ext == ".zip")
	if errors.Is(err, errTooMuch) {
		return err
	}
	if err != nil {
		in.leave(whole, err.Error())
		return nil
	}
	var found []Item
	switch {
	case ext == ".zip":
		inner, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
		if err != nil || depth == mostDeep {
			in.leave(whole, "is no archive that can be read")
			return nil
		}
		return in.walk(inner, whole, depth+1, yield)
	case !utf8.Valid(text):
		err = errors.New("is not in UTF-8")
	case isNote(name):
		found, err = in.note(whole, string(text))
	case ext == ".csv":
		found, err = in.notion(whole, text)
	case ext == ".html":
		found, err = in.confluence(whole, text)
	default:
		var format string
		found, format, err = memories(text)
		if err == nil && format == "" {
			err = errors.New("is not of a program that is known")
		}
	}
	if err != nil {
		in.leave(whole, err.Error())
		return nil
	}
	if len(found) == 0 {
		in.leave(whole, "has no text")
	}
	for _, item := range found {
		if err := in.pass(item, name, above, yield); err != nil {
			return err
		}
	}
	return nil
}

// pass passes an item of a file, with what follows from its place.
func (in *Input) pass(item Item, name, above string, yield func(Item) error) error {
	whole := path.Join(above, name)
	if len(item.Content) > largestContent {
		in.leave(whole, fmt.Sprintf("%q is longer than %d bytes", item.Task, largestContent))
		return nil
	}
	if above == "" && in.whole != "" {
		item.Path = filepath.Join(in.whole, filepath.FromSlash(name))
	}
	item.Origin = "file:" + lastRunes(path.Join(in.root, whole), 120)
	if in.Scope != nil {
		if scope := in.Scope(path.Dir(whole)); scope != "" {
			item.Scopes = []string{scope}
		}
	}
	return yield(item)
}

const largestContent = 64 << 10

var errTooMuch = terminal.Wrong("import its folders one by one", "the files have more than %d bytes", largestInput)

func (in *Input) read(files fs.FS, name string, archive bool) ([]byte, error) {
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
		return nil, err
	case in.total > largestInput:
		return nil, errTooMuch
	case int64(len(text)) > most:
		return nil, fmt.Errorf("is larger than %d bytes", most)
	}
	return text, nil
}

func (in *Input) leave(file, why string) { in.Unread = append(in.Unread, Unread{file, why}) }

var unfit = regexp.MustCompile(`[^A-Za-z0-9]+`)

// idOf is the id of a part of a file. It stays the same when its text changes.
func (in *Input) idOf(file, part string) string {
	key := filepath.ToSlash(in.whole) + "/" + file
	if part != "" {
		key += "#" + part
	}
	sum := sha256.Sum256([]byte(key))
	name := path.Join(path.Base(path.Dir(path.Join(filepath.ToSlash(in.whole), file))), path.Base(file))
	slug := strings.Trim(unfit.ReplaceAllString(strings.TrimSuffix(name, path.Ext(file))+"-"+part, "-"), "-")
	return strings.TrimLeft(firstRunes(slug, 80)+"-"+hex.EncodeToString(sum[:6]), "-")
}

func lastRunes(s string, most int) string {
	runes := []rune(s)
	return string(runes[max(0, len(runes)-most):])
}
