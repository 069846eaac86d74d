package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"

	"golang.org/x/net/html"

	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/console/browsertest"
	"github.com/annals-kb/annals/http/servertest"
)

// hostileMarkdown tries to run a script, to load something, to leave the quotation and to hide where a link leads.
const hostileMarkdown = `# Heading with <b onclick=alert(1)>HTML</b>

<script>alert(1)</script>

</blockquote></main><form action="//evil.example"><button>Confirm</button></form>

<style>*{display:none}</style>
<!-- comment --> <svg/onload=alert(1)> <iframe src="javascript:alert(1)">

[run](javascript:alert(1)) [run](JaVaScRiPt&colon;alert(1)) [run](&#106;avascript:alert(1)) [run](data:text/html,<script>alert(1)</script>)
[file](file:///etc/passwd) [here](/console/k/x/act/erase) [scheme](//evil.example/) [blank]( ) [vb](vbscript:x)
[bank](https://bank.example@evil.example/"onmouseover="alert(1)) [bаnk](https://bаnk.example/) <javascript:alert(1)> <https://auto.example/x>
![picture](https://tracker.example/p.png) ![x](javascript:alert(1)) [![in](a.png)](https://outer.example)

[ref]: javascript:alert(1) "title"
[ref] [write](mailto:mia@example.com?subject=x)

| a | <img src=x onerror=alert(1)> |
|---|---|
| ` + "`<b>code</b>`" + ` | **bold** |

- [x] done
- [ ] open

~~~html" onload="alert(1)
</code></pre><script>alert(2)</script>
~~~
{{.Owner}} &lt;script&gt; ` + "\u202egnp.exe"

func TestMarkdownIsShownWithoutItsHTML(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.remember(client.Knowledge{ID: "evil", Type: "tool", Content: hostileMarkdown})
		p := browsertest.Open(t, w.url) // fails the test if anything runs, is loaded, or breaks the content policy
		p.Go("/console/k/evil")
		if got := p.Count(".markdown"); got != 0 {
			t.Error("Markdown was not asked for")
		}
		p.Click(".look button")
		p.WaitFor(".markdown")
		p.Axe()
		_, page := w.ask("/console/k/evil?text=markdown")
		quote := named(t, page, "blockquote", "said markdown")[0]
		var links []string
		for node := range quote.Descendants() {
			if node.Type != html.ElementNode {
				continue
			}
			switch node.Data {
			case "script", "style", "svg", "iframe", "img", "form", "button", "input", "b", "object":
				t.Errorf("the text makes <%s>", node.Data)
			case "a":
				links = append(links, attribute(node, "href"))
				if attribute(node, "rel") != "noreferrer noopener nofollow" {
					t.Errorf("%s has rel %q", attribute(node, "href"), attribute(node, "rel"))
				}
			}
			for _, a := range node.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src" {
					t.Errorf("<%s> has %s", node.Data, a.Key)
				}
			}
		}
		for _, link := range links {
			to, err := url.Parse(link)
			if err != nil || to.Scheme != "https" && to.Scheme != "mailto" {
				t.Errorf("the text links to %s", link)
			}
		}
		if len(links) != 6 {
			t.Errorf("links to %q", links)
		}
		containsAll(t, said(quote), "<script>alert(1)</script>", "<svg/onload=alert(1)>", "</blockquote></main>", "(evil.example)",
			"(xn--bnk-6cd.example)", "javascript:alert(1)", "</code></pre><script>alert(2)</script>", "{{.Owner}}", "☑ done", "☐ open",
			"(tracker.example)", "([REDACTED_EMAIL])")
		p.Go("/console/k/evil")
		p.Click(".look button")
		p.WaitFor(".said:not(.markdown)")
	})
}

func TestMarkdownThatNestsDeeplyOrIsTooLongIsShown(t *testing.T) {
	databasetest.Slow(t)
	onOne(t, "", func(t *testing.T, w *world) {
		for id, content := range map[string]string{
			"quotes": strings.Repeat(">", 20_000) + "deep", "lists": strings.Repeat("- ", 10_000) + "deep",
			"links": strings.Repeat("[", 20_000) + "deep", "stars": strings.Repeat("*a_", 10_000) + "deep",
			"images": strings.Repeat("![", 5_000) + "deep" + strings.Repeat("](x)", 5_000),
			"long":   strings.Repeat("*a_", 20_000) + "deep",
		} {
			w.remember(client.Knowledge{ID: id, Type: "tool", Content: content})
			status, _, page := servertest.Send(t, http.DefaultClient,
				servertest.Request[string](t, http.MethodGet, w.url+"/console/k/"+id+"?text=markdown", nil))
			shown := said(named(t, string(page), "blockquote", "said markdown")[0])
			if status != http.StatusOK || !strings.Contains(shown, "deep") || strings.Contains(shown, "too long") != (id == "long") {
				t.Errorf("%s: %d", id, status)
			}
		}
	})
}
