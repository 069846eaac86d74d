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

	"github.com/dustin/go-humanize"

	"github.com/annals-kb/annals/cmd/annals/markdown"
	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
)

// source is a file of an import.
type source struct {
	path string // to open it
	name string // the file's name in histories
	laid string // its path in the layout; empty for a single file

	other *markdown.Input     // what another program has written; nil for records
	known func(markdown.Item) // takes its notes that were written from items
	text  []byte              // records that stand in no file
	notes bool                // the records are of files of another program

	differs func(markdown.Item) // takes records whose items have another content
	me      *domain.Principal   // compares fingerprints first, see [sender]
}

// broken adds the name of the file to an error that stops reading a file of a directory.
func (s source) broken(err error) error {
	f := *terminal.AsFailure(err)
	f.Detail = terminal.Joined(": ", s.laid, f.Detail)
	f.Fix = cmp.Or(f.Fix, "mend it there")
	return &f
}

// stat describes the file; for standard input, the file that it was redirected from.
func (s source) stat(c *terminal.Console) (fs.FileInfo, error) {
	if s.path != "-" {
		return os.Stat(s.path)
	}
	if file, is := c.In.(*os.File); is {
		return file.Stat()
	}
	return nil, fs.ErrNotExist
}

// endings are the endings of import files; compressed files have .gz after it.
var endings = []string{".json", ".ndjson", ".jsonl"}

// endingOf splits a file's name into the part before its ending and the ending.
func endingOf(name string) (plain, ending string) {
	plain = strings.TrimSuffix(name, ".gz")
	plain = strings.TrimSuffix(plain, path.Ext(plain))
	return plain, strings.TrimPrefix(name, plain)
}

// inputs are the named file, or the files in the named directory in order, and the numbers of omitted files by kind.
// It ignores hidden files.
func inputs(named string) ([]source, map[string]int, error) {
	info, err := os.Stat(named)
	if named == "-" || err != nil || !info.IsDir() {
		return []source{{path: named, name: fileName(named)}}, nil, nil // opening the file reports errors
	}
	root := named
	if resolved, err := filepath.EvalSymlinks(serve.Absolute(named)); err == nil {
		root = resolved // a walk follows no links, but the named one must be followed
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
		detail := "nothing to import: there is no note and no .json file in " + named
		if len(left) > 0 {
			detail += ", only " + leftOut(left)
		}
		return nil, nil, &terminal.Failure{
			Code: terminal.ExitFailed, Detail: detail,
			Fix: "name a folder of notes, an export of another program, or what annals export has written; for a text, " +
				insteadOfImport,
		}
	}
	return all, left, nil
}

// Kinds of files that are omitted whatever their names are.
const (
	linkToDirectory = "link to a directory"
	linkElsewhere   = "link that leads elsewhere"
	noFile          = "pipe or device"
)

// unread is the kind of a file that the import omits; empty for one to read. It omits links to directories, which
// might form a loop, links to files outside of root, and pipes, which might block.
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

// leadsBelow tells whether the link at path leads to a file below root.
func leadsBelow(root, path string) bool {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true // opening the file reports errors
	}
	relative, err := filepath.Rel(root, target)
	return err == nil && filepath.IsLocal(relative)
}

// leftOut counts the omitted files by kind.
func leftOut(left map[string]int) string {
	var counts []string
	for _, kind := range slices.Sorted(maps.Keys(left)) {
		counts = append(counts, humanize.Comma(int64(left[kind]))+" "+kind)
	}
	return strings.Join(counts, ", ")
}

// openInput opens the named file, or standard input if it is "-". It returns the size in bytes; 0 if it is unknown.
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
		return file, 0, nil // the uncompressed size is unknown
	}
	return file, info.Size(), nil
}

// openAnything opens a file. For a pipe, it waits for a writer until ctx ends. Its goroutine may stay, since opening
// cannot be interrupted.
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
