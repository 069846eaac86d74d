package extraction

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

// behaviours are statements about a tool: what it needs, supports or returns.
func behaviours(c Conversation) []LessonDraft {
	var found []LessonDraft
	for i, m := range c.Messages {
		if !m.speaks() {
			continue
		}
		for _, s := range points(m.Prose()) {
			for _, expression := range []func() *regexp.Regexp{behaving, behavingChinese} {
				named := expression().FindStringSubmatch(s)
				if named == nil || asking().MatchString(s) {
					continue
				}
				word := strings.ToLower(named[1])
				if text.IsStopWord(word) || slices.Contains(notTools, word) {
					continue
				}
				name, _, _ := strings.Cut(named[1], " ")
				found = append(found, LessonDraft{
					Category: domain.CategoryTools, Key: strings.ToLower(name), Sources: []int{i},
					Task: in(s, "Working with "+name, "使用 "+name), Content: s, Tags: tagsOf("", strings.ToLower(name)),
				})
				break
			}
		}
	}
	return found
}

// notTools are words that can begin such a sentence and are not tools.
var notTools = strings.Fields(`it this that he she we they everyone everybody nobody who what which there life love art
	one nothing someone everything something nature music family user polarity`)

// run is the data on a tool's or a skill's runs in one conversation.
type run struct {
	name     string
	category domain.Category
	counts   Counts
	failures []string
	sources  []int
}

// runs counts the runs of tools and skills.
func runs(c Conversation) []LessonDraft {
	byName := map[string]*run{}
	var order []string
	note := func(category domain.Category, name string, i int, part domain.Part) {
		key := string(category) + " " + name
		r := byName[key]
		if r == nil {
			r = &run{name: name, category: category}
			byName[key] = r
			order = append(order, key)
		}
		r.take(part, i)
	}
	for i, m := range c.Messages {
		for _, part := range m.Parts {
			if part.Type != domain.PartTool {
				continue
			}
			if part.ToolName != "" {
				note(domain.CategoryTools, part.ToolName, i, part)
			}
			if name := lastSegment(part.SkillURI); name != "" {
				note(domain.CategorySkills, name, i, part)
			}
		}
	}
	var found []LessonDraft
	for _, key := range order {
		if r := byName[key]; r.counts.Calls > 0 {
			found = append(found, r.finding())
		}
	}
	return found
}

func lastSegment(uri string) string {
	uri = strings.TrimSuffix(strings.TrimSuffix(uri, "/"), ".md")
	return uri[strings.LastIndexByte(uri, '/')+1:]
}

// mostFailures limits the failures that are named.
const mostFailures = 3

func (r *run) take(part domain.Part, i int) {
	switch part.ToolStatus {
	case "completed", "success", "":
		r.counts.Successes++
	case "error", "failed":
		r.counts.Failures++
		output := cut(strings.TrimSpace(part.ToolOutput), 300)
		if output != "" && len(r.failures) < mostFailures && !slices.Contains(r.failures, output) {
			r.failures = append(r.failures, output)
		}
	default:
		return // it has not ended
	}
	r.counts.Calls++
	r.counts.TotalMS += part.DurationMS
	r.counts.PromptTokens += part.PromptTokens
	r.counts.CompletionTokens += part.CompletionTokens
	if !slices.Contains(r.sources, i) {
		r.sources = append(r.sources, i)
	}
}

func (r *run) finding() LessonDraft {
	counts := r.counts
	f := LessonDraft{
		Category: r.category, Key: strings.ToLower(r.name), Sources: r.sources, Counted: &counts,
		Task: "Working with " + r.name, Tags: tagsOf("", strings.ToLower(r.name)),
	}
	for _, failed := range r.failures {
		f.Content += "Failure: " + failed + "\n"
	}
	f.Content = strings.TrimSpace(f.Content)
	return f
}

// statistics describes counts in words.
func statistics(name string, c Counts) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %d calls, %d succeeded, %d failed", name, c.Calls, c.Successes, c.Failures)
	if c.Calls > 0 {
		fmt.Fprintf(&s, " (%d %% success)", int(math.Round(100*float64(c.Successes)/float64(c.Calls))))
	}
	if c.TotalMS > 0 && c.Calls > 0 {
		fmt.Fprintf(&s, ", %.0f ms each", c.TotalMS/float64(c.Calls))
	}
	if tokens := c.PromptTokens + c.CompletionTokens; tokens > 0 {
		fmt.Fprintf(&s, ", %d tokens in all", tokens)
	}
	return s.String()
}

// counted is the meta of an item with counts.
type counted struct {
	Name  string `json:"name"`
	Stats Counts `json:"stats"`
}

func countsOf(meta json.RawMessage) Counts {
	var c counted
	if json.Unmarshal(meta, &c) != nil {
		return Counts{}
	}
	return c.Stats
}
