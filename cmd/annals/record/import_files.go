package record

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// source is a file of an import.
type source struct {
	path string // to open it
	name string // what histories call it
	laid string // its place in a layout; empty for a file by itself
}

// broken says of which file of a directory it is that it cannot be read on, and that it has to be mended there.
func (s source) broken(err error) error {
	f := *terminal.AsFailure(err)
	f.Detail = terminal.Joined(": ", s.laid, f.Detail)
	f.Fix = cmp.Or(f.Fix, "mend it there")
	return &f
}

// stat tells which file it is, and of standard input the file that it was redirected from.
func (s source) stat(c *terminal.Console) (fs.FileInfo, error) {
	if s.path != "-" {
		return os.Stat(s.path)
	}
	if file, is := c.In.(*os.File); is {
		return file.Stat()
	}
	return nil, fs.ErrNotExist
}

// endings are those of files that are read; what is compressed has .gz after it.
var endings = []string{".json", ".ndjson", ".jsonl"}

// endingOf is how a file's name ends, and what it says without that.
func endingOf(name string) (plain, ending string) {
	plain = strings.TrimSuffix(name, ".gz")
	plain = strings.TrimSuffix(plain, path.Ext(plain))
	return plain, strings.TrimPrefix(name, plain)
}

// inputs are the file that was named, or all that lie in the directory that was named, in order; and how much of what
// kind lies there that is left out. Hidden files are nobody's knowledge, and count as neither.
func inputs(named string) ([]source, map[string]int, error) {
	info, err := os.Stat(named)
	if named == "-" || err != nil || !info.IsDir() {
		return []source{{path: named, name: fileName(named)}}, nil, nil // what is wrong with it shows when it is opened
	}
	root := named
	if resolved, err := filepath.EvalSymlinks(serve.Absolute(named)); err == nil {
		root = resolved // a walk follows no link, and this one was named
	}
	var all []source
	left := map[string]int{}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && path != root
		switch {
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden || entry.IsDir():
			return nil
		}
		if kind := unread(root, path, entry); kind != "" {
			left[kind]++
			return nil
		}
		relative, err := filepath.Rel(root, path)
		all = append(all, source{path: path, name: fileName(path), laid: filepath.ToSlash(relative)})
		return err
	})
	switch {
	case err != nil:
		return nil, nil, terminal.Wrong("name a directory that can be read", "%s", err)
	case len(all) == 0:
		detail := "there is no .json file in " + named
		if len(left) > 0 {
			detail += ", only " + leftOut(left)
		}
		return nil, nil, terminal.Wrong("name one that annals export files has written, or a file; for a text, "+
			""+insteadOfImport, "%s", detail)
	}
	return all, left, nil
}

// What is left out whatever its name says.
const (
	linkToDirectory = "link to a directory"
	linkElsewhere   = "link that leads elsewhere"
	noFile          = "pipe or device"
)

// unread is what kind of thing it is, if it is none that is read. A link leads to a file below root, and neither to
// what lies elsewhere, which nobody has named, nor to a directory, in which it might lie itself; and a pipe might be
// waited for in vain.
func unread(root, path string, entry fs.DirEntry) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return linkToDirectory
	} else if err == nil && !info.Mode().IsRegular() {
		return noFile
	} else if entry.Type()&fs.ModeSymlink != 0 && !leadsBelow(root, path) {
		return linkElsewhere
	}
	_, ending := endingOf(strings.ToLower(entry.Name()))
	switch {
	case slices.Contains(endings, strings.TrimSuffix(ending, ".gz")):
		return ""
	case ending == "":
		return "without an ending"
	}
	return ending
}

// leadsBelow tells whether the link at path leads to what lies below root.
func leadsBelow(root, path string) bool {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true // what is wrong with it shows when it is opened
	}
	relative, err := filepath.Rel(root, target)
	return err == nil && filepath.IsLocal(relative)
}

// whyLeftOut groups what was left out by the reason.
func whyLeftOut(left map[string]int) map[string]map[string]int {
	why := map[string]map[string]int{}
	for kind, count := range left {
		reason := "since it is none of " + strings.Join(endings, ", ")
		switch kind {
		case linkToDirectory, linkElsewhere:
			reason = "since a link is followed only to a file in the directory"
		case noFile:
			reason = "since it is no file"
		}
		if why[reason] == nil {
			why[reason] = map[string]int{}
		}
		why[reason][kind] = count
	}
	return why
}

// leftOut says how much of what kind was left out.
func leftOut(left map[string]int) string {
	var said []string
	for _, kind := range slices.Sorted(maps.Keys(left)) {
		said = append(said, terminal.Counted(int64(left[kind]))+" "+kind)
	}
	return strings.Join(said, ", ")
}

// openInput is the named file, or standard input if it is "-", and how many bytes it has, if that is known.
func openInput(ctx context.Context, c *terminal.Console, name string) (io.ReadCloser, int64, error) {
	if name == "-" {
		return io.NopCloser(c.In), 0, nil
	}
	const fix = "name a file that can be read, or - for standard input"
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, 0, terminal.Wrong(fix, "%s", err)
	case info.IsDir():
		return nil, 0, terminal.Wrong(fix, "%s is no file", name)
	}
	file, err := openAnything(ctx, name, info.Mode())
	switch {
	case ctx.Err() != nil:
		return nil, 0, ctx.Err()
	case err != nil:
		return nil, 0, terminal.Wrong(fix, "%s", err)
	case strings.HasSuffix(name, ".gz"):
		return file, 0, nil // it holds more
	}
	return file, info.Size(), nil
}

// openAnything opens a file, and waits for whoever writes into a pipe no longer than ctx lasts: nobody waits for the
// goroutine then, since to open cannot be interrupted.
func openAnything(ctx context.Context, name string, mode fs.FileMode) (*os.File, error) {
	if mode&fs.ModeNamedPipe == 0 {
		return os.Open(name)
	}
	type opened struct {
		file *os.File
		err  error
	}
	pipe := make(chan opened, 1)
	go func() {
		file, err := os.Open(name)
		pipe <- opened{file, err}
	}()
	select {
	case o := <-pipe:
		return o.file, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
