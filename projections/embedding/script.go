package embedding

import (
	"context"
	"unicode"
)

// Reads tells whether the model can tell a text from others in the script of most of its letters. A model without
// pieces of a script gives all texts of one length the same vector: it is asked for two halves of the first such text.
func (o *OpenAI) Reads(ctx context.Context, s string) bool {
	const (
		most, least = 16, 4 // letters to ask for
		same        = 0.98  // the cosine of two halves that the model cannot tell apart
	)
	var others []rune
	latin := 0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin++
		case unicode.IsLetter(r):
			others = append(others, r)
		}
	}
	if len(others) <= latin || len(others) < least {
		return true
	}
	script := scriptOf(others[0])
	if reads, known := o.scripts.Load(script); known {
		return reads.(bool)
	}
	half := min(len(others), most) / 2
	vectors, err := o.Embed(ctx, []string{string(others[:half]), string(others[half : 2*half])}, Document)
	if err != nil {
		return true // the texts are asked for next, and tell why
	}
	reads := Cosine(vectors[0], vectors[1]) < same
	o.scripts.Store(script, reads)
	return reads
}

func scriptOf(r rune) string {
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return ""
}
