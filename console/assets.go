package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed assets
var assetFiles embed.FS

// assets are the files that pages load, by name. A file's address contains a part of its hash, so browsers may keep
// it for ever.
type assets map[string]asset

type asset struct {
	hash, kind string
	body       []byte
}

func loadAssets() assets {
	all := assets{}
	err := fs.WalkDir(assetFiles, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := assetFiles.ReadFile(name)
		sum := sha256.Sum256(body)
		all[path.Base(name)] = asset{hex.EncodeToString(sum[:6]), mime.TypeByExtension(path.Ext(name)), body}
		return err
	})
	if err != nil {
		panic(err) // the files are in the program
	}
	return all
}

// address is where a page loads a file from.
func (a assets) address(name string) string {
	base, extension, _ := strings.Cut(name, ".")
	return Root + "assets/" + base + "." + a[name].hash + "." + extension
}

func (a assets) serve(w http.ResponseWriter, r *http.Request) {
	base, rest, _ := strings.Cut(r.PathValue("name"), ".")
	hash, extension, _ := strings.Cut(rest, ".")
	file, known := a[base+"."+extension]
	if !known || hash != file.hash {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", file.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(file.body) // the browser may have left
}
