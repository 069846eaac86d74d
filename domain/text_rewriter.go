package domain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// TextCommand is a command with texts that people wrote.
type TextCommand interface {
	Command
	// RewriteText is a copy of the command with all texts rewritten. Ids, entities and URIs stay. The copy shares no
	// changed data with the command.
	RewriteText(TextRewriter) Command
}

// TextRewriter rewrites the texts of a command before the decision.
type TextRewriter struct {
	Text func(text string) string
	Name func(field, name string) // receives the strings that are not rewritten: URIs, and the keys of tags and meta
}

func (c Remember) RewriteText(r TextRewriter) Command {
	k := &c.Knowledge
	r.all(&k.Text.Task, &k.Text.Content, &k.Text.Abstract, &k.Text.Overview, &k.Source.Name, &k.Source.Category, &c.Reason)
	k.Text.Tags, k.Text.Meta = r.tags(k.Text.Tags), r.meta(k.Text.Meta)
	k.Source.URLs = r.each(k.Source.URLs)
	r.Name("uri", k.Text.URI)
	if k.Baseline != nil {
		baseline := *k.Baseline
		baseline.HelpfulHistory, baseline.HarmfulHistory = r.uses(baseline.HelpfulHistory), r.uses(baseline.HarmfulHistory)
		k.Baseline = &baseline
	}
	return c
}

func (c Revise) RewriteText(r TextRewriter) Command {
	for _, text := range []**string{&c.Changes.Task, &c.Changes.Content, &c.Changes.Abstract, &c.Changes.Overview} {
		if *text != nil {
			*text = new(r.Text(**text))
		}
	}
	if c.Changes.Tags != nil {
		c.Changes.Tags = new(r.tags(*c.Changes.Tags))
	}
	if c.Changes.Meta != nil {
		c.Changes.Meta = new(r.meta(*c.Changes.Meta))
	}
	r.all(&c.Reason)
	r.Name("uri", c.URI)
	return c
}

func (c GiveFeedback) RewriteText(r TextRewriter) Command {
	r.all(&c.Query, &c.Outcome)
	return c
}

func (c ReportStale) RewriteText(r TextRewriter) Command {
	r.all(&c.Reason)
	return c
}

func (c Confirm) RewriteText(r TextRewriter) Command {
	r.all(&c.Reason)
	return c
}

func (c Supersede) RewriteText(r TextRewriter) Command {
	r.all(&c.Reason)
	return c
}

func (c Delete) RewriteText(r TextRewriter) Command {
	r.all(&c.Reason)
	return c
}

func (c Restore) RewriteText(r TextRewriter) Command {
	r.all(&c.Reason)
	return c
}

// RewriteText implements [TextCommand]: the reason of an erasure stays for ever.
func (c Erase) RewriteText(r TextRewriter) Command {
	c.ErasureReason = c.rewritten(r)
	return c
}

func (c CreateKey) RewriteText(r TextRewriter) Command {
	r.all(&c.Key.Note)
	return c
}

func (c RevokeKey) RewriteText(r TextRewriter) Command {
	r.all(&c.Reason)
	return c
}

func (r TextRewriter) all(texts ...*string) {
	for _, text := range texts {
		*text = r.Text(*text)
	}
}

func (r TextRewriter) each(texts []string) []string {
	texts = slices.Clone(texts)
	for i := range texts {
		r.all(&texts[i])
	}
	return texts
}

func (r TextRewriter) uses(uses []Use) []Use {
	uses = slices.Clone(uses)
	for i := range uses {
		r.all(&uses[i].Query, &uses[i].Outcome)
	}
	return uses
}

func (r TextRewriter) tags(tags Tags) Tags {
	if len(tags) == 0 {
		return tags
	}
	tags = maps.Clone(tags)
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		r.Name("tags", key)
		tags[key] = r.each(tags[key])
	}
	return tags
}

