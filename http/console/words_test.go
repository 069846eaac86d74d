package console_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/console/browsertest"
)

// shown are the texts that a page shows to its reader by itself: neither what people and agents wrote, which has a
// language of its own, nor the ids and values in code, nor names, nor what is folded.
const shown = `(() => {
	const found = [], walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
	const own = "code, pre, kbd, q, blockquote, time, bdi, svg text, [lang], [dir=auto], option, .commands, [title*=':']";
	while (walk.nextNode()) {
		const of = walk.currentNode.parentElement;
		if (of.checkVisibility() && of.closest(own) === document.documentElement) found.push(walk.currentNode.data.trim());
	}
	return found;
})()`

var (
	// examples are said in brackets, or after a word for it.
	examples = regexp.MustCompile(`（[^）]*）|[如：] ?[\w:/#=.+@ -]+|# code =|\+01:00`)
	// terms are those that Chinese has no other word for, sizes, and the names of what the tests made.
	terms = regexp.MustCompile(`\b(API|CSV|JSON|HTML|Markdown|UTC|URI|URL|IDs?|id|SHA-256|Ed25519|PDF|DOCX|zip|[KMGT]i?B|ms|token|MCP|` +
		`OpenViking|OpenID|ndjson|csv|(user|agent|project|team|org):ID|public|viking|resources|session|default|mia|Mia|ben|coder|pay|staging|` +
		`language|stage|zzz|knowledge\.\*|service=payments|much|none|test|Requests a second|all|planning|acme|other|(user|scope):nobody|user:mia\.chen)\b|\b(agent|user)/`)
	latin = regexp.MustCompile(`[A-Za-z]{2}`)
)

func TestAReaderOfChineseMeetsNoEnglish(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Migrated(t, database.SQLite))
	w := newWorld(t, db, "")
	w.tell()
	w.staff()
	w.contradicted()
	p := browsertest.Open(t, w.url)
	p.Go("/console/")
	p.Click("button[name=language]")
	p.WaitFor("html[lang=zh]")
	for _, path := range allPages {
		if strings.Contains(path, "name=nothing") { // the names of events are what to type there
			continue
		}
		p.Go(path)
		var texts []string
		p.Eval(shown, &texts)
		for _, text := range texts {
			if latin.MatchString(terms.ReplaceAllString(examples.ReplaceAllString(text, ""), "")) {
				t.Errorf("%s says %q", path, text)
			}
		}
	}
}
