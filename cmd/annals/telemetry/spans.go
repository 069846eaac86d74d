package telemetry

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/serve"
)

// No attribute holds a text, a question, a key, or the id of an item or a person.
const (
	operationName = attribute.Key("gen_ai.operation.name")
	storeID       = attribute.Key("gen_ai.memory.store.id") // the tenant
	recordCount   = attribute.Key("gen_ai.memory.record.count")
)

// recorded is the key of how many records the bulk writes of a request have recorded.
type recorded struct{}

// Trace gives each request a span, under that of its traceparent. What the request records has the span's context as
// its traceparent.
func (t *Telemetry) Trace(next echo.HandlerFunc) echo.HandlerFunc {
	return func(e echo.Context) error {
		switch e.Path() {
		case "/healthz", "/readyz", "/metrics": // which are polled
			return next(e)
		}
		r, w3c := e.Request(), propagation.TraceContext{}
		ctx, span := t.tracer.Start(w3c.Extract(r.Context(), propagation.HeaderCarrier(r.Header)), "HTTP",
			trace.WithSpanKind(trace.SpanKindServer))
		if !span.IsRecording() {
			e.SetRequest(r.WithContext(ctx))
			return next(e)
		}
		r = r.Clone(context.WithValue(ctx, recorded{}, new(atomic.Int64)))
		w3c.Inject(ctx, propagation.HeaderCarrier(r.Header))
		e.SetRequest(r)
		defer func() {
			status := e.Response().Status
			span.SetAttributes(attribute.Int("http.response.status_code", status))
			if c, ok := e.Request().Context().Value(serve.CallKey{}).(*serve.Call); ok && c.Route != serve.Unmatched {
				span.SetName(r.Method + " " + c.Route)
				span.SetAttributes(attribute.String("http.request.method", r.Method), attribute.String("http.route", c.Route))
			}
			if status >= http.StatusInternalServerError {
				span.SetStatus(codes.Error, "")
			}
			span.End()
		}()
		return next(e)
	}
}

// Seam is what begins the spans of the parts of a request; nil without telemetry.
func (t *Telemetry) Seam() func(context.Context, string) (context.Context, func()) {
	if t == nil {
		return nil
	}
	return func(ctx context.Context, name string) (context.Context, func()) {
		if !trace.SpanFromContext(ctx).IsRecording() {
			return ctx, func() {}
		}
		ctx, span := t.tracer.Start(ctx, name)
		return ctx, func() { span.End() }
	}
}

// memory does an operation on the memory, within a span of its name if the request is traced.
func (t *Telemetry) memory(
	ctx context.Context, name, tenant string, do func(context.Context) ([]attribute.KeyValue, error),
) {
	if name == "" || !trace.SpanFromContext(ctx).IsRecording() {
		_, _ = do(ctx)
		return
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithAttributes(operationName.String(name), storeID.String(tenant)))
	defer span.End()
	found, err := do(ctx)
	if err == nil {
		span.SetAttributes(found...)
		return
	}
	answer := serve.AnswerTo(err)
	span.SetAttributes(attribute.String("error.type", answer.Code))
	if answer.Status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
}

// Search is a search_memory.
func (t *Telemetry) Search(
	ctx context.Context, s domain.Search, search func(context.Context, domain.Search) (domain.Answer, error),
) (answer domain.Answer, err error) {
	t.memory(ctx, "search_memory", s.By.Tenant, func(ctx context.Context) ([]attribute.KeyValue, error) {
		answer, err = search(ctx, s)
		return []attribute.KeyValue{recordCount.Int(len(answer.Hits))}, err
	})
	return answer, err
}

// Writer traces commands.
func (t *Telemetry) Writer(next serve.Writer) serve.Writer { return writer{next, t} }

type writer struct {
	serve.Writer
	telemetry *Telemetry
}

func (w writer) Submit(ctx context.Context, s domain.Submission) (receipt domain.Receipt, err error) {
	do := func(ctx context.Context) (found []attribute.KeyValue, _ error) {
		receipt, err = w.Writer.Submit(ctx, s)
		found = append(found, recordCount.Int(1), attribute.Int64("annals.event.position", receipt.Position))
		if len(receipt.Events) > 0 {
			found = append(found, attribute.String("annals.event.id", receipt.Events[0].EventID))
		}
		return found, err
	}
	w.telemetry.memory(ctx, operationOf(s.Command), s.By.Tenant, do)
	return receipt, err
}

// SubmitAll counts what is recorded in the span of the request, which may write millions of records.
func (w writer) SubmitAll(ctx context.Context, submissions []domain.Submission) []domain.Result {
	total, traced := ctx.Value(recorded{}).(*atomic.Int64)
	if !traced || len(submissions) == 0 {
		return w.Writer.SubmitAll(ctx, submissions)
	}
	results := w.Writer.SubmitAll(trace.ContextWithSpanContext(ctx, trace.SpanContext{}), submissions)
	for _, result := range results {
		if result.Err == nil {
			total.Add(1)
		}
	}
	if name := operationOf(submissions[0].Command); name != "" {
		trace.SpanFromContext(ctx).SetAttributes(operationName.String(name), storeID.String(submissions[0].By.Tenant),
			recordCount.Int64(total.Load()))
	}
	return results
}

// operationOf is the conventional name of what a command does to the memory; empty if it is about something else.
func operationOf(c domain.Command) string {
	switch c := c.(type) {
	case domain.Remember:
		if c.OrRevise {
			return "upsert_memory"
		}
		return "create_memory"
	case domain.Revise, domain.Supersede, domain.Merge, domain.Unmerge, domain.Restore, domain.Link, domain.Unlink,
		domain.GiveFeedback, domain.RetractFeedback, domain.ReportStale, domain.Confirm, domain.Hold, domain.Release:
		return "update_memory"
	case domain.Delete, domain.Erase:
		return "delete_memory"
	}
	return ""
}

// Models traces the requests of those models that are behind an endpoint.
func (t *Telemetry) Models(all ...any) {
	type wrap = func(operation string, next http.RoundTripper) http.RoundTripper
	for _, model := range all {
		if model, is := model.(interface{ Through(wrap wrap) }); is {
			model.Through(func(operation string, next http.RoundTripper) http.RoundTripper {
				return transport{cmp.Or(next, http.DefaultTransport), t.tracer, operation}
			})
		}
	}
}

type transport struct {
	http.RoundTripper
	tracer trace.Tracer
	name   string
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	operation, model, _ := strings.Cut(t.name, " ")
	ctx, span := t.tracer.Start(r.Context(), t.name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		operationName.String(operation), attribute.String("gen_ai.request.model", model)))
	defer span.End()
	response, err := t.RoundTripper.RoundTrip(r.WithContext(ctx))
	if err != nil || response.StatusCode >= http.StatusBadRequest {
		span.SetStatus(codes.Error, "")
	}
	return response, err
}