// meta rewrites the strings of a JSON object and keeps the rest byte by byte. It returns invalid JSON unchanged, for
// the validation to refuse.
func (r TextRewriter) meta(meta json.RawMessage) json.RawMessage {
	if len(meta) == 0 || !json.Valid(meta) {
		return meta
	}
	var out bytes.Buffer
	for rest := []byte(meta); len(rest) > 0; {
		start := bytes.IndexByte(rest, '"')
		if start < 0 {
			out.Write(rest)
			break
		}
		end := afterString(rest, start)
		out.Write(rest[:start])
		out.Write(r.quoted(rest[start:end], bytes.HasPrefix(bytes.TrimLeft(rest[end:], " \t\r\n"), []byte(":"))))
		rest = rest[end:]
	}
	return out.Bytes()
}

// quoted rewrites one string of JSON, unless it is a key.
func (r TextRewriter) quoted(quoted []byte, isKey bool) []byte {
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return quoted
	}
	if isKey {
		r.Name("meta", text)
		return quoted
	}
	rewritten := r.Text(text)
	if rewritten == text {
		return quoted
	}
	return quote(rewritten)
}

// afterString is the end of the string that begins at start in valid JSON.
func afterString(valid []byte, start int) int {
	end := start + 1
	for valid[end] != '"' {
		if valid[end] == '\\' {
			end++
		}
		end++
	}
	return end + 1
}

// quote is a string as JSON.
func quote(text string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(fmt.Sprintf("a string is always JSON: %v", err))
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

var (
	_ TextCommand = Remember{}
	_ TextCommand = Revise{}
	_ TextCommand = GiveFeedback{}
	_ TextCommand = ReportStale{}
	_ TextCommand = Confirm{}
	_ TextCommand = Supersede{}
	_ TextCommand = Delete{}
	_ TextCommand = Restore{}
	_ TextCommand = Erase{}
	_ TextCommand = CreateKey{}
	_ TextCommand = RevokeKey{}
)

// RecordedString is a string in the text of an event.
type RecordedString struct {
	Field string // of the text, such as content, or source
	Name  bool   // it is a URI or a key, and never rewritten
	Value string
}

// RewriteRecordedText rewrites the strings in the text of any event, and keeps the rest byte by byte. rewrite also
// receives names, such as URIs and keys. Its result for them is ignored. Invalid JSON is returned unchanged.
func RewriteRecordedText(text json.RawMessage, rewrite func(RecordedString) string) json.RawMessage {
	if !json.Valid(text) {
		return text
	}
	w := jsonWalk{rewrite: rewrite}
	for rest := []byte(text); len(rest) > 0; {
		start := bytes.IndexByte(rest, '"')
		if start < 0 {
			w.between(rest)
			break
		}
		end := afterString(rest, start)
		w.between(rest[:start])
		w.quoted(rest[start:end], bytes.HasPrefix(bytes.TrimLeft(rest[end:], " \t\r\n"), []byte(":")))
		rest = rest[end:]
	}
	return w.out.Bytes()
}

// jsonWalk visits each string of a JSON document.
type jsonWalk struct {
	rewrite func(RecordedString) string
	out     bytes.Buffer
	depth   int
	field   string // the outermost key
	key     string // the innermost one
}

// between handles the bytes outside of strings.
func (w *jsonWalk) between(part []byte) {
	w.out.Write(part)
	w.depth += bytes.Count(part, []byte("{")) + bytes.Count(part, []byte("["))
	w.depth -= bytes.Count(part, []byte("}")) + bytes.Count(part, []byte("]"))
}

func (w *jsonWalk) quoted(quoted []byte, isKey bool) {
	var value string
	if json.Unmarshal(quoted, &value) != nil {
		w.out.Write(quoted)
		return
	}
	if isKey {
		if w.key = value; w.depth == 1 {
			w.field = value
		} else if w.field == "tags" || w.field == "meta" {
			w.rewrite(RecordedString{Field: w.field, Name: true, Value: value})
		}
		w.out.Write(quoted)
		return
	}
	name := w.field != "meta" && w.field != "tags" && (w.key == "uri" || strings.HasSuffix(w.key, "_uri"))
	rewritten := w.rewrite(RecordedString{Field: w.field, Name: name, Value: value})
	if name || rewritten == value {
		w.out.Write(quoted)
		return
	}
	w.out.Write(quote(rewritten))
}
