package events

import (
	"encoding/json"

	"github.com/annals-kb/annals/domain"
)

type extractedData struct {
	Task      string       `json:"task"`
	Archive   int          `json:"archive"`
	Extractor string       `json:"extractor"`
	Usage     usageData    `json:"usage,omitzero"`
	Seconds   float64      `json:"seconds"`
	Retry     int          `json:"retry,omitempty"`
	Lessons   []lessonData `json:"candidates"`
}

type usageData struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

type lessonData struct {
	Category   domain.Category `json:"category"`
	Polarity   domain.Polarity `json:"polarity,omitempty"`
	Sources    []string        `json:"sources"`
	Neighbours []neighbourData `json:"neighbours,omitempty"`
	Decision   domain.Decision `json:"decision"`
	Item       string          `json:"item,omitempty"`
	Target     string          `json:"target,omitempty"`
	Scopes     []domain.Scope  `json:"scopes,omitempty"`
}

type neighbourData struct {
	ID    string  `json:"id"`
	Score float64 `json:"score"`
}

// extractedText has the texts of the candidates at the same places as extractedData has the rest.
type extractedText struct {
	Lessons  []lessonText `json:"candidates,omitempty"`
	Abstract string       `json:"abstract,omitempty"`
	Overview string       `json:"overview,omitempty"`
}

type lessonText struct {
	Key      string          `json:"key,omitempty"`
	Task     string          `json:"task,omitempty"`
	Content  string          `json:"content,omitempty"`
	Abstract string          `json:"abstract,omitempty"`
	Overview string          `json:"overview,omitempty"`
	Tags     domain.Tags     `json:"tags,omitempty"`
	Meta     json.RawMessage `json:"meta,omitempty"`
	URI      string          `json:"uri,omitempty"`
	Reason   string          `json:"reason,omitempty"`
}

func splitExtracted(f domain.SessionExtracted) (extractedData, extractedText) {
	data := extractedData{
		Task: f.Task, Archive: f.Archive, Extractor: f.Extractor, Usage: usageData(f.Usage), Seconds: seconds(f.Took), Retry: f.Retry,
		Lessons: []lessonData{},
	}
	text := extractedText{Abstract: f.Summary.Abstract, Overview: f.Summary.Overview}
	for _, l := range f.Lessons {
		d := lessonData{
			Category: l.Category, Polarity: l.Polarity, Sources: l.Sources, Decision: l.Decision, Item: l.Item, Target: l.Target, Scopes: l.Scopes,
		}
		for _, n := range l.Neighbours {
			d.Neighbours = append(d.Neighbours, neighbourData(n))
		}
		data.Lessons = append(data.Lessons, d)
		text.Lessons = append(text.Lessons, lessonText(l.Text))
	}
	return data, text
}

func joinExtracted(d extractedData, t extractedText) domain.SessionExtracted {
	f := domain.SessionExtracted{
		Task: d.Task, Archive: d.Archive, Extractor: d.Extractor, Usage: domain.ModelUsage(d.Usage), Took: lasting(d.Seconds), Retry: d.Retry,
		Summary: domain.Summary{Abstract: t.Abstract, Overview: t.Overview},
	}
	for i, l := range d.Lessons {
		lesson := domain.Lesson{
			Category: l.Category, Polarity: l.Polarity, Sources: l.Sources, Decision: l.Decision, Item: l.Item, Target: l.Target, Scopes: l.Scopes,
		}
		for _, n := range l.Neighbours {
			lesson.Neighbours = append(lesson.Neighbours, domain.Neighbour(n))
		}
		if i < len(t.Lessons) {
			lesson.Text = domain.LessonText(t.Lessons[i])
		}
		f.Lessons = append(f.Lessons, lesson)
	}
	return f
}

type extractionFailedData struct {
	Task     string `json:"task"`
	Archive  int    `json:"archive"`
	Attempts int    `json:"attempts"`
	Retry    int    `json:"retry,omitempty"`
	Lost     bool   `json:"lost,omitempty"`
}

func splitExtractionFailed(f domain.ExtractionFailed) (extractionFailedData, reasonText) {
	return extractionFailedData{Task: f.Task, Archive: f.Archive, Attempts: f.Attempts, Retry: f.Retry, Lost: f.Lost}, reasonText{Reason: f.Reason}
}

func joinExtractionFailed(d extractionFailedData, t reasonText) domain.ExtractionFailed {
	return domain.ExtractionFailed{Task: d.Task, Archive: d.Archive, Attempts: d.Attempts, Retry: d.Retry, Lost: d.Lost, Reason: t.Reason}
}

type extractionRequestedData struct {
	Task    string `json:"task"`
	Archive int    `json:"archive"`
	Retry   int    `json:"retry"`
}

func splitExtractionRequested(f domain.ExtractionRequested) extractionRequestedData {
	return extractionRequestedData(f)
}

func joinExtractionRequested(d extractionRequestedData) domain.ExtractionRequested {
	return domain.ExtractionRequested(d)
}
