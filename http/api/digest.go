package api

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	texttemplate "text/template"
	"time"
)

// Digest sums up what happened in a scope.
type Digest struct {
	Scope      string        `json:"scope" example:"team:pay"`
	Name       string        `json:"name,omitempty" doc:"Of the scope in the directory."`
	Since      time.Time     `json:"since"`
	Until      time.Time     `json:"until"`
	Links      string        `json:"links,omitempty" doc:"What the addresses of items begin with, before their ids."`
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
	Weeks      []DigestWeek  `json:"weeks,omitempty" doc:"Oldest first, if they were asked for."`
}

// DigestWeek counts what happened in seven days to items that nobody forgot.
type DigestWeek struct {
	Since     time.Time `json:"since"`
	Learnt    int       `json:"learnt" doc:"Items that were remembered."`
	Confirmed int       `json:"confirmed" doc:"Items that were confirmed."`
	Wrong     int       `json:"wrong" doc:"Items that were found harmful, reported stale or disputed."`
}

// DigestSection are items of a digest: those with the most events first, then those with the newest one.
type DigestSection struct {
	Total int          `json:"total"`
	Items []DigestItem `json:"items" nullable:"false" doc:"The first 20."`
}

// DigestItem is an item in a section of a digest.
type DigestItem struct {
	ID    string     `json:"id"`
	Title string     `json:"title,omitempty" doc:"The task, or the beginning of the content, as it is now; missing if you may not read it now, as of some that are forgotten."`
	Count int        `json:"count" doc:"The events that count for the section; of a waiting item: its reasons."`
	Last  *time.Time `json:"last,omitempty" doc:"The newest of them."`
	By    string     `json:"by,omitempty" doc:"The id of the item that superseded it."`
	Who   string     `json:"who,omitempty" doc:"Who did the newest of them, or remembered a new item; who owns an item that is contested or waits. Missing if you may not read it."`
	Name  string     `json:"name,omitempty" doc:"The name of who in the directory."`

	Others []DigestOther `json:"others,omitempty" doc:"The item that superseded it, or those that contradict it, if you may read them."`
}

// DigestOther is an item that an item of a digest is shown with.
type DigestOther struct {
	ID    string `json:"id"`
	Title string `json:"title"`
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

//go:embed digest.md.tmpl digest.html.tmpl known.html.tmpl
var pageFiles embed.FS

// digestInChinese are the texts of a digest in Chinese by the English ones.
var digestInChinese = map[string]string{
	"%s, %s to %s": "%s，%s 至 %s", "Only the first %d events are counted.": "只计入了前 %d 个事件。", "%d of %d": "%d / %d",
	"New": "新增", "Changed": "更改", "Contested now": "目前有争议", "Found harmful or reported stale": "被判有害或被报告过时",
	"Superseded": "已被取代", "Forgotten": "已遗忘", "Found helpful": "被认为有用", "Waiting for a review": "待审核",
	"contradicts": "矛盾于", "now": "现为", ", ": "，", "a forgotten item": "一个已遗忘的条目", "Week by week": "每周",
	"Week from": "自该日起一周", "Learnt": "学到", "Confirmed": "已确认", "Gone wrong": "出错",
}

// inLanguage are what the templates of digests and reports call, with their texts in Chinese.
func inLanguage(language string, chinese map[string]string) map[string]any {
	return map[string]any{
		"t": func(text string, values ...any) string {
			if language == "zh" {
				text = cmp.Or(chinese[text], text)
			}
			if len(values) == 0 {
				return text
			}
			return fmt.Sprintf(text, values...)
		},
		"plain":    plainMarkdown.Replace,
		"date":     func(t time.Time) string { return t.Format(time.DateOnly) },
		"language": func() string { return language },
	}
}

// Markdown is the digest as a Markdown document in a language: en or zh.
func (d Digest) Markdown(language string) string {
	return written(texttemplate.Must(texttemplate.New("digest.md.tmpl").Funcs(inLanguage(language, digestInChinese)).
		ParseFS(pageFiles, "digest.md.tmpl")), d)
}

// HTML is the digest as an HTML document in a language: en or zh.
func (d Digest) HTML(language string) string {
	return written(template.Must(template.New("digest.html.tmpl").Funcs(inLanguage(language, digestInChinese)).
		ParseFS(pageFiles, "digest.html.tmpl")), d)
}

func written(t interface{ Execute(io.Writer, any) error }, data any) string {
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		panic(err) // the template is in the program
	}
	return out.String()
}
