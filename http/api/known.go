package api

import (
	"cmp"
	_ "embed" // for the texts
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Known is what was known about a subject at the end of a day.
type Known struct {
	About    string            `json:"about" example:"kafka" doc:"The subject, as it was searched for."`
	On       string            `json:"on" example:"2026-03-03"`
	Zone     string            `json:"zone" example:"Europe/Berlin" doc:"Whose day it is."`
	Until    time.Time         `json:"until" doc:"The end of the day; now, if it has not ended."`
	Position int64             `json:"position" doc:"Of the last event that was recorded by then."`
	MadeAt   time.Time         `json:"made_at"`
	MadeFor  string            `json:"made_for" doc:"The caller. An item is there only if the caller may see it now."`
	Items    []KnownItem       `json:"items" nullable:"false" doc:"The items as they were, the nearest to the subject first."`
	Erased   []KnownErased     `json:"erased" nullable:"false" doc:"The newest 100 items that were known then and have been erased since. Nobody can tell whether they were about the subject."`
	Readers  []KnownScope      `json:"readers" nullable:"false" doc:"Who could read the scopes of the items then."`
	Names    map[string]string `json:"names" doc:"The display names that the directory has now, by member."`
	Links    string            `json:"links" doc:"What the addresses of items begin with, before their ids."`
	Proofs   []Inclusion       `json:"proofs,omitempty" doc:"With proof: that the log has the events of the items up to then, in the order of their positions."`
}

// KnownItem is an item as it was at the end of the day.
type KnownItem struct {
	Knowledge *Knowledge  `json:"knowledge" doc:"As it was."`
	Title     string      `json:"title,omitempty" doc:"Its task, or the beginning of its content, as it was."`
	Band      string      `json:"band,omitempty" enum:"sure,perhaps" doc:"sure: it is about the subject. perhaps: it is one of the nearest items."`
	Disputed  []KnownStep `json:"disputed" nullable:"false" doc:"The open proposals that say that it contradicts other items, also of before that day."`
	Later     []KnownStep `json:"later" nullable:"false" doc:"What happened to it after that day, oldest first. Votes of a kind are one step."`
}

// Standing is what was said of the item by then: its confirmation and the reports of staleness that counted.
func (i KnownItem) Standing() (steps []KnownStep) {
	if at := i.Knowledge.ConfirmedAt; at != nil {
		steps = append(steps, KnownStep{What: "confirmed", At: *at, Until: i.Knowledge.ConfirmUntil})
	}
	if stale := i.Knowledge.Stale; stale != nil && stale.Since != nil {
		steps = append(steps, KnownStep{
			What: "reported_stale", At: *stale.Since, Count: stale.Reporters, Reason: stale.Reason,
		})
	}
	return steps
}

// KnownErased is an item that was known at the end of the day, and was erased since.
type KnownErased struct {
	ID        string      `json:"id"`
	Owner     string      `json:"owner"`
	Scopes    []string    `json:"scopes" nullable:"false"`
	CreatedAt *time.Time  `json:"created_at"`
	Later     []KnownStep `json:"later" nullable:"false" doc:"As that of an item."`
}

// KnownStep is something that happened to an item.
type KnownStep struct {
	What     string       `json:"what" example:"revised" doc:"The name of the event without its kind, or disputed."`
	At       time.Time    `json:"at" doc:"When it was recorded; of several votes: the newest."`
	Count    int          `json:"count,omitempty" doc:"How many votes there are, if there are several."`
	By       string       `json:"by,omitempty" doc:"Missing for several votes."`
	Reason   string       `json:"reason,omitempty"`
	To       []string     `json:"to,omitempty" doc:"The new scopes, or the new owner."`
	Until    *time.Time   `json:"until,omitempty" doc:"The end of a confirmation."`
	Other    *DigestOther `json:"other,omitempty" doc:"The item that took its place, or that contradicts it, if you may read it."`
	Position int64        `json:"position,omitempty" doc:"Of the event in the log."`
}

// KnownScope is who could read a scope.
type KnownScope struct {
	Scope   string        `json:"scope" example:"team:pay"`
	Hidden  bool          `json:"hidden,omitempty" doc:"You may not read who could: this is for auditors, admins, and the maintainers of the group."`
	Total   int           `json:"total" doc:"The reasons for which somebody could read it."`
	Readers []ScopeReader `json:"readers" nullable:"false" doc:"The first 500 of them."`
}

// ParseZone reads the name of a time zone, such as Europe/Berlin, or an offset, such as +01:00. Empty means UTC.
func ParseZone(name string) (*time.Location, error) {
	if at, err := time.Parse("Z07:00", name); err == nil {
		if _, offset := at.Zone(); offset != 0 {
			return time.FixedZone(name, offset), nil
		}
		return time.UTC, nil
	}
	if strings.EqualFold(name, "local") {
		name = "?" // the zone of the server is of no meaning to the caller
	}
	return time.LoadLocation(name)
}

//go:embed known.zh.txt
var knownFile string

// knownInChinese are the texts of the report in Chinese by the English ones: each is the line after it, after a tab.
var knownInChinese = sync.OnceValue(func() map[string]string {
	texts, text := map[string]string{}, ""
	for line := range strings.Lines(strings.TrimSpace(knownFile)) {
		line = strings.TrimSuffix(line, "\n")
		if translated, is := strings.CutPrefix(line, "\t"); is {
			texts[text] = translated
		}
		text = line
	}
	return texts
})

// stepWords say what happened, where the name of the event does not.
var stepWords = map[string]string{
	"rescoped": "given to other readers", "transferred": "given to another owner", "moved": "moved to another place",
	"found_helpful": "found helpful", "found_harmful": "found harmful", "feedback_retracted": "a vote was taken back",
	"reported_stale": "reported stale", "merged": "took the place of others", "unmerged": "a merge was undone",
	"deleted": "forgotten", "held": "put under legal hold", "released": "released from legal hold",
	"redacted": "parts of its text were redacted", "linked": "related to another item",
	"unlinked": "a relation was removed",
}

// readerReasons say why somebody can read a scope.
var readerReasons = map[string]string{
	"self": "their own, or public", "directory": "member of the group", "key": "stated by the key",
	"role": "by the role of the key", "acts_for": "may act for those who read it",
}

// Word says in English what happened.
func (s KnownStep) Word() string { return cmp.Or(stepWords[s.What], s.What) }

// turning are the characters that change the direction of a text.
var turning = regexp.MustCompile(`[\x{202A}-\x{202E}\x{2066}-\x{2069}]`)

// Body is the report as a part of an HTML page, in a language: en or zh.
func (k Known) Body(language string) template.HTML {
	return template.HTML(k.write("body", language)) //nolint:gosec // a template wrote it
}

// HTML is the report as an HTML document in a language. It contains the report as JSON, too.
func (k Known) HTML(language string) string { return k.write("page", language) }

func (k Known) write(name, language string) string {
	zone, err := ParseZone(k.Zone)
	if err != nil { // this machine does not know it
		zone = time.UTC
	}
	functions := inLanguage(language, knownInChinese())
	say := functions["t"].(func(string, ...any) string)
	maps.Copy(functions, template.FuncMap{
		"iso":  func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"time": func(t time.Time) string { return t.In(zone).Format("2006-01-02 15:04") },
		"zone": zone.String,
		"link": func(id string) string { return k.Links + id },
		"via":  func(groups []string) []string { return groups[:max(0, len(groups)-1)] }, // the last is the scope
		"why":  func(reason string) string { return say(readerReasons[reason]) },
		"plain": func(text string) string {
			return turning.ReplaceAllStringFunc(text, func(c string) string { return fmt.Sprintf("⟨%U⟩", []rune(c)[0]) })
		},
		"who": func(entity string) string {
			kind, id, isEntity := strings.Cut(entity, ":")
			switch shown := k.Names[entity]; {
			case shown != "":
				return shown
			case !isEntity:
				return say(entity)
			case kind == "user":
				return id
			}
			return say(kind) + " " + id
		},
		"byReader": func(reasons []ScopeReader) (readers [][]ScopeReader) {
			for i, one := range reasons {
				if i == 0 || one.Subject != reasons[i-1].Subject {
					readers = append(readers, nil)
				}
				readers[len(readers)-1] = append(readers[len(readers)-1], one)
			}
			return readers
		},
		"data": func() (template.JS, error) {
			data, err := json.Marshal(k)
			return template.JS(data), err //nolint:gosec // json.Marshal escapes what could end the element
		},
	})
	return written(template.Must(template.New("").Funcs(functions).ParseFS(pageFiles, "known.html.tmpl")).Lookup(name), k)
}
