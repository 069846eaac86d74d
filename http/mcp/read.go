package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/http/client"
)

func knowledge(ctx context.Context, api *client.Client, in arguments) (any, string, error) {
	k, err := find(ctx, api, in.text("uri"))
	if err != nil {
		return nil, "", err
	}
	if head, _ := headOf(k.Content, mostTokens); head != k.Content {
		k.Content = head + fmt.Sprintf("\n[cut after %d tokens: GET /v1/knowledge/%s has the rest]", mostTokens, k.ID)
	}
	return k, itemText(k), nil
}

// mostTokens limits the texts in the answer of a tool.
const mostTokens = 20_000

// headOf is the first lines of a text that have at most so many tokens, and how many lines they are. The first line is
// cut if it is too long.
func headOf(s string, most int) (head string, lines int) {
	end, room := 0, most
	for line := range strings.Lines(s) {
		if room -= text.Tokens(line); room < 0 {
			break
		}
		end, lines = end+len(line), lines+1
	}
	if end == 0 && s != "" {
		return strings.ToValidUTF8(s[:min(len(s), most)], ""), 1
	}
	return s[:end], lines
}

// itemText formats an item for a model.
func itemText(k client.Knowledge) string {
	var out strings.Builder
	if k.Task != "" {
		fmt.Fprintf(&out, "Task: %s\n\n", oneLine(k.Task))
	}
	out.WriteString(strings.TrimSpace(k.Content) + "\n\n---\n")
	fmt.Fprintf(&out, "uri: %s\ntype: %s", k.URI, k.Type)
	if k.Category != "" {
		out.WriteString(", category: " + k.Category)
	}
	if k.Polarity == "negative" {
		out.WriteString(", a FAILED approach")
	}
	fmt.Fprintf(&out, "\nowner: %s, scopes: %s\n", k.Owner, strings.Join(k.Scopes, ", "))
	if k.Eval != nil {
		s := rating(k)
		fmt.Fprintf(&out, "confidence: %.2f, helpful: %d, harmful: %d\n", s.Confidence, s.Others(), s.Harmful)
		if s.Contested() {
			out.WriteString("contested: do not rely on it\n")
		}
	}
	if len(k.DisputedBy) > 0 {
		fmt.Fprintf(&out, "disputed by: %s (read these, too)\n", strings.Join(k.DisputedBy, ", "))
	}
	if k.SupersededBy != "" {
		fmt.Fprintf(&out, "superseded by: %s\n", k.SupersededBy)
	}
	if k.ConfirmationExpired {
		out.WriteString("confirmation expired: check that it still holds\n")
	}
	if v := k.Verified; v != nil {
		fmt.Fprintf(&out, "%s\n", verification(*v))
	}
	if k.Stale != nil && k.Stale.Reporters > 0 {
		fmt.Fprintf(&out, "reported out of date by %d: %s\n", k.Stale.Reporters, oneLine(k.Stale.Reason))
	}
	return out.String()
}

// verification says in one line who verified an item, and until when that counts.
func verification(v client.Verified) string {
	parts := []string{"not verified"}
	if v.At != nil {
		parts = []string{"verified", "by " + v.By, "at " + v.At.Format(time.DateOnly)}
	}
	if v.Overdue {
		return strings.Join(parts, " ") + until(v.Until) + " (overdue: check that it still holds)"
	}
	return strings.Join(parts, " ") + until(v.Until)
}

func until(t *time.Time) string {
	if t == nil {
		return ""
	}
	return " until " + t.Format(time.DateOnly)
}

// historyAnswer is the answer of memory_history.
type historyAnswer struct {
	ID     string         `json:"id"`
	Count  int            `json:"count"`
	Older  int            `json:"older,omitempty"` // events before those that are shown
	Cut    int            `json:"cut,omitempty"`   // events whose long texts are left out
	Events []client.Event `json:"events"`
}

const defaultEvents, maxEvents = 50, 500

