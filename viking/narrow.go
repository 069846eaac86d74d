package viking

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// levels are those whose texts are wanted: a number or its name, or several. Everything, if there is none.
type levels []domain.Level

// UnmarshalJSON implements json.Unmarshaler.
func (l *levels) UnmarshalJSON(data []byte) error {
	var several []json.RawMessage
	if json.Unmarshal(data, &several) != nil {
		several = []json.RawMessage{data}
	}
	*l = nil
	for _, one := range several {
		name := strings.Trim(string(one), `"`)
		number, err := strconv.Atoi(strings.TrimPrefix(strings.ToUpper(name), "L"))
		if err != nil {
			return err
		}
		*l = append(*l, domain.Level(number))
	}
	return nil
}

// tagsOf reads tags that are written key=value, each for itself. One without a value is among the labels.
func tagsOf(q *query, tags []string) []domain.Tags {
	var sets []domain.Tags
	for _, tag := range tags {
		key, value, isPair := strings.Cut(tag, "=")
		if !isPair {
			key, value = domain.Labels, tag
		}
		if key = strings.TrimSpace(key); key == "" || strings.TrimSpace(value) == "" {
			q.found.Add("tags", "must be key=value, each")
			continue
		}
		sets = append(sets, domain.Tags{key: {strings.TrimSpace(value)}})
	}
	return sets
}
