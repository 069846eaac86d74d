package viking_test

import (
	"slices"
	"testing"
)

func TestAGlobMatchesAtEveryLevel(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		const base = "viking://resources/g"
		for _, name := range []string{"a1.md", "b2.txt", "sub/a3.md", "sub/deep/b4.md", "sub/deep/[x].md", "sub/中文.md"} {
			w.write(base+"/"+name, name)
		}
		for pattern, want := range map[string][]string{
			"*.md":  {"/a1.md", "/sub/a3.md", "/sub/deep/[x].md", "/sub/deep/b4.md", "/sub/中文.md"},
			"/*.md": {"/a1.md"},
			"*": {
				"/a1.md", "/b2.txt", "/sub", "/sub/a3.md", "/sub/deep", "/sub/deep/[x].md",
				"/sub/deep/b4.md", "/sub/中文.md",
			},
			"/*":             {"/a1.md", "/b2.txt", "/sub"},
			"su?":            {"/sub"},
			"**/deep":        {"/sub/deep"},
			"**/中?.*":        {"/sub/中文.md"},
			"**/[a-z].md":    nil,
			"g/sub/*.md":     nil,
			"**/*.md":        {"/a1.md", "/sub/a3.md", "/sub/deep/[x].md", "/sub/deep/b4.md", "/sub/中文.md"},
			"deep/*.md":      {"/sub/deep/[x].md", "/sub/deep/b4.md"},
			"sub/*.md":       {"/sub/a3.md", "/sub/中文.md"},
			"sub/**":         {"/sub/a3.md", "/sub/deep", "/sub/deep/[x].md", "/sub/deep/b4.md", "/sub/中文.md"},
			"[ab][0-9].*":    {"/a1.md", "/b2.txt", "/sub/a3.md", "/sub/deep/b4.md"},
			"[!a]?.*":        {"/b2.txt", "/sub/deep/b4.md", "/sub/中文.md"},
			"[[]x].md":       {"/sub/deep/[x].md"},
			"[中-丰]文.md":      {"/sub/中文.md"},
			"sub[!-~]a3.md":  nil,
			"sub[!a]a3.md":   nil,
			"[z-a]*.md":      nil,
			"[.md":           nil,
			"d[e][e]p":       {"/sub/deep"},
			"a[^1].md":       {"/a1.md"},
			"sub/deep/b?.md": {"/sub/deep/b4.md"},
		} {
			var got []string
			matched := w.ask("POST", "/api/v1/search/glob", object{"pattern": pattern, "uri": base}).object()
			same[any](t, matched["count"], float64(len(want)), pattern)
			for _, uri := range matched["matches"].([]any) {
				got = append(got, uri.(string)[len(base):])
			}
			slices.Sort(want)
			same(t, got, want, pattern)
		}
		w.ask("POST", "/api/v1/search/glob", object{"pattern": ""}).invalid()
		w.ask("POST", "/api/v1/search/glob", object{"pattern": "*", "uri": "viking://resources/nowhere"}).missing()
		like(t, w.ask("POST", "/api/v1/search/glob", object{"pattern": "resources/g/**/*.md", "node_limit": 1}).object(),
			object{"count": 1.0})
	})
}
