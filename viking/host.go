package viking

import (
	"os"
	"path/filepath"

	"github.com/annals-kb/annals/domain"
)

// onHost reads a file of the machine that the server runs on, where that is allowed. Links do not lead out.
func (s *Server) onHost(name string) (source, error) {
	refused := domain.Refuse(domain.ErrForbidden, "the server reads no files of its own machine there").
		WithFix("upload the file, or let the server be started with --host-paths")
	for _, allowed := range s.cfg.HostPaths {
		inside, err := filepath.Rel(allowed, name)
		if err != nil || !filepath.IsLocal(inside) {
			continue
		}
		content, err := readWithin(allowed, inside)
		if err != nil {
			return source{}, invalid("path", "is no file that can be read, of at most %d bytes", maxUpload)
		}
		return source{name: filepath.Base(name), bytes: content, path: name}, nil
	}
	return source{}, refused
}

func readWithin(directory, name string) ([]byte, error) {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxUpload {
		return nil, os.ErrInvalid
	}
	return root.ReadFile(name)
}
