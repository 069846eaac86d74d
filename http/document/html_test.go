package document_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/annals-kb/annals/http/document"
)

// Each cell is one line, whatever is in it, so that a row stays together.
func TestACellIsOneLine(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"8443<br>8080":                                                           "8443 8080",
		"<p>8443</p><p>8080</p>":                                                 "8443 8080",
		"<div>8443</div>\n<div>8080</div>":                                       "8443 8080",
		"<ul><li>8443</li>\n<li>8080</li></ul>":                                  "- 8443 - 8080",
		"<ol><li><p>a</p><ul><li>b<li>c</ul></ol>":                               "- a - b - c",
		"<h3>Port</h3>8443":                                                      "Port 8443",
		"<pre>make a\n\nmake b | c\n</pre>":                                      "`make a` `make b \\| c`",
		"<pre><code>one</code></pre>":                                            "`one`",
		"<code>a|b</code> or c|d":                                                "`a\\|b` or c\\|d",
		"<blockquote><p>q</p></blockquote>x<hr>y":                                "q x y",
		"<table><tr><th>a<th>b<tr><td>1<td>2</table>":                            "a b 1 2",
		`<a href="x" title="p` + "\n" + `q">l</a>`:                               `[l](x "p q")`,
		`<ul class="inline-task-list"><li class="checked">a</li><li>b</li></ul>`: "- [x] a - [ ] b",
		"<strong>a</strong><br/><em>b</em>":                                      "**a** *b*",
		"<a href=x><p>a</p><p>b</p></a>":                                         "[a b](x)",
		"H<sub>2</sub>O":                                                         "H2O",
		"":                                                                       "",
	} {
		for open, shut := range map[string]string{"": "", "<b id=docs-internal-guid>": "</b>"} {
			got := convert(t, open+"<p>Above</p><table><tr><th>Env<th>Port</tr><tr><td>prod</td><td>"+cell+"</td></tr></table>"+shut)
			if diff := cmp.Diff("Above\n\n| Env | Port |\n|---|---|\n| prod | "+want+" |", got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", cell, diff)
			}
		}
	}
}

// Tables for layout stay paragraphs, and no table takes more memory than its text.
func TestTablesForLayoutAreNoTables(t *testing.T) {
	t.Parallel()
	wide := "<table><tr>" + strings.Repeat("<td>x", 20_000) + strings.Repeat("<tr><td>y", 20_000) + "</table>"
	for page, want := range map[string]string{
		"<table><tr><td><h1>A</h1><p>b</table>":                                                    "# A\n\nb",
		"<table role=presentation><tr><td>a<td>b</table>":                                          "a\n\nb",
		"<table role=presentation><tr><td><h2>A</h2><td><table><tr><th>c<tr><td>d</table></table>": "## A\n\n| c |\n|---|\n| d |",
		"<table><tr><td colspan=2000000000 rowspan=2000000000>a<tr><td>b</table>":                  "a\n\nb",
		wide: strings.TrimSpace(strings.Repeat("x\n\n", 20_000) + strings.Repeat("y\n\n", 20_000)),
	} {
		if diff := cmp.Diff(want, convert(t, page)); diff != "" {
			t.Errorf("%.80s (-want +got):\n%.300s", page, diff)
		}
	}
}

func TestTasksAdmonitionsAndCodeKeepTheirKind(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		`<ul class="inline-task-list"><li class="checked" data-inline-task-id="1"><span>Ship</span></li><li>Test</li></ul>`:                                                                                                                                "- [x] Ship\n- [ ] Test",
		`<ul><li><input type="checkbox" checked disabled> Ship</li><li><p><input type=checkbox>Test</p></li></ul>`:                                                                                                                                         "- [x] Ship\n- [ ] Test",
		`<ul class="to-do-list"><li><div class="checkbox checkbox-on"></div> <span>Ship</span></li></ul><ul class="to-do-list"><li><div class="checkbox checkbox-off"></div> <span>Test</span></li></ul>`:                                                  "- [x] Ship\n\n- [ ] Test",
		`<div class="confluence-information-macro confluence-information-macro-warning"><p class="title">Careful</p><span class="aui-icon confluence-information-macro-icon"></span><div class="confluence-information-macro-body"><p>Hot</p></div></div>`: "> [!WARNING]\n> \n> Careful\n> \n> Hot",
		`<div class="confluence-information-macro confluence-information-macro-information"><div class="confluence-information-macro-body">So</div></div>`:                                                                                                 "> [!INFO]\n> \n> So",
		`<div class="admonition tip"><p>So</p></div>`:                           "> [!TIP]\n> \n> So",
		`<div class="admonition note">So <b>table</b></div>`:                    "> [!NOTE] So **table**",
		`<div class="theme-admonition theme-admonition-danger"><p>So</p></div>`: "> [!DANGER]\n> \n> So",
		`<div class="code panel"><div class="codeContent"><pre class="syntaxhighlighter-pre" data-syntaxhighlighter-params="brush: sql; gutter: false">SELECT 1;</pre></div></div>`: "```sql\nSELECT 1;\n```",
		`<div><script type="syntaxhighlighter" class="theme: Default; brush: bash; gutter: false"><![CDATA[a && b > c]]></script></div>`:                                            "```bash\na && b > c\n```",
		`<div class="highlight-python notranslate"><div class="highlight"><pre><span>a</span> = 1</pre></div></div>`:                                                                "```python\na = 1\n```",
		`<pre class="code"><code class="language-go">x</code></pre>`:                                                                                                                "```go\nx\n```",
		`<pre data-lang="yaml">a: 1</pre><pre>b</pre>`:                                                                                                                              "```yaml\na: 1\n```\n\n```\nb\n```",
		`<p>a &gt; b &amp;&amp; c &lt; d, &amp;lt; and Map&lt;K&gt;</p>`:                                                                                                            "a > b && c < d, &lt; and Map<K>",
	} {
		if diff := cmp.Diff(want, convert(t, page)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", page, diff)
		}
	}
}

func convert(t *testing.T, page string) string {
	t.Helper()
	node, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	text, err := document.HTML(node)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
