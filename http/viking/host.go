package viking

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// onHost reads a file or directory of the server's machine, if the configuration allows it. It does not follow links
// that lead out of the allowed directory.
func (s resources) onHost(in resourceRequest) (source, error) {
	refused := domain.Refuse(domain.ErrForbidden, "the server reads no files of its own machine there").
		WithFix("upload the file, or let the server be started with --host-paths")
	for _, allowed := range s.host {
		inside, err := filepath.Rel(allowed, in.Path)
		if err != nil || !filepath.IsLocal(inside) {
			continue
		}
		return readWithin(allowed, inside, in)
	}
	return source{}, refused
}

func readWithin(directory, name string, in resourceRequest) (source, error) {
	unreadable := invalid("path", "is no directory, and no file that can be read, of at most %d bytes", maxUpload)
	root, err := os.OpenRoot(directory)
	if err != nil {
		return source{}, unreadable
	}
	defer root.Close() //nolint:errcheck // it was only read
	info, err := root.Stat(name)
	if err != nil {
		return source{}, unreadable
	}
	found := source{name: filepath.Base(in.Path), path: in.Path}
	if info.IsDir() {
		found.files, found.unread, err = in.readDirectory(root, filepath.ToSlash(name))
		return found, err
	}
	if found.bytes, err = readFile(root, name, info); err != nil {
		return source{}, unreadable
	}
	return found, nil
}

func readFile(root *os.Root, name string, info fs.FileInfo) ([]byte, error) {
	if !info.Mode().IsRegular() || info.Size() > maxUpload {
		return nil, os.ErrInvalid
	}
	return root.ReadFile(name)
}

// The limits of a directory that becomes one resource.
const (
	mostFiles = 10_000
	mostBytes = 2 * maxUpload
)

// readDirectory reads the files in a directory and below it, except hidden files and links. It lists the files that
// it cannot read.
func (in resourceRequest) readDirectory(root *os.Root, directory string) (files []source, unread []string, err error) {
	size := 0
	err = fs.WalkDir(root.FS(), directory, func(name string, entry fs.DirEntry, err error) error {
		relative := strings.TrimPrefix(name, directory+"/")
		names := strings.Split(relative, "/")
		under, base := names[:len(names)-1], names[len(names)-1]
		switch {
		case err != nil:
			unread = append(unread, relative+" cannot be read")
			return fs.SkipDir
		case name == directory:
			return nil
		case entry.IsDir() && !in.includesDirectory(base):
			return fs.SkipDir
		case !entry.Type().IsRegular() || !in.includesFile(under, base):
			return nil
		}
		file := source{name: base, path: path.Join(in.Path, relative), under: under}
		info, err := entry.Info()
		if err == nil {
			file.bytes, err = readFile(root, name, info)
		}
		if err != nil {
			unread = append(unread, fmt.Sprintf("%s cannot be read, or has more than %d bytes", relative, maxUpload))
			return nil
		}
		files, size = append(files, file), size+len(file.bytes)
		if len(files) > mostFiles || size > mostBytes {
			return domain.Refuse(domain.ErrTooLarge, "a directory may have at most %d files and %d bytes", mostFiles, mostBytes).
				WithFix("narrow it with include, exclude or ignore_dirs, or add its parts")
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = invalid("path", "is a directory without files that can be read")
	}
	return files, unread, err
}

// includesDirectory tells whether to read directories of this name.
func (in resourceRequest) includesDirectory(name string) bool {
	return !isHidden(name) && name != "__MACOSX" && !slices.Contains(splitList(in.IgnoreDirs), name)
}

// isHidden tells whether a name begins with one dot.
func isHidden(name string) bool {
	return strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "..")
}

// includesFile tells whether to read a file of this name in these directories.
func (in resourceRequest) includesFile(under []string, name string) bool {
	matches := func(pattern string) bool {
		is, _ := path.Match(pattern, name) // a bad pattern matches nothing
		return is
	}
	hidden := isHidden(name) ||
		slices.ContainsFunc(under, func(directory string) bool { return !in.includesDirectory(directory) })
	wanted := splitList(in.Include)
	return !hidden && (len(wanted) == 0 || slices.ContainsFunc(wanted, matches)) &&
		!slices.ContainsFunc(splitList(in.Exclude), matches)
}

// splitList splits a list at its commas.
func splitList(list string) (parts []string) {
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// readAll reads the text of a file, or of the files of a directory. It adds to unread what it cannot read.
func (s resources) readAll(ctx context.Context, f *source) error {
	if f.files == nil {
		why, err := s.parse(ctx, f)
		if why != "" {
			f.unread = append(f.unread, f.name+why)
		}
		return err
	}
	for i := range f.files {
		file := &f.files[i]
		why, err := s.parse(ctx, file)
		if err != nil && !errors.Is(err, domain.ErrTooLarge) {
			return err
		}
		if why != "" {
			f.unread = append(f.unread, file.relativePath()+why)
		}
	}
	return nil
}

// relativePath is the path of a file in its directory.
func (f source) relativePath() string { return path.Join(append(slices.Clip(f.under), f.name)...) }

// storeAll writes a file, or the files of a directory under their names, and lists those that it could not write.
func (s resources) storeAll(
	ctx context.Context, q *query, root address, in resourceRequest, from source,
) (unkept []string, err error) {
	if from.files == nil {
		return nil, s.storeFile(ctx, q, root, in, from)
	}
	taken := map[domain.URI]bool{}
	for _, file := range from.files {
		at := root
		for _, name := range file.under {
			at.uri = at.uri.Join(segment(name))
		}
		if file.keptName() == "" { // it has a directory of its own
			at.uri = at.uri.Join(file.stem())
		}
		for taken[at.uri.Join(file.keptName())] {
			at.uri += "_"
		}
		taken[at.uri.Join(file.keptName())] = true
		err := s.storeFile(ctx, q, at, in, file)
		if _, invalid := errors.AsType[*domain.Invalid](err); invalid {
			unkept = append(unkept, file.relativePath()+" was left out: its name or its text is not accepted")
		} else if err != nil {
			return unkept, err
		}
	}
	return unkept, nil
}
