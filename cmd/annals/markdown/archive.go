package markdown

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"

	"github.com/annals-kb/annals/http/body"
)

// archive are the files of an archive, under names that files of a folder can have. One that cannot have such a name is
// left out. Of files with the same name, the last one is read, as in archives to which files were added.
func (in *Input) archive(from io.ReaderAt, size int64, above string) (fs.FS, error) {
	reader, err := zip.NewReader(from, size)
	if err != nil {
		return nil, errors.New("is no archive that can be read")
	}
	names, of := body.Names(reader.File), map[string]int{} // -1 for a folder with files
	for i, name := range names {
		of[path.Clean(name)] = i
		for folder := path.Dir(path.Clean(name)); of[folder] >= 0; folder = path.Dir(folder) {
			of[folder] = -1
		}
	}
	kept := reader.File[:0]
	for i, entry := range reader.File {
		const encrypted = 1
		entry.Name = names[i]
		isFolder := entry.Mode().IsDir() // which follows from its files
		entry.Name = path.Clean(entry.Name)
		switch whole := path.Join(above, entry.Name); {
		case isFolder:
		case !filepath.IsLocal(entry.Name):
			in.Leave(whole, "is outside of the archive")
		case entry.Flags&encrypted != 0:
			in.Leave(whole, "is encrypted")
		case of[entry.Name] < 0:
			in.Leave(whole, "has the name of a folder")
		case of[entry.Name] != i:
			in.Leave(whole, "is in the archive more than once: the last one is read")
		default:
			kept = append(kept, entry)
		}
	}
	reader.File = kept
	return reader, nil
}

// notionPart is an archive in an export of Notion, which names it anew each time. The parts of an export have the files
// of one folder.
var notionPart = regexp.MustCompile(`-Part-\d+\.zip$`)

// inner passes the items of an archive among other files, which is unpacked into a temporary file.
func (in *Input) inner(files fs.FS, name, above string, depth int, yield func(Item) error) error {
	whole := path.Join(above, name)
	place := whole
	if notionPart.MatchString(name) {
		place = path.Join(cmp.Or(above, "."), path.Dir(name))
	}
	packed, err := files.Open(name)
	if err != nil {
		in.Leave(whole, "cannot be read: "+err.Error())
		return nil
	}
	defer packed.Close() //nolint:errcheck // it was only read
	if depth == mostDeep {
		in.Leave(whole, "is too deep in archives")
		return nil
	}
	unpacked, err := os.CreateTemp("", "annals-*.zip")
	if err != nil {
		return fmt.Errorf("unpack %s: %w", whole, err)
	}
	defer os.Remove(unpacked.Name()) //nolint:errcheck // it is of no further use
	defer unpacked.Close()           //nolint:errcheck // likewise
	size, err := io.Copy(unpacked, io.LimitReader(packed, largestInput-in.total))
	if in.total += size; in.total >= largestInput {
		return errTooMuch
	}
	within, broken := in.archive(unpacked, size, whole)
	if err != nil || broken != nil {
		in.Leave(whole, cmp.Or(broken, err).Error())
		return nil
	}
	return in.walk(within, place, depth+1, yield)
}
