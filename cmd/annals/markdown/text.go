package markdown

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/annals-kb/annals/cmd/annals/terminal"
)

// parsed is a text with what its marks mean.
type parsed struct {
	source   string
	plain    []byte // the source with NUL for each byte of code and HTML
	headings []heading
	blocks   []int // where top-level blocks and items of top-level lists begin
}

// heading is a heading that is in no list or quotation.
type heading struct {
	level      int
	name       string
	start, end int // of its lines
}

// blocks is a parser of what tells text from code. It leaves out emphasis and links: for hostile texts, their time
// grows with the square of the size.
var blocks = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...), parser.WithInlineParsers(
		util.Prioritized(parser.NewCodeSpanParser(), 100), util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewRawHTMLParser(), 400)))
})

func parse(source string) parsed {
	p := parsed{source: source, plain: []byte(source)}
	hide := func(segments ...text.Segment) {
		for _, segment := range segments {
			clear(p.plain[segment.Start:segment.Stop])
		}
	}
	written := []byte(source)
	document := blocks().Parse(text.NewReader(written))
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		top, isItem := node.Parent() == document, node.Kind() == ast.KindListItem
		if top && node.Kind() != ast.KindList || isItem && node.Parent().Parent() == document {
			p.blocks = append(p.blocks, bytes.LastIndexByte(written[:max(node.Pos(), 0)], '\n')+1)
		}
		if node.Type() == ast.TypeBlock && node.IsRaw() {
			hide(node.Lines().Sliced(0, node.Lines().Len())...)
		}
		switch node := node.(type) {
		case *ast.Heading:
			if lines := node.Lines(); top && lines.Len() > 0 {
				p.headings = append(p.headings, headingOf(written, node.Level, lines))
			}
		case *ast.RawHTML:
			if !strings.HasSuffix(source[:node.Segments.At(0).Start], "](") { // else it is the address of a link
				hide(node.Segments.Sliced(0, node.Segments.Len())...)
			}
		case *ast.Text:
			if node.Parent().Kind() == ast.KindCodeSpan {
				hide(node.Segment)
			}
		}
		return ast.WalkContinue, nil
	})
	slices.Sort(p.blocks)
	return p
}

func headingOf(source []byte, level int, lines *text.Segments) heading {
	h := heading{level: level, start: bytes.LastIndexByte(source[:lines.At(0).Start], '\n') + 1}
	h.name, h.end = strings.Join(strings.Fields(string(lines.Value(source))), " "), lines.At(lines.Len()-1).Stop
	line := func() {
		_, below, _ := bytes.Cut(source[h.end:], []byte("\n"))
		h.end = len(source) - len(below)
	}
	if source[h.end-1] != '\n' {
		line()
	}
	if !bytes.HasPrefix(bytes.TrimLeft(source[h.start:], " "), []byte("#")) {
		line() // of dashes below it
	}
	return h
}

// link is a link to another note.
type link struct {
	target   string // a name, or a path that may have an ending
	fragment string // with #
	wiki     bool   // [[target]]
	words    bool   // shows other words than the target
	from, to int    // what to replace to let it lead elsewhere
}

var (
	wikiLink = regexp.MustCompile(`\[\[([^\[\]|#^\n\x00]+)([#^][^\[\]|\n\x00]*)?(\|[^\[\]\n\x00]*)?\]\]`)
	fileLink = regexp.MustCompile(`(?m)(?:\]\(|^ {0,3}\[[^\[\]\n\x00]+\]:)[ \t]*` +
		`(<[^<>\n\x00]+>|[^\s()<>\x00]+(?:\([^\s()\x00]*\)[^\s()\x00]*)*)`)
	hashTag = regexp.MustCompile(`(?m)(?:^|[\s\x{3000}])#([\p{L}\p{M}\p{N}\p{So}_/-]+)`)
)

