package record

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/markdown"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
)

// open opens the records of a source, and returns the size in bytes; 0 if it is unknown.
func (s source) open(ctx context.Context, c *terminal.Console) (io.ReadCloser, int64, error) {
	if len(s.text) > 0 {
		return io.NopCloser(bytes.NewReader(s.text)), int64(len(s.text)), nil
	}
	if s.other == nil {
		return openInput(ctx, c, s.path)
	}
	out, in := io.Pipe()
	go func() {
		encoder := json.NewEncoder(in)
		in.CloseWithError(s.other.Items(func(item markdown.Item) error {
			if item.Known != nil {
				s.known(item)
				return nil
			}
			return encoder.Encode(item)
		}))
	}()
	return out, 0, nil
}

// scopes is the scope of each folder that --map names, or of the nearest folder above it.
func (i *ImportCommand) scopes() (func(folder string) string, error) {
	of := map[string]string{}
	for _, pair := range i.Map {
		folder, scope, is := strings.Cut(pair, "=")
		if _, err := domain.ParseScope(scope); !is || err != nil {
			return nil, terminal.Wrong("as in --map decisions=team:pay, or --map .=org:acme for everything",
				"--map %s names no folder and scope", terminal.Printable(pair))
		}
		of[path.Clean(folder)] = scope
	}
	return func(folder string) string {
		for ; ; folder = path.Dir(folder) {
			if scope := of[folder]; scope != "" || folder == "." || folder == "/" {
				return scope
			}
		}
	}, nil
}
