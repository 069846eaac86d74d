package static

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/runes"
	"golang.org/x/text/unicode/norm"
)

// tokenizer cuts texts into the tokens of a tokenizer.json of Hugging Face: WordPiece or Unigram.
type tokenizer struct {
	size     int    // of the vocabulary
	steps    []step // normalizers, and then pre-tokenizers
	tokensOf func(word string) []int

	ids     map[string]int
	longest int // bytes of a token
	unknown int // the token for what is unknown, negative if there is none
}

// step changes a text, or cuts it into words.
type step func(text string) []string

// part describes steps: a normalizer or a pre-tokenizer.
type part struct {
	Type          string
	Normalizers   []part
	PreTokenizers []part `json:"pretokenizers"`
	Lowercase     bool
	StripAccents  *bool `json:"strip_accents"`
	Chinese       bool  `json:"handle_chinese_chars"`
	Pattern       struct{ String, Regex string }
	Content       string
	Replacement   string
	Scheme        string `json:"prepend_scheme"`
	AddSpace      *bool  `json:"add_prefix_space"`
	Split         *bool
}

func openTokenizer(path string) (*tokenizer, error) {
	encoded, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		AddedTokens  []struct{ ID int } `json:"added_tokens"`
		Normalizer   part
		PreTokenizer part `json:"pre_tokenizer"`
		Model        struct {
			Type    string
			Vocab   json.RawMessage
			Unknown string `json:"unk_token"`
			UnkID   *int   `json:"unk_id"`
			Prefix  string `json:"continuing_subword_prefix"`
		}
	}
	if err := json.Unmarshal(encoded, &file); err != nil {
		return nil, fmt.Errorf("it is no tokenizer of Hugging Face, or cut off: download it again (%w)", err)
	}
	t := &tokenizer{ids: map[string]int{}, unknown: -1}
	switch file.Model.Type {
	case "WordPiece":
		err = json.Unmarshal(file.Model.Vocab, &t.ids)
		t.tokensOf = func(word string) []int { return t.wordPieces(word, file.Model.Prefix) }
	case "Unigram":
		var list []scored
		err = json.Unmarshal(file.Model.Vocab, &list)
		least, scores := 0.0, make([]float64, len(list))
		for id, token := range list {
			t.ids[token.text], scores[id], least = id, token.score, min(least, token.score)
		}
		const unknownPenalty = 10
		first := func(score, best float64) bool { return score > best }
		t.tokensOf = NewUnigram(t.ids, scores, least-unknownPenalty, first).Cut
	default:
		return nil, fmt.Errorf("its model is %q: use one with WordPiece or Unigram", file.Model.Type)
	}
	if err != nil {
		return nil, fmt.Errorf("its vocabulary cannot be read: download it again (%w)", err)
	}
	if id, is := t.ids[file.Model.Unknown]; is {
		t.unknown = id
	}
	if file.Model.UnkID != nil {
		t.unknown = *file.Model.UnkID
	}
	for token, id := range t.ids {
		if id < 0 {
			return nil, fmt.Errorf("its token %q has the number %d: download it again", token, id)
		}
		t.size, t.longest = max(t.size, id+1), max(t.longest, len(token))
	}
	for _, added := range file.AddedTokens {
		t.size = max(t.size, added.ID+1)
	}
	return t, errors.Join(t.add(file.Normalizer), t.add(file.PreTokenizer))
}

// scored is a token of Unigram with the logarithm of its probability: a JSON list of both.
type scored struct {
	text  string
	score float64
}

func (s *scored) UnmarshalJSON(encoded []byte) error {
	return json.Unmarshal(encoded, &[]any{&s.text, &s.score})
}

// normalForms are by normalizer. SentencePiece's own tables differ from NFKC in rare characters.
var normalForms = map[string]norm.Form{
	"NFC": norm.NFC, "NFD": norm.NFD, "NFKC": norm.NFKC, "NFKD": norm.NFKD, "Precompiled": norm.NFKC, "Nmt": norm.NFKC,
}

var punctuation = regexp.MustCompile("[\\p{P}$+<=>^`|~]")

