package mcp

import (
	"cmp"
	"context"
	"errors"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/http/client"
)

// maxOffered is how many of the newest items a host lists. Hosts read all others by their URI.
const maxOffered = 50

// addResources lets hosts read knowledge by its URI, and lists the newest items.
func (s *Server) addResources(server *sdk.Server) {
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "knowledge", Title: "A piece of knowledge", URITemplate: "viking://{+path}", MIMEType: "text/markdown",
		Description: "What is remembered at a viking:// URI.",
	}, func(ctx context.Context, request *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		k, err := s.api(request.Extra).At(ctx, request.Params.URI)
		if errors.Is(err, client.ErrNotFound) || errors.Is(err, client.ErrGone) {
			return nil, sdk.ResourceNotFoundError(request.Params.URI)
		}
		if err != nil {
			return nil, errors.New(reasonOf(err).Message)
		}
		return &sdk.ReadResourceResult{
			Contents: []*sdk.ResourceContents{{URI: k.URI, MIMEType: "text/markdown", Text: itemText(k)}},
		}, nil
	})
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
			if method != "resources/list" {
				return next(ctx, method, request)
			}
			return s.newest(ctx, s.api(request.GetExtra()))
		}
	})
}

// privateToCaller keeps shared caches from showing an answer to other callers.
var privateToCaller = sdk.Cacheable{CacheScope: "private"}

func (s *Server) newest(ctx context.Context, api *client.Client) (*sdk.ListResourcesResult, error) {
	list := &sdk.ListResourcesResult{Cacheable: privateToCaller, Resources: []*sdk.Resource{}}
	for k, err := range api.List(ctx, url.Values{}) {
		if err != nil {
			return nil, errors.New(reasonOf(err).Message)
		}
		if k.Media != "" && k.Media != "text" {
			continue
		}
		description := oneLine(cmp.Or(k.Abstract, k.Task, k.Content))
		if letters := []rune(description); len(letters) > 160 {
			description = string(letters[:160]) + "…"
		}
		list.Resources = append(list.Resources, &sdk.Resource{
			URI: k.URI, Name: k.ID, Description: description, MIMEType: "text/markdown",
		})
		if len(list.Resources) == maxOffered {
			break
		}
	}
	return list, nil
}
