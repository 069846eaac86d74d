package agents

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// file is a file that is edited.
type file struct {
	path    string
	host    string // whose it is
	mode    fs.FileMode
	exists  bool
	remove  bool
	before  []byte
	after   []byte
	changes []change
}

// largestFile is the largest settings file in bytes that is read.
const largestFile = 64 << 20

// open reads the file at a path, through links; one that does not exist is empty.
func open(path string) (*file, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	} else if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s is a link that leads nowhere", path)
	}
	f := &file{path: path}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > largestFile) {
		err = fmt.Errorf("%s is no ordinary file, or too large", path)
	}
	if err != nil {
		return nil, err
	}
	f.exists, f.mode = true, info.Mode().Perm()
	f.before, err = os.ReadFile(path)
	return f, err
}

// edit applies all changes, in the file's own line endings.
func (f *file) edit(apply func(edit, []byte) ([]byte, error)) error {
	mark := []byte("\xef\xbb\xbf")
	text, marked := bytes.CutPrefix(f.before, mark)
	windows := bytes.Contains(text, []byte("\r\n")) && bytes.Count(text, []byte("\n")) == bytes.Count(text, []byte("\r\n"))
	if windows {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	for _, c := range f.changes {
		var err error
		if text, err = apply(c.edit, text); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
	}
	if windows {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	if marked {
		text = append(mark, text...)
	}
	f.after = text
	return nil
}

func (f *file) changed() bool { return f.remove || !f.exists || !bytes.Equal(f.before, f.after) }

// write replaces a file by a text, or removes it.
func (f *file) write(c *terminal.Console, text []byte, remove bool) error {
	if remove {
		return os.Remove(f.path)
	}
	err := os.MkdirAll(filepath.Dir(f.path), 0o755)
	if err == nil {
		err = terminal.WriteText(c, f.path, text)
	}
	if err == nil && f.exists {
		err = os.Chmod(f.path, f.mode)
	}
	return err
}

// writeAll writes all files, or none.
func writeAll(c *terminal.Console, all []*file) error {
	made := missing(all)
	for i, f := range all {
		if err := f.write(c, f.after, f.remove); err != nil {
			for _, done := range all[:i] {
				err = errors.Join(err, done.write(c, done.before, !done.exists))
			}
			removeEmpty(made)
			return terminal.Wrong("nothing was changed", "%s cannot be written: %s", f.path, err)
		}
	}
	return nil
}

// missing are the folders of files that do not exist.
func missing(files []*file) (folders []string) {
	for _, f := range files {
		for dir := filepath.Dir(f.path); !exists(dir) && !slices.Contains(folders, dir); dir = filepath.Dir(dir) {
			folders = append(folders, dir)
		}
	}
	return folders
}

// removeEmpty removes those of some folders that are empty, or become so.
func removeEmpty(folders []string) {
	slices.SortFunc(folders, func(a, b string) int { return len(b) - len(a) }) // what lies deeper first
	for _, folder := range folders {
		_ = os.Remove(folder) // fails for one that others use
	}
}

// record is what an installation has changed of a file, so that it can be taken back to the byte.
type record struct {
	Path    string   `json:"path"`
	Created bool     `json:"created"`
	Changes []string `json:"changes"`
	Before  []byte   `json:"before"`
	After   string   `json:"after"` // SHA-256

	Folders []string `json:"folders,omitempty"` // that were made; in the record of the records' own file
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// untouched tells whether a file is as an installation left it.
func (r record) untouched(f *file) bool { return f.exists && r.After == hashOf(f.before) }

// recordFile is where records are.
func (m machine) recordFile() string {
	state := cmp.Or(absolute(m.getenv("XDG_STATE_HOME")), filepath.Join(m.user, ".local", "state"))
	return filepath.Join(state, "annals", "installed.json")
}

// records reads the records of earlier installations, by path.
func (m machine) records() (*file, map[string]record, error) {
	f, err := open(m.recordFile())
	if err != nil {
		return nil, nil, err
	}
	var list []record
	if f.exists {
		if err := json.Unmarshal(f.before, &list); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", f.path, err)
		}
	}
	all := map[string]record{}
	for _, r := range list {
		all[r.Path] = r
	}
	return f, all, nil
}

// setRecords puts records into their file.
func setRecords(f *file, all map[string]record) {
	list := make([]record, 0, len(all))
	for _, r := range all {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b record) int { return cmp.Compare(a.Path, b.Path) })
	f.after, _ = json.MarshalIndent(list, "", " ")
}