// add adds the steps of a part.
func (t *tokenizer) add(p part) error {
	change := func(f func(string) string) {
		t.steps = append(t.steps, func(text string) []string { return []string{f(text)} })
	}
	form, isForm := normalForms[p.Type]
	switch {
	case isForm:
		change(form.String)
	case p.Type == "": // there is none
	case p.Type == "Sequence":
		for _, child := range append(p.Normalizers, p.PreTokenizers...) {
			if err := t.add(child); err != nil {
				return err
			}
		}
	case p.Type == "BertNormalizer":
		change(func(text string) string { return clean(text, p.Chinese) })
		if p.StripAccents == nil && p.Lowercase || p.StripAccents != nil && *p.StripAccents {
			change(func(text string) string { return runes.Remove(runes.In(unicode.Mn)).String(norm.NFD.String(text)) })
		}
		if p.Lowercase {
			change(strings.ToLower)
		}
	case p.Type == "Lowercase":
		change(strings.ToLower)
	case p.Type == "Strip":
		change(strings.TrimSpace)
	case p.Type == "Replace":
		pattern, err := regexp.Compile(cmp.Or(p.Pattern.Regex, regexp.QuoteMeta(p.Pattern.String)))
		if err != nil {
			return fmt.Errorf("its pattern %q is not supported: use another model", p.Pattern.Regex)
		}
		change(func(text string) string { return pattern.ReplaceAllLiteralString(text, p.Content) })
	case p.Type == "BertPreTokenizer":
		t.steps = append(t.steps, func(text string) []string {
			return strings.Fields(punctuation.ReplaceAllString(text, " $0 "))
		})
	case p.Type == "WhitespaceSplit":
		t.steps = append(t.steps, strings.Fields)
	case p.Type == "Metaspace":
		t.steps = append(t.steps, p.metaspace)
	default:
		return fmt.Errorf("its step %q is not supported: use a model with WordPiece or Unigram", p.Type)
	}
	return nil
}

// clean removes control characters, makes every space a blank, and puts blanks around Chinese characters.
func clean(text string, chinese bool) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case r == utf8.RuneError || unicode.Is(unicode.C, r):
		case chinese && unicode.Is(unicode.Han, r):
			b.WriteString(" " + string(r) + " ")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// metaspace marks the beginnings of words, and cuts before them.
func (p part) metaspace(text string) []string {
	if text == "" {
		return nil
	}
	text = strings.ReplaceAll(text, " ", p.Replacement)
	if p.Scheme != "never" && (p.AddSpace == nil || *p.AddSpace) && !strings.HasPrefix(text, p.Replacement) {
		text = p.Replacement + text
	}
	if p.Split != nil && !*p.Split {
		return []string{text}
	}
	words := strings.SplitAfter(text, p.Replacement)
	for i := len(words) - 1; i > 0; i-- { // the mark begins a word
		words[i-1] = strings.TrimSuffix(words[i-1], p.Replacement)
		words[i] = p.Replacement + words[i]
	}
	return words
}

// of returns the known tokens of a text.
func (t *tokenizer) of(text string) (tokens []int) {
	words := []string{text}
	for _, step := range t.steps {
		var all []string
		for _, word := range words {
			all = append(all, step(word)...)
		}
		words = all
	}
	for _, word := range words {
		for _, token := range t.tokensOf(word) {
			if token >= 0 && token != t.unknown {
				tokens = append(tokens, token)
			}
		}
	}
	return tokens
}

// wordPieces cuts a word into the longest tokens, from its beginning. It knows none of a word of which it knows no
// part.
func (t *tokenizer) wordPieces(word, prefix string) (tokens []int) {
	const mostCharacters = 100
	if utf8.RuneCountInString(word) > mostCharacters {
		return nil
	}
	before := ""
	for word != "" {
		end := min(len(word), t.longest)
		id, known := t.ids[before+word[:end]]
		for ; !known && end > 0; id, known = t.ids[before+word[:end]] {
			end--
		}
		if end == 0 {
			return nil
		}
		tokens, word, before = append(tokens, id), word[end:], prefix
	}
	return tokens
}