// history lists the newest events of an item, oldest first.
func history(ctx context.Context, api *client.Client, in arguments) (any, string, error) {
	id, err := idOf(ctx, api, in.text("uri"))
	if err != nil {
		return nil, "", err
	}
	limit, before := in.number("limit", defaultEvents), in.number("before", math.MaxInt32)
	told := historyAnswer{ID: id, Events: []client.Event{}}
	for event, failed := range api.History(ctx, id) {
		if err = failed; err != nil {
			return nil, "", err
		}
		told.Count++
		if event.Version >= int64(before) {
			continue
		}
		told.Older++
		told.Events = append(told.Events, event)
		if len(told.Events) > limit {
			told.Events = told.Events[1:]
		}
	}
	first, room := len(told.Events), mostTokens
	for ; first > 0; first-- { // the newest events that fit
		event := told.Events[first-1]
		size := sizeOf(event)
		if size > mostTokens/8 {
			event.Text, event.Changes = nil, nil
			size, told.Cut = sizeOf(event), told.Cut+1
		}
		if room -= size; room < 0 {
			break
		}
		told.Events[first-1] = event
	}
	told.Events = told.Events[first:]
	told.Older -= len(told.Events)
	var out strings.Builder
	fmt.Fprintf(&out, "# %s: %d event(s)\n", id, told.Count)
	if told.Older > 0 && len(told.Events) > 0 {
		fmt.Fprintf(&out, "%d older ones are left out: they come with before %d\n", told.Older, told.Events[0].Version)
	}
	if told.Cut > 0 {
		fmt.Fprintf(&out, "The long texts of %d are left out: get_knowledge shows the newest text\n", told.Cut)
	}
	for _, event := range told.Events {
		who := event.Actor
		if event.OnBehalfOf != "" {
			who += " for " + event.OnBehalfOf
		}
		fmt.Fprintf(&out, "%s %s by %s", event.RecordedAt.UTC().Format(time.DateTime), event.Name, who)
		if event.Reason != "" {
			fmt.Fprintf(&out, ": %s", oneLine(event.Reason))
		}
		out.WriteString("\n")
	}
	return told, out.String(), nil
}

// sizeOf is the size of an event in tokens.
func sizeOf(event client.Event) int {
	encoded, _ := json.Marshal(event) // it was decoded
	return text.Tokens(string(encoded))
}

// statusAnswer is the answer of memory_status.
type statusAnswer struct {
	Available   bool                `json:"available"`
	Server      string              `json:"server"`
	Version     string              `json:"version,omitempty"`
	Caller      *client.Identity    `json:"caller,omitempty"`
	Healthy     bool                `json:"healthy"` // no version in use has an error
	Projections []client.Projection `json:"projections,omitempty"`
	Problem     string              `json:"problem,omitempty"`
}

// status never fails: an unreachable server is an answer.
func status(ctx context.Context, api *client.Client, _ arguments) (any, string, error) {
	s := statusAnswer{Server: cmp.Or(calledAt(ctx), api.Server())}
	alive, err := api.Health(ctx)
	if err != nil {
		s.Problem = reasonOf(err).Message
		return s, "Annals is not available: " + s.Problem, nil
	}
	s.Available, s.Version = true, alive.Version
	me, err := api.Whoami(ctx)
	if err != nil {
		s.Problem = reasonOf(err).Message
		return s, fmt.Sprintf("Annals %s answers at %s, but does not know you: %s", s.Version, s.Server, s.Problem), nil
	}
	s.Caller = &me
	if s.Projections, err = api.Projections(ctx); err != nil && !errors.Is(err, client.ErrForbidden) {
		s.Problem = reasonOf(err).Message
	}
	s.Healthy = s.Problem == ""
	who := me.Subject
	if me.OnBehalfOf != "" {
		who += " for " + me.OnBehalfOf
	}
	sentences := []string{
		fmt.Sprintf("Annals %s answers at %s. You are %s, %s in tenant %s.", s.Version, s.Server, who, me.Role, me.Tenant),
	}
	for _, p := range s.Projections {
		if !inUse(p) {
			continue
		}
		if p.LagEvents > 0 || p.Error != "" {
			events := "events"
			if p.LagEvents == 1 {
				events = "event"
			}
			behind := fmt.Sprintf(
				"%s, version %d (%s), is %d %s behind: %s", p.Name, p.Version, p.State, p.LagEvents, events, p.Error,
			)
			sentences = append(sentences, strings.TrimRight(behind, ": .")+".")
		}
		s.Healthy = s.Healthy && p.Error == ""
	}
	return s, strings.Join(sentences, " "), nil
}

// inUse tells whether a version is active or being built. The state of other versions does not matter.
func inUse(p client.Projection) bool {
	return !slices.Contains([]string{"standby", "retired", "failed"}, p.State)
}
