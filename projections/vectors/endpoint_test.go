package vectors_test

import (
	"encoding/json"
	"hash/fnv"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/annals-kb/annals/projections/embedding"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// endpoint speaks OpenAI's embeddings API for any model, and counts the texts that it has answered for:
// a vector has a number for each word, at a place that depends on the model.
type endpoint struct {
	*httptest.Server

	mu       sync.Mutex
	answered map[string]map[string]int // by model and text
	left     map[string]int            // requests that a model answers before it falls silent; absent for any number
	served   map[string]int            // requests that a model has answered
}

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := &endpoint{answered: map[string]map[string]int{}, left: map[string]int{}, served: map[string]int{}}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

// answers lets a model answer so many requests more, and then fall silent; any number if negative.
func (e *endpoint) answers(model string, requests int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.left, model)
	if requests >= 0 {
		e.left[model] = requests
	}
}

// requests is how many requests a model has answered.
func (e *endpoint) requests(model string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.served[model]
}

// times is how often a model has answered for each text that it was sent.
func (e *endpoint) times(model string) map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	times := map[string]int{}
	maps.Copy(times, e.answered[model])
	return times
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, "not JSON", http.StatusBadRequest)
		return
	}
	switch all := strings.Join(asked.Input, " "); {
	case strings.Contains(all, "breaks"):
		http.Error(w, "out of memory", http.StatusInternalServerError)
		return
	case strings.Contains(all, "overflows"):
		_, _ = w.Write([]byte(`{"data":[{"index":0,"embedding":[NaN]}]}`))
		return
	}
	if !e.count(asked.Model, asked.Input) {
		<-r.Context().Done()
		return
	}
	type vector struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var answer struct {
		Data []vector `json:"data"`
	}
	for i, text := range asked.Input {
		answer.Data = append(answer.Data, vector{i, wordVector(asked.Model, text)})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

func (e *endpoint) count(model string, texts []string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if left, limited := e.left[model]; limited {
		if left == 0 {
			return false
		}
		e.left[model]--
	}
	if e.answered[model] == nil {
		e.answered[model] = map[string]int{}
	}
	e.served[model]++
	for _, text := range texts {
		e.answered[model][text]++
	}
	return true
}

// dimsOf are the lengths of the models' vectors.
var dimsOf = map[string]int{"small": 96, "large": 160}

func wordVector(model, text string) []float32 {
	v := make([]float32, dimsOf[model])
	v[0] = 0.1
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(model + word))
		v[h.Sum32()%uint32(len(v))]++
	}
	return v
}

// textsAtOnce is how many texts a model's embedder sends in a request.
const textsAtOnce = 3

// model is an embedder of the endpoint that sends few texts at a time.
func (e *endpoint) model(t *testing.T, name string) embedding.Embedder {
	t.Helper()
	return modelAt(t, e.URL, name)
}

func modelAt(t *testing.T, url, name string) embedding.Embedder {
	t.Helper()
	config := embedding.Config{Dims: dimsOf[name], MaxBatch: textsAtOnce}
	config.URL, config.Model, config.MinBackoff, config.MaxBackoff = url, name, time.Millisecond, time.Millisecond
	o := Must(embedding.NewOpenAI(config))(t)
	t.Cleanup(o.Close)
	return o
}
