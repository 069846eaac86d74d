package markdown

import "testing"

func TestFrontMatterEndsInEitherWay(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"---\nName: a\nTags: [b]\n---\nText\n", "---\nname: a\ntags: [b]\n...\nText\n", "---\nname: a\n--- \nText\n",
		"---\nName: a\nglobs: **/*.ts\n... \nText\n",
	} {
		said, head, body := frontMatter(text)
		if said["name"] != "a" || head == "" || body != "Text\n" {
			t.Errorf("%q: %v, then %q", text, said, body)
		}
	}
}
