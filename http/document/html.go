package document

import (
	"fmt"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
)

// HTML is the text of a page, or of a part of one, as Markdown. What is not read, such as scripts and navigation, is
// left out.
func HTML(part *html.Node) (string, error) {
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(),
		table.NewTablePlugin()), converter.WithEscapeMode(converter.EscapeModeDisabled))
	for _, tag := range []string{"nav", "svg", "template", "noscript"} {
		c.Register.TagType(tag, converter.TagTypeRemove, converter.PriorityEarly)
	}
	text, err := c.ConvertNode(part)
	if err != nil {
		return "", fmt.Errorf("read HTML: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}
