package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
)

const (
	dims   = 1536
	topics = 400
	themes = 8 // of each topic
)

// Shares of a vector's variance: common to all, of its topic, of its theme in the topic, of its own, and noise. Two
// texts have a cosine of 0.1, of one topic 0.4, of one theme 0.6, as with embedding models.
const (
	commonShare = 0.10
	topicShare  = 0.28
	themeShare  = 0.24
	ownShare    = 0.28
	noiseShare  = 0.10
)

// world has the items and the questions. The same sizes give the same world on every machine.
type world struct {
	items     []item
	topics    []int       // of the items
	vectors   [][]float32 // of the items, of length 1
	questions []question
}

// question is a vector, or words that an item contains.
type question struct {
	words  string
	vector []float32
}

// groups are scopes with items that no other group sees. A broad group has items of all topics, the others of a few.
var groups = []struct {
	scope string
	items int
	broad bool
}{
	{"user:ada", 43, false},
	{"project:apollo", 207, false},
	{"team:core", 207, false},
	{"public", 5027, true},
	{"org:acme", 20_211, true},
}

func newWorld(items, questions int) *world {
	random := rand.New(rand.NewPCG(1, 2))
	space, a := newSpace(random), author{random}
	w := &world{}
	for i := range items {
		topic := space.topic(random)
		it := item{
			ID: fmt.Sprintf("item-%06d", i), Content: fmt.Sprintf("#%d topic%d %s", i, topic, a.prose(16)),
			Owner: "org:acme",
		}
		it.Type = typeAt(i)
		w.items, w.topics = append(w.items, it), append(w.topics, topic)
		w.vectors = append(w.vectors, space.mix(random, topic, noiseShare))
	}
	for _, g := range groups {
		interest := make([]float64, topics)
		for topic := range interest {
			interest[topic] = random.ExpFloat64()
			if !g.broad && random.IntN(30) > 0 {
				interest[topic] /= 50
			}
		}
		for _, i := range w.draw(random, interest, g.items) {
			w.items[i].Scopes = []string{g.scope}
		}
	}
	for i := range w.items {
		if w.items[i].Scopes == nil {
			w.items[i].Scopes = unrelated(random)
		}
	}
	for range questions {
		topic := space.topic(random)
		w.questions = append(w.questions, question{
			words: fmt.Sprintf("topic%d %s", topic, a.prose(5)), vector: space.mix(random, topic, 2*noiseShare),
		})
	}
	return w
}

// typeAt gives one item in a hundred the first type, forty the second, and the others the rest.
func typeAt(i int) string {
	switch n := i % 100; {
	case n == 0:
		return types[0]
	case n <= 40:
		return types[1]
	default:
		return types[2+i%2]
	}
}

// draw draws items without a scope, weighted by interest in their topics (Efraimidis and Spirakis, 2006).
func (w *world) draw(random *rand.Rand, interest []float64, count int) []int {
	type drawn struct {
		item int
		key  float64
	}
	var list []drawn
	for i, it := range w.items {
		if it.Scopes == nil {
			list = append(list, drawn{i, math.Log(random.Float64()) / interest[w.topics[i]]})
		}
	}
	slices.SortFunc(list, func(a, b drawn) int { return cmp.Compare(b.key, a.key) })
	items := make([]int, min(count, len(list)))
	for i := range items {
		items[i] = list[i].item
	}
	return items
}

// unrelated are scopes of no audience of the benchmark; some items have two.
func unrelated(random *rand.Rand) []string {
	org := fmt.Sprintf("org:other-%d", random.IntN(5))
	switch random.IntN(4) {
	case 0:
		return []string{fmt.Sprintf("user:other-%d", random.IntN(500))}
	case 1:
		return []string{fmt.Sprintf("team:other-%d", random.IntN(50))}
	case 2:
		return []string{org, fmt.Sprintf("project:other-%d", random.IntN(100))}
	}
	return []string{org}
}

