package domain

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Class is what an item is, in the words of the vocabulary. Its context type and its media never change.
type Class struct {
	Type        Type        `data:"type"`
	ContextType ContextType `data:"context_type"`
	Category    Category    `data:"category,omitempty"`
	Polarity    Polarity    `data:"polarity"`
	Media       Media       `data:"media"`
}

// Text is what people wrote. It is stored apart from the facts and can be erased.
type Text struct {
	Task     string          `text:"task,omitempty"`     // the situation or the purpose; at most 2,000 characters
	Content  string          `text:"content,omitempty"`  // the knowledge itself; 1 byte to 64 KiB
	Abstract string          `text:"abstract,omitempty"` // L0, about 100 tokens; empty to derive it
	Overview string          `text:"overview,omitempty"` // L1, one to two thousand tokens; empty to derive it
	Tags     Tags            `text:"tags,omitempty"`
	Meta     json.RawMessage `text:"meta,omitempty"` // a JSON object in compact form, at most 16 KiB; nil for none
	URI      string          `text:"uri,omitempty"`
}

// Tags are business labels: category, domain, and any other key, each with one or more values.
type Tags map[string][]string

// normal has tags that look the same in the same form: NFC, without characters of no width.
func (t Tags) normal() Tags {
	if t == nil {
		return nil
	}
	all := make(Tags, len(t))
	for _, key := range slices.Sorted(maps.Keys(t)) {
		values := all[normalTag(key)]
		if values == nil {
			values = t[key][:0:0]
		}
		for _, value := range t[key] {
			if value = normalTag(value); !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
		all[normalTag(key)] = values
	}
	return all
}

func normalTag(s string) string {
	last := rune(0)
	return norm.NFC.String(strings.Map(func(r rune) rune {
		before := last
		last = r
		switch r {
		case '\u200b', '\u200e', '\u200f', '\u2060', '\ufeff', '\u00ad':
			return -1
		case '\u200c', '\u200d': // they join letters of other scripts, and emoji
			if before <= unicode.MaxLatin1 || unicode.Is(unicode.Latin, before) {
				return -1
			}
		}
		return r
	}, s))
}

// Labels is the key under which tags given as a plain list are kept.
const Labels = "labels"

// CutTag cuts a tag such as "service=pay" into its key and its value. A tag without the separator is a label.
func CutTag(tag, separator string) (key, value string) {
	if key, value, keyed := strings.Cut(tag, separator); keyed {
		return key, value
	}
	return Labels, tag
}

// TagsOf are the tags that a list says, see [CutTag]; nil for none.
func TagsOf(list []string, separator string) (tags Tags) {
	for _, tag := range list {
		if tags == nil {
			tags = Tags{}
		}
		key, value := CutTag(tag, separator)
		tags[key] = append(tags[key], value)
	}
	return tags
}

// Revised changed an item. A nil field is unchanged, an empty one was cleared.
type Revised struct {
	Reclassed
	Task     *string
	Content  *string
	Abstract *string
	Overview *string
	Tags     *Tags
	Meta     *json.RawMessage
	Reason   string // why, in the author's words; no change by itself
}

// Reclassed are the changes of what an item is.
type Reclassed struct {
	Type     *Type     `data:"type,omitempty"`
	Category *Category `data:"category,omitempty"`
	Polarity *Polarity `data:"polarity,omitempty"`
	Trust    Trust     `data:"trust,omitempty"` // empty if it stays; nobody asks for it
}

// Names are the names of the fields that changed, as they are recorded.
func (r Reclassed) Names() (names []string) {
	for _, field := range []struct {
		name    string
		changed bool
	}{{"type", r.Type != nil}, {"category", r.Category != nil}, {"polarity", r.Polarity != nil}} {
		if field.changed {
			names = append(names, field.name)
		}
	}
	return names
}

// changes are the changes of an item that is to say what r says.
func (r *Remembered) changes() Revised {
	return Revised{
		Reclassed: Reclassed{Type: &r.Type, Category: &r.Category, Polarity: &r.Polarity},
		Task:      &r.Text.Task, Content: &r.Text.Content, Abstract: &r.Text.Abstract,
		Overview: &r.Text.Overview, Tags: &r.Text.Tags, Meta: &r.Text.Meta,
	}
}

// check notes every bad value.
func (r Revised) check(p *Problems, mayBeEmpty bool) {
	ifSet(r.Type, func(v Type) { oneOf(p, "type", v, Types, true) })
	ifSet(r.Category, func(v Category) { oneOf(p, "category", v, Categories, false) })
	ifSet(r.Polarity, func(v Polarity) { oneOf(p, "polarity", v, Polarities, true) })
	ifSet(r.Task, func(v string) { checkTask(p, v) })
	ifSet(r.Content, func(v string) { checkContent(p, v, mayBeEmpty) })
	ifSet(r.Abstract, func(v string) { atMost(p, "abstract", v, maxAbstract) })
	ifSet(r.Overview, func(v string) { atMost(p, "overview", v, maxOverview) })
	ifSet(r.Tags, func(v Tags) { checkTags(p, v) })
	ifSet(r.Meta, func(v json.RawMessage) { checkMeta(p, v) })
}

// different drops the values that k already has.
func (r Revised) different(k *Knowledge) (Revised, bool) {
	drop(&r.Type, k.Type)
	drop(&r.Category, k.Category)
	drop(&r.Polarity, k.Polarity)
	drop(&r.Task, k.Text.Task)
	drop(&r.Content, k.Text.Content)
	drop(&r.Abstract, k.Text.Abstract)
	drop(&r.Overview, k.Text.Overview)
	if r.Tags != nil {
		r.Tags = new(r.Tags.normal())
	}
	if r.Tags != nil && maps.EqualFunc(*r.Tags, k.Text.Tags, slices.Equal) {
		r.Tags = nil
	}
	if r.Meta != nil {
		meta := compactJSON(*r.Meta)
		r.Meta = &meta
		if bytes.Equal(meta, compactJSON(k.Text.Meta)) {
			r.Meta = nil
		}
	}
	return r, r != Revised{}
}

// Fingerprint is the same for two items if what [Revised] can change is, and the context type and the media, too.
func (c Class) Fingerprint(t Text) string {
	parts := []string{
		string(c.Type), string(c.ContextType), string(c.Category), string(c.Polarity), string(c.Media),
		t.Task, t.Content, t.Abstract, t.Overview, string(compactJSON(t.Meta)),
	}
	for _, key := range slices.Sorted(maps.Keys(t.Tags)) {
		parts = append(append(parts, key, strconv.Itoa(len(t.Tags[key]))), t.Tags[key]...)
	}
	whole := FingerprintOf(nil, parts...).Whole
	return hex.EncodeToString(whole[:])
}

func drop[T comparable](field **T, current T) {
	if *field != nil && **field == current {
		*field = nil
	}
}

func (k *Knowledge) revise(f Revised) {
	set(&k.Type, f.Type)
	set(&k.Category, f.Category)
	set(&k.Polarity, f.Polarity)
	k.Text = f.Of(k.Text)
	k.lower(f.Trust)
	k.Revision++
}

// Of is a text as it is revised.
func (r Revised) Of(t Text) Text {
	set(&t.Task, r.Task)
	set(&t.Content, r.Content)
	set(&t.Abstract, r.Abstract)
	set(&t.Overview, r.Overview)
	set(&t.Tags, r.Tags)
	set(&t.Meta, r.Meta)
	return t
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// snapshot lists the fields of a history, in the order of display.
func snapshot(k *Knowledge) []field {
	return []field{
		{"type", present(k.Type)},
		{"context_type", present(k.ContextType)},
		{"category", present(k.Category)},
		{"polarity", present(k.Polarity)},
		{"media", present(k.Media)},
		{"scopes", filled(len(k.Scopes), k.Scopes)},
		{"visibility", filled(int(k.Version), string(k.Visibility()))},
		{"owner", present(k.Owner)},
		{"task", present(k.Text.Task)},
		{"content", present(k.Text.Content)},
		{"abstract", present(k.Text.Abstract)},
		{"overview", present(k.Text.Overview)},
		{"tags", filled(len(k.Text.Tags), k.Text.Tags)},
		{"meta", filled(len(k.Text.Meta), k.Text.Meta)},
		{"uri", present(k.Text.URI)},
		{"eval.helpful", k.Helpful},
		{"eval.harmful", k.Harmful},
		{"eval.confidence", k.Confidence},
		{"stale.reporters", k.Stale.Reporters},
		{"stale.reason", present(k.Stale.Reason)},
		{"confirmed_at", timeValue(k.ConfirmedAt)},
		{"confirm_until", timeValue(k.ConfirmUntil)},
		{"status", present(k.Status)},
		{"superseded_by", present(k.SupersededBy)},
		{"held", k.Held},
		{"relations", related(k.Relations)},
	}
}

func present[T ~string](word T) any {
	if word == "" {
		return nil
	}
	return string(word)
}

// filled is a value of some length; nil if that is 0.
func filled(length int, value any) any {
	if length == 0 {
		return nil
	}
	return value
}

// related are the ids of the related items, each with its reason.
func related(relations []Relation) any {
	reasons := make(map[string]string, len(relations))
	for _, r := range relations {
		reasons[r.To] = r.Reason
	}
	return filled(len(reasons), reasons)
}

func timeValue(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// With is the union of t and more.
func (t Tags) With(more Tags) Tags {
	all := Tags{}
	for _, tags := range []Tags{t, more} {
		for key, values := range tags {
			for _, value := range values {
				if !slices.Contains(all[key], value) {
					all[key] = append(all[key], value)
				}
			}
		}
	}
	return all
}

// Pairs are the tags as key, separator and value, or the value of a label. Filters have a colon as separator.
func (t Tags) Pairs(separator string) (pairs []string) {
	for key, values := range t {
		for _, value := range values {
			if key != Labels {
				value = key + separator + value
			}
			pairs = append(pairs, value)
		}
	}
	return pairs
}
