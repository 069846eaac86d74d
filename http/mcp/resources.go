package mcp

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/client"
)

// addResources lets hosts read knowledge by its URI, and lists it, newest first, in pages.
func (s *Server) addResources(server *sdk.Server) {
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "knowledge", Title: "A piece of knowledge", URITemplate: "viking://{+path}", MIMEType: "text/markdown",
		Description: "What is remembered at a viking:// URI.",
	}, func(ctx context.Context, request *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		k, err := find(ctx, s.api(request), request.Params.URI)
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
			params, _ := request.GetParams().(*sdk.ListResourcesParams)
			return resourcesAt(ctx, s.api(request), cmp.Or(params, &sdk.ListResourcesParams{}).Cursor)
		}
	})
}

// privateToCaller keeps shared caches from showing an answer to other callers.
var privateToCaller = sdk.Cacheable{CacheScope: "private"}

// The parts of the list of resources. Archives of sessions come after all knowledge.
const itemsPart, archivesPart = "items", "archives"

// resourcesAt is a page of the list. A cursor is the part and the cursor of the API within it.
func resourcesAt(ctx context.Context, api *client.Client, cursor string) (*sdk.ListResourcesResult, error) {
	list := &sdk.ListResourcesResult{Cacheable: privateToCaller, Resources: []*sdk.Resource{}}
	begin, place, _ := strings.Cut(cmp.Or(cursor, itemsPart), ":")
	parts := []string{itemsPart, archivesPart}
	at := slices.Index(parts, begin)
	if at < 0 {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "cursor must be the nextCursor of a page"}
	}
	for _, part := range parts[at:] {
		query := url.Values{"limit": {"100"}}
		if place != "" {
			query.Set("cursor", place)
		}
		if part == archivesPart {
			query.Set("tag", "category:"+domain.ArchiveTag)
		}
		for page, err := range client.Pages[client.Knowledge](ctx, api, []string{"v1", "knowledge"}, query) {
			if why := reasonOf(err); err != nil && why.Code == invalidArgument {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: why.Message}
			} else if err != nil {
				return nil, errors.New(why.Message)
			}
			for _, k := range page.Items {
				isArchive := slices.Contains(k.Tags["category"], domain.ArchiveTag)
				if (k.Media == "" || k.Media == string(domain.MediaText)) && isArchive == (part == archivesPart) {
					list.Resources = append(list.Resources, resourceOf(k))
				}
			}
			if page.NextCursor != "" && len(list.Resources) > 0 {
				list.NextCursor = part + ":" + page.NextCursor
				return list, nil
			}
		}
		place = ""
	}
	return list, nil
}

func resourceOf(k client.Knowledge) *sdk.Resource {
	description := oneLine(cmp.Or(k.Abstract, k.Task, k.Content))
	if letters := []rune(description); len(letters) > 160 {
		description = string(letters[:160]) + "…"
	}
	title := domain.TitleOf(&domain.Knowledge{Text: domain.Text{Task: k.Task, Content: k.Content}})
	return &sdk.Resource{
		URI: k.URI, Name: k.ID, Title: strings.TrimLeft(title, "# "), Description: description, MIMEType: "text/markdown",
	}
}
