package embedding

import (
	"math"
	"strings"

	"github.com/annals-kb/annals/domain/text"
)

// model is the known data of a model.
type model struct {
	name                        string // or its beginning
	dims                        int
	shortens                    bool // on request, by the "dimensions" parameter
	queryPrefix, documentPrefix string
	calibration                 Calibration
}

// modelWeight is the share of a model in the score. Measured with one sentence encoder on three sets of questions, of
// which each gains with what the other two would choose (docs/performance.md).
const modelWeight = 0.25

func calibrated(midpoint, slope float64) Calibration {
	return Calibration{Midpoint: midpoint, Slope: slope, Weight: modelWeight}
}

// strong is the calibration of unknown models: unrelated texts at about 0.3, answers at about 0.6.
var strong = calibrated(0.45, 12)

// models were calibrated by experience: the cosines of unrelated texts and of answers differ widely between models.
var models = []model{
	{
		name: "text-embedding-3-small", dims: 1536, shortens: true,
		calibration: calibrated(0.36, 14),
	},
	{
		name: "text-embedding-3-large", dims: 3072, shortens: true,
		calibration: calibrated(0.38, 14),
	},
	{
		name: "text-embedding-ada-002", dims: 1536,
		calibration: calibrated(0.8, 30),
	},
	{name: "doubao-embedding-large-text", dims: 2048, calibration: strong},
	{name: "doubao-embedding-text", dims: 2560, calibration: strong},
	{
		name: "nomic-embed-text", dims: 768, queryPrefix: "search_query: ", documentPrefix: "search_document: ",
		calibration: calibrated(0.6, 14),
	},
	{
		name: "mxbai-embed-large", dims: 1024, queryPrefix: "Represent this sentence for searching relevant passages: ",
		calibration: calibrated(0.6, 14),
	},
	{
		name: "multilingual-e5-large", dims: 1024, queryPrefix: "query: ", documentPrefix: "passage: ",
		calibration: calibrated(0.82, 40),
	},
	{name: "bge-m3", dims: 1024, calibration: calibrated(0.52, 14)},
	{name: "all-minilm", dims: 384, calibration: calibrated(0.35, 12)},
}

// modelNamed finds a known model on any endpoint: "BAAI/bge-m3" and "bge-m3:latest" are bge-m3.
func modelNamed(name string) model {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	for _, known := range models {
		if strings.HasPrefix(name, known.name) {
			return known
		}
	}
	return model{calibration: strong}
}

// Calibration says how to interpret an embedder's cosines, and how to combine them with words.
type Calibration struct {
	// Midpoint is the cosine at which a text is as likely as not to be about the question. Slope is how quickly that
	// changes around it: Score is 1/(1+exp(-Slope·(cosine-Midpoint))).
	Midpoint, Slope float64

	// Weight is the share of a configured model in the joined score, 0…1; all other evidence has the rest. For the
	// built-in embedder it is that of meaning, and words have the rest. A better embedder has a higher weight.
	Weight float64
}

// MinScore is the joined score below which a hit is not shown; the caller may set another one.
const MinScore = 0.08

// Score maps a cosine to 0…1, where 0.5 is "about this".
func (c Calibration) Score(cosine float64) float64 {
	return 1 / (1 + math.Exp(-c.Slope*(cosine-c.Midpoint)))
}

// How much the words in common, the similar words and the cosine of a text count for the built-in embedder, found by
// measuring retrieval (docs/performance.md).
const (
	wordsCount, closenessCount, cosineCount = 1, 1.5, 0.6
	meaningCount                            = closenessCount + cosineCount
)

// Meaning is the score of a text that is this close to a question, by its words and by its vector.
func Meaning(closeness, cosine float64) float64 {
	return text.WordScore(closenessCount*closeness+cosineCount*max(0, cosine), meaningCount)
}

// Together joins the score of [Meaning] with that of words.
func Together(meaning, words float64) float64 {
	sum := wordsCount*text.WordShare(words) + meaningCount*text.WordShare(meaning)
	return text.WordScore(sum, wordsCount+meaningCount)
}

// Estimate is the score of an item by its score by words, 0…1, and its cosine, before its text is read. Without a
// vector, words decide alone; without words, meaning does.
func (c Calibration) Estimate(words, cosine float64, compared, hasWords bool) float64 {
	switch {
	case !compared:
		return words
	case !hasWords:
		return c.Score(cosine)
	}
	return c.Join(c.Score(cosine), words)
}

// Share is how much of a question a text says by the cosine of a configured model: 0 if they are unrelated, at which
// [Calibration.Score] is an eighth, and 1 for the same text.
func (c Calibration) Share(cosine float64) float64 {
	unrelated := c.Midpoint - 2/c.Slope
	return max(0, (cosine-unrelated)/(1-unrelated))
}

// Beside joins the score of all other evidence with the cosine of a configured model, as shares.
func (c Calibration) Beside(others, cosine float64) float64 {
	return text.WordScore((1-c.Weight)*text.WordShare(others)+c.Weight*c.Share(cosine), 1)
}

// Join joins the calibrated scores of meaning and words.
func (c Calibration) Join(meaning, words float64) float64 {
	return c.Weight*meaning + (1-c.Weight)*words
}
