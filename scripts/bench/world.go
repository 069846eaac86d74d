package main

import (
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
	vectors   [][]float32 // of the items, of length 1
	questions []question
}

// groups are scopes with items that no other group sees. A narrow group has items of a few topics only.
var groups = []struct {
	scope  string
	items  int
	topics int // of the group
}{
	{"user:ada", 43, 20},
	{"project:apollo", 207, 20},
	{"team:core", 207, 20},
	{"public", 5027, topics},
	{"org:acme", 20_211, topics},
}

func newWorld(items, questions int) *world {
	random := rand.New(rand.NewPCG(1, 2))
	space, a := newSpace(random), author{random}
	w := &world{}
	var free [topics][]int // items without a group, by topic
	for i := range items {
		topic := space.topic(random)
		w.items = append(w.items, item{
			ID: fmt.Sprintf("item-%06d", i), Content: fmt.Sprintf("#%d topic%d %s", i, topic, a.prose(16)),
			Owner: "org:acme", Type: typeAt(i), Scopes: []string{fmt.Sprintf("team:other-%d", random.IntN(50))},
		})
		w.vectors = append(w.vectors, space.mix(random, topic, noiseShare))
		free[topic] = append(free[topic], i)
	}
	for _, g := range groups {
		ofGroup := random.Perm(topics)[:g.topics]
		for range min(g.items, items/4) {
			topic := ofGroup[random.IntN(len(ofGroup))]
			if list := free[topic]; len(list) > 0 {
				w.items[list[0]].Scopes, free[topic] = []string{g.scope}, list[1:]
			}
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

// model is an OpenAI-compatible endpoint that returns the vector of the item whose number a text begins with.
func (w *world) model() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		var request struct {
			Input []string `json:"input"`
		}
		if err := json.NewDecoder(from.Body).Decode(&request); err != nil {
			http.Error(to, err.Error(), http.StatusBadRequest)
			return
		}
		type embedded struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var answer struct {
			Data []embedded `json:"data"`
		}
		for i, text := range request.Input {
			vector := w.questions[0].vector // for words of a question
			if _, after, found := strings.Cut(text, "#"); found {
				number, _, _ := strings.Cut(after, " ")
				if n, err := strconv.Atoi(number); err == nil && n < len(w.vectors) {
					vector = w.vectors[n]
				}
			}
			answer.Data = append(answer.Data, embedded{i, vector})
		}
		_ = json.NewEncoder(to).Encode(answer) // an error means that the client has left
	}))
}
