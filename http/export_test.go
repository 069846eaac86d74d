package http

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
)

// As lets every caller be a principal.
func (s *Server) As(p domain.Principal) {
	s.api.Authenticate = func(*http.Request) (domain.Principal, error) { return p, nil }
}

// Described is the description of the API with its examples, and the page for people.
func (s *Server) Described() (*huma.OpenAPI, []byte, error) {
	pages, err := s.pages()
	return s.api.Huma.OpenAPI(), pages.docs, err
}

// Patterns are the methods and paths of all routes.
func (s *Server) Patterns() (all []string) {
	for _, route := range s.echo.Routes() {
		all = append(all, route.Method+" "+route.Path)
	}
	return all
}
