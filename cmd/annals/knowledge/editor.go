package knowledge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/annals-kb/annals/http/api"
)

// errCancelled says that the person did not go on.
var errCancelled = errors.New("cancelled: nothing was done")

// inEditor lets a person edit a text with the program that VISUAL or EDITOR names. Default: vi. A text that is left as
// it was, or empty, cancels.
func inEditor(ctx context.Context, text string) (string, error) {
	file, err := os.CreateTemp("", "annals-*.md")
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // leftovers are harmless
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	set := func(name string) string { return strings.TrimSpace(os.Getenv(name)) }
	words := strings.Fields(cmp.Or(set("VISUAL"), set("EDITOR"), "vi"))
	editor := exec.CommandContext(ctx, words[0], append(words[1:], file.Name())...) //nolint:gosec // the person's own
	editor.Stdin, editor.Stdout, editor.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := editor.Run(); err != nil {
		return "", fmt.Errorf("run %s: %w", words[0], err)
	}
	edited, err := os.ReadFile(file.Name())
	after := string(edited)
	if !strings.HasSuffix(text, "\n") { // which editors add
		after = strings.TrimSuffix(after, "\n")
	}
	if err == nil && (after == text || strings.TrimSpace(after) == "") {
		err = errCancelled
	}
	return after, err
}

// contents are the contents of items, one after the other.
func contents(items []*api.Knowledge) string {
	all := make([]string, len(items))
	for i, k := range items {
		all[i] = k.Content
	}
	return strings.Join(all, "\n\n")
}
