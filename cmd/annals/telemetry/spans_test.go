package telemetry

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/annals-kb/annals/domain"
)

// traced is a request's context, and what is recorded below it.
func traced(t *testing.T) (context.Context, *Telemetry, *tracetest.SpanRecorder) {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	traces := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	telemetry := &Telemetry{tracer: traces.Tracer("annals"), traces: traces}
	ctx, span := telemetry.tracer.Start(t.Context(), "request")
	t.Cleanup(func() { span.End() })
	return ctx, telemetry, spans
}

// shown are the ended spans with their status and attributes.
func shown(spans *tracetest.SpanRecorder) (all []string) {
	for _, span := range spans.Ended() {
		line := span.Name() + " " + span.Status().Code.String()
		for _, a := range span.Attributes() {
			line += " " + string(a.Key) + "=" + a.Value.String()
		}
		all = append(all, line)
	}
	return all
}

func TestARefusalIsNoErrorOfTheServer(t *testing.T) {
	t.Parallel()
	ctx, telemetry, spans := traced(t)
	search := domain.Search{By: domain.Principal{Tenant: "acme"}, Text: "a secret question"}
	for _, err := range []error{domain.ErrInvalid, domain.ErrUnavailable, nil} {
		answer := domain.Answer{Hits: make([]domain.Found, 2)}
		got, failed := telemetry.Search(ctx, search, func(context.Context, domain.Search) (domain.Answer, error) { return answer, err })
		if failed != err || len(got.Hits) != 2 { //nolint:errorlint // the very same
			t.Errorf("got %v, %v, want %v", got, failed, err)
		}
	}
	const of = " gen_ai.operation.name=search_memory gen_ai.memory.store.id=acme "
	want := "search_memory Unset" + of + "error.type=invalid\nsearch_memory Error" + of + "error.type=unavailable\n" +
		"search_memory Unset" + of + "gen_ai.memory.record.count=2"
	if got := strings.Join(shown(spans), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCommandsHaveTheNamesOfTheConventions(t *testing.T) {
	t.Parallel()
	for want, commands := range map[string][]domain.Command{
		"create_memory": {domain.Remember{}}, "upsert_memory": {domain.Remember{OrRevise: true}},
		"update_memory": {domain.Revise{}, domain.GiveFeedback{}}, "delete_memory": {domain.Delete{}, domain.Erase{}},
		"": {domain.CreateKey{}},
	} {
		for _, command := range commands {
			if got := operationOf(command); got != want {
				t.Errorf("%T: got %q, want %q", command, got, want)
			}
		}
	}
}

// model is behind an endpoint.
type model struct{ transport http.RoundTripper }

func (m *model) Through(wrap func(operation string, next http.RoundTripper) http.RoundTripper) {
	m.transport = wrap("embeddings tiny", nil)
}

func TestARequestToAModelHasASpanOfItsOwn(t *testing.T) {
	t.Parallel()
	ctx, telemetry, spans := traced(t)
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/full" {
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer endpoint.Close()
	behind := &model{}
	telemetry.Models("built in", behind)
	for _, path := range []string{"/", "/full"} {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := behind.transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	const of = " gen_ai.operation.name=embeddings gen_ai.request.model=tiny"
	if got, want := strings.Join(shown(spans), "\n"), "embeddings tiny Unset"+of+"\nembeddings tiny Error"+of; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