// space makes vectors from topics of Zipf-distributed sizes. A few hundred dimensions matter and many hardly do, as
// in the vectors of embedding models.
type space struct {
	spectrum [dims]float64 // standard deviation along each dimension; the squares add up to 1
	common   []float64
	centres  [][]float64   // of topics
	themes   [][][]float64 // of each topic
	sizes    []float64     // of topics, cumulative, up to 1
}

func newSpace(random *rand.Rand) *space {
	s := &space{}
	sum := 0.0
	for k := range s.spectrum {
		s.spectrum[k] = 1 / math.Pow(8+float64(k), 0.6)
		sum += s.spectrum[k] * s.spectrum[k]
	}
	for k := range s.spectrum {
		s.spectrum[k] /= math.Sqrt(sum)
	}
	random.Shuffle(dims, func(i, j int) { s.spectrum[i], s.spectrum[j] = s.spectrum[j], s.spectrum[i] })
	s.common = s.draw(random)
	total := 0.0
	for topic := range topics {
		s.centres = append(s.centres, s.draw(random))
		s.themes = append(s.themes, nil)
		for range themes {
			s.themes[topic] = append(s.themes[topic], s.draw(random))
		}
		total += 1 / math.Sqrt(float64(topic+1))
		s.sizes = append(s.sizes, total)
	}
	for topic := range s.sizes {
		s.sizes[topic] /= total
	}
	return s
}

func (s *space) draw(random *rand.Rand) []float64 {
	v := make([]float64, dims)
	for k := range v {
		v[k] = random.NormFloat64() * s.spectrum[k]
	}
	return v
}

func (s *space) topic(random *rand.Rand) int {
	topic, _ := slices.BinarySearch(s.sizes, random.Float64())
	return min(topic, topics-1)
}

// mix draws a vector of length 1 about a topic.
func (s *space) mix(random *rand.Rand, topic int, noise float64) []float32 {
	v := make([]float64, dims)
	theme := s.themes[topic][random.IntN(themes)]
	sum := 0.0
	for k := range v {
		v[k] = math.Sqrt(commonShare)*s.common[k] + math.Sqrt(topicShare)*s.centres[topic][k] +
			math.Sqrt(themeShare)*theme[k] + math.Sqrt(ownShare)*random.NormFloat64()*s.spectrum[k] +
			math.Sqrt(noise/dims)*random.NormFloat64()
		sum += v[k] * v[k]
	}
	unit := make([]float32, dims)
	for k := range v {
		unit[k] = float32(v[k] / math.Sqrt(sum))
	}
	return unit
}

// dot is the cosine of two vectors of length 1.
func dot(a, b []float32) float64 {
	var sum float32
	for i := range a {
		sum += a[i] * b[i]
	}
	return float64(sum)
}

// model is an OpenAI-compatible endpoint that returns the vector of the item whose number a text begins with.
func (w *world) model() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		var asked struct {
			Input []string `json:"input"`
		}
		if err := json.NewDecoder(from.Body).Decode(&asked); err != nil {
			http.Error(to, err.Error(), http.StatusBadRequest)
			return
		}
		answer := []byte(`{"data":[`)
		for i, text := range asked.Input {
			vector := w.questions[0].vector // for words of a question
			if _, after, found := strings.Cut(text, "#"); found {
				number, _, _ := strings.Cut(after, " ")
				if n, err := strconv.Atoi(number); err == nil && n < len(w.vectors) {
					vector = w.vectors[n]
				}
			}
			if i > 0 {
				answer = append(answer, ',')
			}
			answer = fmt.Appendf(answer, `{"index":%d,"embedding":[`, i)
			for k, x := range vector {
				if k > 0 {
					answer = append(answer, ',')
				}
				answer = strconv.AppendFloat(answer, float64(x), 'g', 7, 32)
			}
			answer = append(answer, `]}`...)
		}
		_, _ = to.Write(append(answer, `]}`...)) // an error means that the client has left
	}))
}
