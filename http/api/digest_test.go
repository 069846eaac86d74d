package api

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// digest has two items in each section.
func digest(title, who string) Digest {
	one := DigestSection{Total: 21, Items: []DigestItem{{
		ID: "1", Title: title, Count: 2, By: "2", Who: who, Others: []DigestOther{{ID: "2", Title: title}},
	}, {ID: "3", Count: 1, Others: []DigestOther{{ID: "4", Title: title}}}}}
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	return Digest{
		Scope: who, Since: at, Until: at.AddDate(0, 0, 7), Links: "/k/", Events: 900, More: true, New: one, Changed: one,
		Contested: one, Doubted: one, Superseded: one, Deleted: one, Helpful: one, Waiting: one,
	}
}

func TestADigestShowsWhatPeopleWroteAsText(t *testing.T) {
	t.Parallel()
	given := digest("<b>*now*</b> [x](y)", "user:<i>")
	markdown, page := given.Markdown("en"), given.HTML("en")
	for _, want := range []string{
		"## Found helpful: 2 of 21\n",
		`- [\<b\>\*now\*\</b\> \[x\](y)](/k/1), user:\<i\> (2), now [`, "\n- [a forgotten item](/k/3), contradicts [",
	} {
		if !strings.Contains(markdown, want) {
			t.Errorf("%q is missing in\n%s", want, markdown)
		}
	}
	if want := `<a href="/k/1" dir="auto">&lt;b&gt;*now*&lt;/b&gt; [x](y)</a>, <bdi>user:&lt;i&gt;</bdi> (2)`; !strings.Contains(page, want) ||
		strings.Contains(page, "<b>") {
		t.Errorf("%q is missing in\n%s", want, page)
	}
}

func TestADigestInChineseHasNoEnglish(t *testing.T) {
	t.Parallel()
	given := digest("标题", "团队")
	markup := regexp.MustCompile(`<[^>]*>|\(/k/\d\)`)
	for _, shown := range []string{given.Markdown("zh"), given.HTML("zh")} {
		if english := regexp.MustCompile(`[A-Za-z]+`).FindAllString(markup.ReplaceAllString(shown, ""), -1); english != nil {
			t.Errorf("%q in\n%s", english, shown)
		}
	}
}
