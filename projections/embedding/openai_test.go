package embedding_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/projections/embedding"
)

const (
	secret  = "sk-very-secret"
	private = "what nobody else may read"
)

// endpoint speaks OpenAI's embeddings API: vectors of four numbers that tell the text's length, in reverse order.
type endpoint struct {
	// answer, if set, answers the nth request (from 1) and returns true, or leaves it to the endpoint.
	answer func(n int, w http.ResponseWriter, body string) bool

	mutex    sync.Mutex
	requests []received
}

type received struct {
	Path, Authorization, Body string
	at                        time.Time
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body strings.Builder
	if err := json.NewDecoder(r.Body).Decode(&jsonInto{&body}); err != nil {
		http.Error(w, "not JSON", http.StatusBadRequest)
		return
	}
	e.mutex.Lock()
	e.requests = append(e.requests, received{r.URL.Path, r.Header.Get("Authorization"), body.String(), time.Now()})
	n := len(e.requests)
	e.mutex.Unlock()
	if e.answer != nil && e.answer(n, w, body.String()) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(w, vectorsFor(body.String()))
}

// jsonInto keeps what it decodes as it came.
type jsonInto struct{ to *strings.Builder }

func (j *jsonInto) UnmarshalJSON(b []byte) error { j.to.Write(b); return nil }

type input struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Format     string   `json:"encoding_format"`
	Dimensions *int     `json:"dimensions"`
}

func inputOf(body string) (in input) {
	if err := json.Unmarshal([]byte(body), &in); err != nil {
		panic(err)
	}
	return in
}

func vectorsFor(body string) string {
	var data []string
	for i, s := range slices.Backward(inputOf(body).Input) {
		data = append(data, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[3,4,0,%d]}`, i, len(s)))
	}
	return `{"object":"list","data":[` + strings.Join(data, ",") + `]}`
}

func (e *endpoint) received() []received {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return slices.Clone(e.requests)
}

// inputs lists the texts of every request.
func (e *endpoint) inputs() [][]string {
	var inputs [][]string
	for _, r := range e.received() {
		inputs = append(inputs, inputOf(r.Body).Input)
	}
	return inputs
}

// serve starts an endpoint and returns an embedder for it.
func serve(t *testing.T, e *endpoint, change func(*embedding.Config)) *embedding.OpenAI {
	t.Helper()
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	config := embedding.Config{Dims: 4}
	config.URL, config.Model, config.Key = server.URL+"/api/v3", "test", secret
	config.MinBackoff, config.MaxBackoff = time.Microsecond, time.Millisecond
	if change != nil {
		change(&config)
	}
	return open(t, config)
}

func open(t *testing.T, config embedding.Config) *embedding.OpenAI {
	t.Helper()
	openAI, err := embedding.NewOpenAI(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(openAI.Close)
	return openAI
}

func TestVectorsComeInTheOrderOfTheTexts(t *testing.T) {
	t.Parallel()
	e := &endpoint{}
	openAI := serve(t, e, nil)
	vectors, err := openAI.Embed(t.Context(), []string{"", "one", "three"}, embedding.Document)
	if err != nil {
		t.Fatal(err)
	}
	for i, length := range []float64{1, 3, 5} { // a dash stands for nothing
		norm := math.Sqrt(25 + length*length)
		want := []float32{float32(3 / norm), float32(4 / norm), 0, float32(length / norm)}
		if diff := cmp.Diff(vectors[i], want); diff != "" {
			t.Errorf("vector %d, got - want +:\n%s", i, diff)
		}
	}
	got := e.received()[0]
	if got.Path != "/api/v3/embeddings" || got.Authorization != "Bearer "+secret {
		t.Errorf("sent to %s with %q", got.Path, got.Authorization)
	}
	if want := `{"model":"test","input":["-","one","three"],"encoding_format":"float"}`; got.Body != want {
		t.Errorf("sent %s, want %s", got.Body, want)
	}
}

func TestNoTextsNeedNoRequest(t *testing.T) {
	t.Parallel()
	e := &endpoint{}
	vectors, err := serve(t, e, nil).Embed(t.Context(), nil, embedding.Query)
	if err != nil || len(vectors) != 0 || len(e.received()) != 0 {
		t.Errorf("%d vectors, error %v, %d requests", len(vectors), err, len(e.received()))
	}
}

func TestTextsAreSentInBatches(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("many words ", 10)
	e := &endpoint{}
	openAI := serve(t, e, func(c *embedding.Config) { c.MaxBatch, c.MaxBatchTokens = 3, 22 })
	vectors, err := openAI.Embed(t.Context(), []string{"a", "b", "c", "d", long, "e", "f"}, embedding.Document)
	if err != nil {
		t.Fatal(err)
	}
	if len(vectors) != 7 {
		t.Errorf("%d vectors, want 7", len(vectors))
	}
	if diff := cmp.Diff(e.inputs(), [][]string{{"a", "b", "c"}, {"d"}, {long}, {"e", "f"}}); diff != "" {
		t.Errorf("got - want +:\n%s", diff)
	}
}

func TestDimensionsAreAskedForOnlyWhereAModelShortens(t *testing.T) {
	t.Parallel()
	e := &endpoint{}
	openAI := serve(t, e, func(c *embedding.Config) { c.Model = "text-embedding-3-small" })
	if _, err := openAI.Embed(t.Context(), []string{"x"}, embedding.Query); err != nil {
		t.Fatal(err)
	}
	if got := inputOf(e.received()[0].Body).Dimensions; got == nil || *got != 4 {
		t.Errorf("asked for %v dimensions, want 4", got)
	}
}

func TestAModelsPrefixesTellQuestionsFromDocuments(t *testing.T) {
	t.Parallel()
	e := &endpoint{}
	openAI := serve(t, e, func(c *embedding.Config) { c.Model = "nomic-embed-text:latest" })
	for _, kind := range []embedding.Kind{embedding.Query, embedding.Document} {
		if _, err := openAI.Embed(t.Context(), []string{"x"}, kind); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(e.inputs(), [][]string{{"search_query: x"}, {"search_document: x"}}); diff != "" {
		t.Errorf("got - want +:\n%s", diff)
	}
}

func TestManyCallersShareAnEmbedder(t *testing.T) {
	t.Parallel()
	openAI := serve(t, &endpoint{}, func(c *embedding.Config) { c.MaxBatch = 2 })
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			texts := []string{strings.Repeat("x", i+1), "y", "z"}
			vectors, err := openAI.Embed(t.Context(), texts, embedding.Document)
			if err != nil {
				t.Error(err)
				return
			}
			if got, want := vectors[0][3]/vectors[0][0], float32(i+1)/3; math.Abs(float64(got-want)) > 1e-5 {
				t.Errorf("caller %d got another's vector", i)
			}
		})
	}
	group.Wait()
}
