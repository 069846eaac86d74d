// Package foreign reads what other programs know: notes in Markdown, and the exports of memories.
package foreign
