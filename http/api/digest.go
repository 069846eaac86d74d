package api

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// Digest sums up what happened in a scope.
type Digest struct {
	Scope      string        `json:"scope" example:"team:pay"`
	Since      time.Time     `json:"since"`
	Until      time.Time     `json:"until"`
	Events     int           `json:"events" doc:"The events that were counted."`
	More       bool          `json:"more,omitempty" doc:"There are more events, which were not counted."`
	New        DigestSection `json:"new" doc:"Remembered."`
	Changed    DigestSection `json:"changed" doc:"Revised, moved, rescoped or transferred, and not new."`
	Contested  DigestSection `json:"contested" doc:"Contested now: found harmful or reported stale, with a confidence below 0.2, or disputed by items that you may see."`
	Doubted    DigestSection `json:"doubted" doc:"Found harmful or reported stale."`
	Superseded DigestSection `json:"superseded" doc:"Superseded or merged."`
	Deleted    DigestSection `json:"deleted"`
	Helpful    DigestSection `json:"helpful" doc:"Found helpful, the most often first."`
	Waiting    DigestSection `json:"waiting" doc:"Waiting for a review now."`
}

// DigestSection are items of a digest: those with the most events first, then those with the newest one.
type DigestSection struct {
	Total int          `json:"total"`
	Items []DigestItem `json:"items" nullable:"false" doc:"The first 20."`
}

// DigestItem is an item in a section of a digest.
type DigestItem struct {
	ID    string     `json:"id"`
	Title string     `json:"title,omitempty" doc:"The task, or the beginning of the content, as it is now; missing if you may not read it now."`
	Count int        `json:"count" doc:"The events that count for the section; of a waiting item: its reasons."`
	Last  *time.Time `json:"last,omitempty" doc:"The newest of them."`
	By    string     `json:"by,omitempty" doc:"The id of the item that superseded it."`
}

// TitledSection is a section of a digest with its title.
type TitledSection struct {
	Title string
	DigestSection
}

// Sections are the sections of the digest in the order in which they are shown.
func (d Digest) Sections() []TitledSection {
	return []TitledSection{
		{"New", d.New},
		{"Changed", d.Changed},
		{"Contested now", d.Contested},
		{"Found harmful or reported stale", d.Doubted},
		{"Superseded", d.Superseded},
		{"Forgotten", d.Deleted},
		{"Found helpful", d.Helpful},
		{"Waiting for a review", d.Waiting},
	}
}

// plainMarkdown escapes the characters that have a meaning in Markdown.
var plainMarkdown = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "|", `\|`, "&", `\&`,
)

// Markdown is the digest as a Markdown document.
func (d Digest) Markdown() []byte {
	var out bytes.Buffer
	_, _ = fmt.Fprintf(&out, "# %s, %s to %s\n", d.Scope, d.Since.Format(time.DateOnly), d.Until.Format(time.DateOnly))
	if d.More {
		_, _ = fmt.Fprintf(&out, "\nOnly the first %d events are counted.\n", d.Events)
	}
	for _, section := range d.Sections() {
		_, _ = fmt.Fprintf(&out, "\n## %s: %d\n", section.Title, section.Total)
		if len(section.Items) > 0 {
			out.WriteString("\n")
		}
		for _, item := range section.Items {
			line := fmt.Sprintf("- [%s](/v1/knowledge/%s)", plainMarkdown.Replace(item.ID), item.ID)
			if item.Title != "" {
				line += " " + plainMarkdown.Replace(item.Title)
			}
			if item.Count > 1 {
				line += fmt.Sprintf(" (%d)", item.Count)
			}
			if item.By != "" {
				line += fmt.Sprintf(", now [%s](/v1/knowledge/%s)", plainMarkdown.Replace(item.By), item.By)
			}
			out.WriteString(line + "\n")
		}
	}
	return out.Bytes()
}
