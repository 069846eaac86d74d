package operate

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"runtime/pprof"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

// Debug tells why a server is slow or stands still. Warnings are the last warnings and errors of its log, one a line;
// nil for none.
type Debug struct{ Warnings func() string }

// Routes registers the operations.
func (d Debug) Routes(a *serve.API, _ visible.Events) {
	const text = "text/plain; charset=utf-8"
	debugRoute(a, "profile", "application/octet-stream", "Profile the processor for some seconds, for go tool pprof",
		takeProfile(a.Leaving))
	debugRoute(a, "goroutines", text, "List the goroutines: where each is, and how long it has waited",
		func(_ context.Context, _ *serve.Call, _ *struct{}, to *bytes.Buffer) error {
			const eachStack = 2
			return pprof.Lookup("goroutine").WriteTo(to, eachStack)
		})
	debugRoute(a, "warnings", text, "Read the last warnings and errors of the server's log",
		func(_ context.Context, _ *serve.Call, _ *struct{}, to *bytes.Buffer) error {
			if d.Warnings != nil {
				to.WriteString(d.Warnings())
			}
			return nil
		})
}

func debugRoute[I any](
	a *serve.API, name, form, summary string, write func(context.Context, *serve.Call, *I, *bytes.Buffer) error,
) {
	serve.Handle(a, huma.Operation{
		OperationID: "debug-" + name, Method: http.MethodGet, Path: "/v1/debug/" + name, Tags: []string{"Operation"},
		Summary: summary, Description: "Without what people wrote. For operators: the process serves all tenants.",
		Responses: map[string]*huma.Response{"200": {
			Description: http.StatusText(http.StatusOK),
			Content:     map[string]*huma.MediaType{form: {Schema: &huma.Schema{Type: huma.TypeString}}},
		}},
	}, func(ctx context.Context, c *serve.Call, in *I) (*serve.Streamed, error) {
		if !c.Principal.IsOperator() {
			return nil, domain.Refuse(domain.ErrForbidden, "what the process does is for operators").
				WithFix("use a key of the role root")
		}
		var found bytes.Buffer
		if err := write(ctx, c, in, &found); err != nil {
			return nil, err
		}
		return &serve.Streamed{Body: func(to huma.Context) {
			to.SetHeader("Content-Type", form)
			_, _ = found.WriteTo(to.BodyWriter()) // the caller may have left
		}}, c.Found.Err()
	})
}

type profileInput struct {
	Seconds serve.Integer `query:"seconds" doc:"From 1 to 20. Default: 5."`
}

// takeProfile ends early if the server leaves.
func takeProfile(leaving <-chan struct{}) func(context.Context, *serve.Call, *profileInput, *bytes.Buffer) error {
	return func(ctx context.Context, c *serve.Call, in *profileInput, to *bytes.Buffer) error {
		const usual = 5
		seconds := cmp.Or(in.Seconds.Read(&c.Found, "seconds", 1, api.MaxProfileSeconds), usual)
		if err := c.Found.Err(); err != nil {
			return err
		}
		if pprof.StartCPUProfile(to) != nil {
			return domain.Refuse(domain.ErrBusy, "the process is being profiled already").
				WithFix("try again when that has ended; with --cpu-profile it is profiled until it stops")
		}
		defer pprof.StopCPUProfile()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-leaving:
		case <-time.After(time.Duration(seconds) * time.Second):
		}
		return nil
	}
}
