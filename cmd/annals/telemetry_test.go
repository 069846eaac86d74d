package main

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/http/servertest"
)

// collector is an OpenTelemetry collector that keeps what it receives.
type collector struct {
	*httptest.Server
	hangs chan struct{} // nil, or it answers when this is closed

	mu      sync.Mutex
	raw     bytes.Buffer
	spans   []*tracepb.Span
	metrics map[string]bool
}

func newCollector(t *testing.T, hangs chan struct{}) *collector {
	t.Helper()
	c := &collector{hangs: hangs, metrics: map[string]bool{}}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	c.mu.Lock()
	c.raw.Write(body)
	var traces collectortrace.ExportTraceServiceRequest
	var metrics collectormetrics.ExportMetricsServiceRequest
	if err == nil && r.URL.Path == "/v1/traces" {
		err = proto.Unmarshal(body, &traces)
	} else if err == nil {
		err = proto.Unmarshal(body, &metrics)
	}
	for _, resource := range traces.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
	for _, resource := range metrics.GetResourceMetrics() {
		for _, scope := range resource.GetScopeMetrics() {
			for _, m := range scope.GetMetrics() {
				c.metrics[m.GetName()] = true
			}
		}
	}
	c.mu.Unlock()
	if c.hangs != nil {
		<-c.hangs
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
	}
}

// tree describes the spans below one, and those below these, as far as the test knows them.
func (c *collector) tree(parent []byte, indent string) (lines []string) {
	for _, name := range []string{
		"POST /v1/knowledge", "create_memory", "append", "lock", "POST /v1/search", "search_memory", "scope", "words",
		"meaning", "rank",
	} {
		for _, span := range c.spans {
			if span.GetName() == name && bytes.Equal(span.GetParentSpanId(), parent) {
				line := indent + name
				for _, a := range span.GetAttributes() {
					if key := a.GetKey(); strings.HasPrefix(key, "gen_ai.") {
						value := cmp.Or(a.GetValue().GetStringValue(), strconv.FormatInt(a.GetValue().GetIntValue(), 10))
						line += " " + strings.TrimPrefix(key, "gen_ai.") + "=" + value
					}
				}
				lines = append(append(lines, line), c.tree(span.GetSpanId(), indent+"  ")...)
			}
		}
	}
	return lines
}

// observed runs a server that sends to the collector.
func observed(t *testing.T, c *collector, more ...string) string {
	t.Helper()
	data := t.TempDir()
	return startServer(t, data, append(more, "PATH="+os.Getenv("PATH"), "HOME="+data, "ANNALS_LISTEN=127.0.0.1:0",
		"ANNALS_DATA="+data, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL))
}

// call sends a request, which must be answered well, and returns the answer.
func call(t *testing.T, method, url, body, traceparent string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if strings.Contains(body, "\n") {
		r.Header.Set("Content-Type", "application/x-ndjson")
	}
	r.Header.Set("Traceparent", traceparent)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s %s: %d %s %v", method, url, response.StatusCode, text, err)
	}
	return string(text)
}

func TestACollectorReceivesTheTraceOfARememberAndOfASearch(t *testing.T) {
	eachEngine(t, func(t *testing.T, _ database.Engine, newDatabase func(testing.TB) string) {
		tracesOf(t, "DATABASE_URL="+newDatabase(t))
	})
}

func tracesOf(t *testing.T, databaseURL string) {
	t.Helper()
	const remembers = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	const searches = "00-1af7651916cd43dd8448eb211c80319c-c7ad6b7169203331-01"
	c := newCollector(t, nil)
	const imports = "00-2af7651916cd43dd8448eb211c80319c-d7ad6b7169203331-01"
	var recorded string
	t.Run("server", func(t *testing.T) { //nolint:paralleltest // it ends, and sends what it has, before the next line
		url := observed(t, c, databaseURL, "ANNALS_TRACE_URL=https://traces.example/t/{trace_id}?x=1")
		call(t, "POST", url+"/v1/knowledge", `{"id":"of-alice","type":"strategy","content":"roll back the canary"}`, remembers)
		call(t, "POST", url+"/v1/search", `{"query":"question about a canary"}`, searches)
		call(t, "POST", url+"/v1/knowledge", strings.Repeat(`{"type":"tool","content":"a canary"}`+"\n", 300), imports)
		call(t, "GET", url+"/healthz", "", "")
		recorded = call(t, "GET", url+"/v1/events?trace_id="+remembers[3:35], "", "")
		link := `<a href="https://traces.example/t/` + remembers[3:35] + `?x=1">`                               // part: console
		servertest.Like(t, call(t, "GET", url+"/console/log/1", "", ""), servertest.Containing(link), "a link") // part: console
	})
	parent := func(header string) []byte {
		id, _ := hex.DecodeString(header[36:52])
		return id
	}
	servertest.Same(t, c.tree(parent(remembers), ""), []string{
		"POST /v1/knowledge", "  create_memory operation.name=create_memory memory.store.id=default memory.record.count=1",
		"    append", "      lock",
	}, "the spans of a remember")
	servertest.Same(t, c.tree(parent(searches), ""), []string{
		"POST /v1/search", "  search_memory operation.name=search_memory memory.store.id=default memory.record.count=1",
		"    scope", "    words", "    meaning", "    rank",
	}, "the spans of a search")
	servertest.Same(t, c.tree(parent(imports), ""), []string{
		"POST /v1/knowledge operation.name=create_memory memory.store.id=default memory.record.count=300",
	}, "the span of an import")
	for _, span := range c.spans {
		if bytes.Equal(span.GetParentSpanId(), parent(remembers)) {
			own := fmt.Sprintf(`"traceparent":"00-%x-%x-01"`, span.GetTraceId(), span.GetSpanId())
			servertest.Same(t, strings.Contains(recorded, own), true, "the event has not the span as its traceparent")
		}
		if strings.Contains(span.GetName(), "healthz") {
			t.Error("there is a span of /healthz, which is polled")
		}
	}
	for _, private := range []string{"canary", "of-alice", "question"} {
		if strings.Contains(c.raw.String(), private) {
			t.Errorf("%q was sent", private)
		}
	}
	if !c.metrics["annals_http_requests_total"] {
		t.Errorf("the metrics do not have those of /metrics: %v", c.metrics)
	}
}

func TestACollectorThatDoesNotAnswerHoldsUpNothing(t *testing.T) {
	t.Parallel()
	const requests, queue = 40, 8
	hangs := make(chan struct{})
	c := newCollector(t, hangs)
	t.Run("server", func(t *testing.T) { //nolint:paralleltest // it ends before the next line
		url := observed(t, c, fmt.Sprint("OTEL_BSP_MAX_QUEUE_SIZE=", queue), "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=4")
		for range requests {
			call(t, "POST", url+"/v1/search", `{"query":"anything"}`, "")
		}
	})
	close(hangs)
	if n := len(c.spans); n == 0 || n > 2*queue {
		t.Errorf("the collector was sent %d spans of %d requests, want at most those that fit the queue", n, requests)
	}
}
