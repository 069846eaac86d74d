package viking

import (
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/body"
)

// zipTypes are the content types of ZIP archives.
var zipTypes = []string{"application/zip", "application/x-zip-compressed", "application/x-zip"}

func (f source) isZip() bool {
	return f.extension() == ".zip" || path.Ext(f.name) == "" && slices.Contains(zipTypes, f.kind())
}

// unpackZip unpacks an archive into a directory, without the files that the request excludes. It refuses an archive
// that is damaged, encrypted or too large, or that has paths outside itself.
func (in resourceRequest) unpackZip(archive source) (source, error) {
	refused := func(why string) (source, error) {
		return source{}, domain.Refuse(domain.ErrMalformed, "the archive is refused: %s", why)
	}
	reader, err := zip.NewReader(bytes.NewReader(archive.bytes), int64(len(archive.bytes)))
	if err != nil {
		return refused("it is damaged, or no zip file")
	}
	directory := source{name: archive.name, path: archive.path, url: archive.url, files: []source{}}
	size := 0
	names := body.Names(reader.File)
	for i, entry := range reader.File {
		written := names[i]
		name := path.Clean(written)
		const encrypted = 1
		switch {
		case name == ".": // the directory itself
			continue
		case !filepath.IsLocal(name) || slices.Contains(strings.Split(written, "/"), "..") || strings.Contains(name, "\x00"):
			return refused("it names a file outside itself")
		case entry.Flags&encrypted != 0:
			return refused("it is encrypted")
		case entry.Mode().IsDir():
			continue
		case entry.UncompressedSize64 > uint64(mostBytes-size), len(directory.files) == mostFiles:
			return source{}, domain.Refuse(
				domain.ErrTooLarge, "an archive may have at most %d files and %d bytes", mostFiles, mostBytes,
			).
				WithFix("divide it into several archives")
		}
		if entry.Mode().Type() == fs.ModeSymlink {
			to, err := unpack(entry)
			if err != nil || !filepath.IsLocal(path.Join(path.Dir(name), string(to))) || path.IsAbs(string(to)) {
				return refused("a link leads out of it")
			}
		}
		parts := strings.Split(name, "/")
		under, base := parts[:len(parts)-1], parts[len(parts)-1]
		switch {
		case !in.includesFile(under, base):
			continue
		case !entry.Mode().IsRegular():
			directory.unread = append(directory.unread, name+" was left out: it is a link, or no file")
			continue
		}
		content, err := unpack(entry)
		if err != nil {
			return refused("it is damaged")
		}
		size += len(content)
		directory.files = append(
			directory.files, source{name: base, path: path.Join(archive.name, name), bytes: content, under: under},
		)
	}
	if len(directory.files) == 0 {
		return refused("it has no files that are wanted")
	}
	return directory, nil
}

// unpack reads a file of an archive. A file with more bytes than the archive declares is damaged.
func unpack(entry *zip.File) ([]byte, error) {
	file, err := entry.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	return io.ReadAll(file)
}
