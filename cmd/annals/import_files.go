package main

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// source is a file of an import.
type source struct {
	path string // to open it
	name string // what histories call it
	laid string // its place in a layout; empty for a file by itself
}

// broken says of which file of a directory it is that it cannot be read on, and that it has to be mended there.
func (s source) broken(err error) error {
	f := *asFailure(err)
	f.Detail = joined(": ", s.laid, f.Detail)
	f.Fix = cmp.Or(f.Fix, "mend it there")
	return &f
}

// stat tells which file it is, and of standard input the file that it was redirected from.
func (s source) stat(c *console) (fs.FileInfo, error) {
	if s.path != "-" {
		return os.Stat(s.path)
	}
	if file, is := c.in.(*os.File); is {
		return file.Stat()
	}
	return nil, fs.ErrNotExist
}

// inputs are the file that was named, or all that lie in the directory that was named, in order.
func inputs(named string) ([]source, error) {
	info, err := os.Stat(named)
	if named == "-" || err != nil || !info.IsDir() {
		return []source{{path: named, name: fileName(named)}}, nil // what is wrong with it shows when it is opened
	}
	var all []source
	err = filepath.WalkDir(named, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && path != named
		switch {
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden || entry.IsDir() || !slices.Contains([]string{".json", ".ndjson"}, filepath.Ext(path)):
			return nil
		}
		relative, err := filepath.Rel(named, path)
		all = append(all, source{path: path, name: fileName(path), laid: filepath.ToSlash(relative)})
		return err
	})
	switch {
	case err != nil:
		return nil, wrong("name a directory that can be read", "%s", err)
	case len(all) == 0:
		return nil, wrong("name one that annals export files has written, or a file", "there is no .json file in %s", named)
	}
	return all, nil
}
