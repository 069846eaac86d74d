package console

import (
	"slices"
	"strings"

	"github.com/annals-kb/annals/http/api"
)

// changedFields are the fields of a form that differ from the item, in the order of the form.
func changedFields(was, is map[string]string) []field {
	return slices.DeleteFunc(revisable(), func(f field) bool {
		return f.Name == "reason" || f.Check || unixLines(was[f.Name]) == is[f.Name]
	})
}

// revision is the merge patch from an item to the values of a form. It names only what differs.
func revision(k api.Knowledge, values map[string]string) map[string]any {
	patch := map[string]any{}
	for _, field := range changedFields(revisableValues(k), values) {
		value := values[field.Name]
		switch field.Name {
		case "scopes":
			patch["scopes"] = linesOf(value)
		case "tags":
			patch["tags"] = tagPatch(k.Tags, value)
		default:
			if patch[field.Name] = any(value); value == "" && !field.Required {
				patch[field.Name] = nil
			}
		}
	}
	return patch
}

// tagPatch sets the tags of a form. It removes the keys that the form does not have.
func tagPatch(was api.Tags, lines string) map[string]any {
	patch := map[string]any{}
	for key := range was {
		patch[key] = nil
	}
	for key, values := range tagsOf(lines) {
		patch[key] = values
	}
	return patch
}

// tagsOf are the tags of a form, one a line. A line without a key is a label.
func tagsOf(lines string) api.Tags {
	tags := api.Tags{}
	for _, line := range linesOf(lines) {
		key, value, keyed := strings.Cut(line, ":")
		if key, value = strings.TrimSpace(key), strings.TrimSpace(value); !keyed {
			key, value = "labels", key
		}
		tags[key] = append(tags[key], value)
	}
	return tags
}

// linesOf are the lines of a text that are not empty, without the spaces around them.
func linesOf(s string) []string {
	var lines []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// previewOf is what a revision would change, texts word by word.
func previewOf(k api.Knowledge, values map[string]string) []edit {
	was := revisableValues(k)
	var edits []edit
	for _, field := range changedFields(was, values) {
		edits = append(edits, edit{Field: field.Name, Diff: diffOf(unixLines(was[field.Name]), values[field.Name])})
	}
	return edits
}