// links are the links to other notes, in the order of the text.
func (p parsed) links() (all []link) {
	for _, at := range wikiLink.FindAllSubmatchIndex(p.plain, -1) {
		target := p.source[at[2]:at[3]]
		l := link{target: strings.TrimSpace(strings.TrimSuffix(target, `\`)), wiki: true, from: at[2], to: at[3]}
		if at[4] >= 0 {
			l.fragment, l.to = strings.TrimSuffix(p.source[at[4]:at[5]], `\`), at[5]
		}
		l.words = at[6] >= 0
		if strings.HasSuffix(p.source[at[2]:l.to], `\`) {
			l.to-- // as in a table
		}
		if escaped := at[0] > 0 && p.source[at[0]-1] == '\\'; l.target != "" && !escaped {
			all = append(all, l)
		}
	}
	for _, at := range fileLink.FindAllSubmatchIndex(p.plain, -1) {
		address := strings.Trim(p.source[at[2]:at[3]], "<>")
		before, fragment, has := strings.Cut(address, "#")
		target, err := url.PathUnescape(before)
		if err == nil && (isNote(target) || isPage(target)) && !strings.Contains(target, ":") { // not far away
			l := link{target: target, words: true, from: at[2], to: at[3]}
			if has {
				l.fragment = "#" + fragment
			}
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b link) int { return a.from - b.from })
	return all
}

// hashTags are the tags such as #tag in the text, outside of its links.
func (p parsed) hashTags(links []link) (all []string) {
	plain := slices.Clone(p.plain)
	for _, l := range links {
		clear(plain[l.from:l.to])
	}
	for _, found := range hashTag.FindAllSubmatch(plain, -1) {
		tag := strings.Trim(path.Clean(string(found[1])), "/")
		if strings.ContainsFunc(tag, func(r rune) bool { return !unicode.IsDigit(r) }) && tag != "." {
			all = append(all, tag)
		}
	}
	return all
}

// part is a section of a note.
type part struct{ heading, text string }

// parts splits the text at its headings of some levels, and what is before the first.
func (p parsed) parts(levels ...int) []part {
	all, from := []part{{}}, 0
	for _, h := range p.headings {
		if slices.Contains(levels, h.level) {
			all[len(all)-1].text = p.source[from:h.start]
			all, from = append(all, part{heading: h.name}), h.end
		}
	}
	all[len(all)-1].text = p.source[from:]
	return all
}

// sections splits a text at its headings of the first two levels, and what an agent has added under a heading of its
// own into lines. Lines that only point to other files are left out.
func sections(source string) (all []part) {
	const agents = "Gemini Added Memories"
	for _, section := range parse(source).parts(1, 2) {
		added, kept, rest := []part(nil), "", section.text
		for _, plain := range bytes.SplitAfter(parse(section.text).plain, []byte("\n")) {
			line := rest[:len(plain)]
			rest = rest[len(plain):]
			fact, is := strings.CutPrefix(line, "- ")
			switch {
			case indexLine.Match(plain):
			case is && strings.HasPrefix(section.heading, agents):
				fact = strings.TrimSpace(fact)
				added = append(added, part{agents + ": " + FirstRunes(fact, 40), fact})
			default:
				kept += line
			}
		}
		all = append(append(all, part{section.heading, kept}), added...)
	}
	return all
}

// split splits a text into parts of at most some bytes: at its headings, the highest first, else between paragraphs
// and items of lists, else between lines or words.
func split(whole part, most int) (all []part) {
	if len(whole.text) <= most {
		return []part{whole}
	}
	p := parse(whole.text)
	for level := 1; level <= 6; level++ {
		if inner := p.parts(level); len(inner) > 1 {
			for _, one := range inner {
				one.heading = terminal.Joined(": ", whole.heading, one.heading)
				all = append(all, split(one, most)...)
			}
			return all
		}
	}
	var piece string
	for i, from := range p.blocks {
		to := len(whole.text)
		if i+1 < len(p.blocks) {
			to = p.blocks[i+1]
		}
		if i == 0 {
			from = 0
		}
		block := whole.text[from:to]
		if piece != "" && len(piece)+len(block) > most {
			all, piece = append(all, part{whole.heading, piece}), ""
		}
		for piece += block; len(piece) > most; {
			within := strings.ToValidUTF8(piece[:most], "")
			end := cmp.Or(strings.LastIndex(within, "\n")+1, strings.LastIndex(within, " ")+1, len(within))
			all, piece = append(all, part{whole.heading, piece[:end]}), piece[end:]
		}
	}
	return append(all, part{whole.heading, piece})
}

// named gives each part a name of its own.
func named(all []part) []part {
	seen := map[string]bool{}
	for i := range all {
		name := all[i].heading
		for n := 2; seen[all[i].heading]; n++ {
			all[i].heading = strings.TrimSpace(fmt.Sprintf("%s (%d)", name, n))
		}
		seen[all[i].heading] = true
	}
	return all
}
