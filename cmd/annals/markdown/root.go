package markdown

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// place is what the notes in a folder belong to, with the folder's path in there.
type place struct {
	key  string // the first part of ids
	name string // the same from the name of what they belong to on
}

// belongs is what the notes in a folder belong to.
func belongs(folder string) place {
	if resolved, err := filepath.EvalSymlinks(folder); err == nil {
		folder = resolved
	}
	root, top := rootOf(folder)
	inside, err := filepath.Rel(top, folder)
	if err != nil {
		inside = folder
	}
	inside = filepath.ToSlash(inside)
	return place{path.Join(root, inside), path.Join(path.Base(strings.TrimPrefix(root, "vault:")), inside)}
}

// placeOf is the place of a file: in the innermost git work tree or vault that begins above it.
func (in *Input) placeOf(file string) place {
	at := path.Dir(file)
	for in.roots[at] == (place{}) && at != path.Dir(at) {
		at = path.Dir(at)
	}
	file = strings.TrimPrefix(file, at+"/")
	return place{path.Join(in.roots[at].key, file), path.Join(in.roots[at].name, file)}
}

// From is the place of a part of a file.
func (in *Input) From(file, section string) *From { return &From{in.placeOf(file).name, section} }

// ID is the id of a part of a file for its audience. It stays the same when its text changes, and wherever its root
// lies.
func (in *Input) ID(file, part string) string {
	at := in.placeOf(file)
	key := norm.NFC.String(at.key) // a Mac may write names in another form
	name := norm.NFC.String(path.Join(path.Base(path.Dir(at.name)), path.Base(at.name)))
	if part != "" {
		key += "#" + part
	}
	sum := sha256.Sum256([]byte(cmp.Or(in.scopeOf(file), in.Caller) + "\n" + key))
	slug := Slug(strings.TrimSuffix(name, path.Ext(file)) + "-" + part)
	return strings.TrimLeft(FirstRunes(slug, 80)+"-"+hex.EncodeToString(sum[:6]), "-")
}

// rootOf is what the notes in a folder belong to, wherever it lies, and the folder where it begins: a git work tree by
// its remote, else a vault of Obsidian by its name, else the folder by its place.
func rootOf(folder string) (name, top string) {
	vault, tree := "", ""
	for at := folder; ; at = filepath.Dir(at) {
		if vault == "" && isVault(at) {
			vault = at
		}
		if remote, is := remoteOf(at); remote != "" {
			return origin(remote), at
		} else if is && tree == "" {
			tree = at
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if vault != "" {
		return "vault:" + filepath.Base(vault), vault
	}
	top = cmp.Or(tree, folder)
	return filepath.ToSlash(top), top
}

// begins tells whether a git work tree or a vault begins at a folder.
func begins(folder string) bool {
	_, is := remoteOf(folder)
	return is || isVault(folder)
}

func isVault(folder string) bool {
	info, err := os.Stat(filepath.Join(folder, ".obsidian"))
	return err == nil && info.IsDir()
}

// origin is where the clones from one another begin that a remote on this machine is the last of.
func origin(remote string) string {
	for range 5 {
		if !filepath.IsAbs(remote) {
			break
		}
		if resolved, err := filepath.EvalSymlinks(remote); err == nil {
			remote = resolved
		}
		if next, _ := remoteOf(remote); next != "" {
			remote = next
		} else if isVault(remote) {
			remote = "vault:" + filepath.Base(remote)
		}
	}
	return filepath.ToSlash(remote)
}

var (
	gitSection = regexp.MustCompile(`(?m)^\s*\[remote "([^"\n]+)"\]([^\[]*)`)
	gitURL     = regexp.MustCompile(`(?m)^\s*url\s*=\s*"?([^"\n]+?)"?\s*$`)
	gitSecret  = regexp.MustCompile(`^(\w+://)[^/]*@`)
	gitShort   = regexp.MustCompile(`^(?:[^@/]+@)?([^:/]{2,}):(.+)$`) // user@host:path
)

// remoteOf is the remote that a git repository at a folder was cloned from: host and path, or a path on this machine.
// It is empty if there is none.
func remoteOf(folder string) (remote string, is bool) {
	git := filepath.Join(folder, ".git")
	if to, err := os.ReadFile(git); err == nil { // a linked work tree, or a submodule
		git = from(folder, strings.TrimPrefix(string(to), "gitdir:"))
	}
	if to, err := os.ReadFile(filepath.Join(git, "commondir")); err == nil {
		git = from(git, string(to))
	}
	config, err := os.ReadFile(filepath.Join(git, "config"))
	if err != nil {
		return "", false
	}
	for _, section := range gitSection.FindAllStringSubmatch(string(config), -1) {
		address := gitURL.FindStringSubmatch(section[2])
		if address != nil && (remote == "" || section[1] == "origin") {
			remote = strings.TrimSuffix(strings.TrimRight(address[1], "/"), ".git")
		}
	}
	remote = gitSecret.ReplaceAllString(remote, "$1") // it need not be encoded
	parsed, err := url.Parse(remote)
	short := gitShort.FindStringSubmatch(remote)
	switch {
	case remote == "":
	case err == nil && parsed.Host != "":
		remote = strings.ToLower(path.Join(parsed.Hostname(), parsed.Path))
	case short != nil && (err != nil || parsed.Scheme != "file"):
		remote = strings.ToLower(path.Join(short[1], short[2]))
	default:
		remote = filepath.Clean(from(folder, strings.TrimPrefix(remote, "file://")))
	}
	return remote, true
}

// from is a path that a file of git names, seen from a folder.
func from(folder, name string) string {
	if name = strings.TrimSpace(name); filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(folder, name)
}
