package viking

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
)

// condition restricts a search: all of several conditions, one of several values, or a range of times.
type condition struct {
	Op      string            `json:"op"` // and, or, must, range; empty for none
	Field   string            `json:"field"`
	Conds   []json.RawMessage `json:"conds"` // of and, or: conditions; of must: values
	members map[string]json.RawMessage
}

// membersOf are the fields of a condition, by op.
var membersOf = map[string][]string{
	"and":   {"op", "conds"},
	"or":    {"op", "conds"},
	"must":  {"op", "field", "conds"},
	"range": {"op", "field", "gte", "gt", "lt", "lte"},
}

// conditionOf parses a condition. It refuses members that the op does not have.
func conditionOf(raw json.RawMessage) (condition, error) {
	c := condition{}
	if json.Unmarshal(raw, &c.members) != nil {
		return c, errFilter("a condition must be an object")
	}
	if len(c.members) == 0 {
		return c, nil
	}
	wrong := json.Unmarshal(raw, &c)
	if membersOf[c.Op] == nil {
		return c, errFilter("op must be one of and, or, must, range")
	}
	for name := range c.members {
		if known := membersOf[c.Op]; !slices.Contains(known, name) {
			return c, errFilter("a condition with op %s has no fields but %s", c.Op, strings.Join(known, ", "))
		}
	}
	if wrong != nil {
		return c, errFilter("field must be a string, and conds an array")
	}
	return c, nil
}

// errFilter refuses a filter. To ignore the filter would answer with everything.
func errFilter(format string, values ...any) error {
	return domain.Refuse(errInvalidFilter, format, values...)
}

func (c condition) apply(f *domain.Filter, by caller) error {
	switch c.Op {
	case "or":
		return c.anyOf(f, by)
	case "and":
		for _, cond := range c.Conds {
			inner, err := conditionOf(cond)
			if err == nil && inner.Op == "" {
				err = errFilter("the conditions of and must be conditions")
			}
			if err == nil {
				err = inner.apply(f, by)
			}
			if err != nil {
				return err
			}
		}
	case "must":
		return c.allOf(f, by)
	case "range":
		return c.timeRange(f)
	}
	return nil
}

// anyOf applies an or: its conditions must list values of one field, so that they are one condition.
func (c condition) anyOf(f *domain.Filter, by caller) error {
	one := condition{Op: "must"}
	for _, cond := range c.Conds {
		inner, err := conditionOf(cond)
		if err != nil {
			return err
		}
		if inner.Op != "must" || one.Field != "" && inner.Field != one.Field {
			return errFilter("the conditions of or must be must, all of one field")
		}
		one.Field, one.Conds = inner.Field, append(one.Conds, inner.Conds...)
	}
	if len(one.Conds) == 0 {
		return errFilter("or must have conditions")
	}
	return one.allOf(f, by)
}

func (c condition) allOf(f *domain.Filter, by caller) error {
	if len(c.Conds) == 0 {
		return errFilter("must must have conds")
	}
	if c.Field == "level" {
		var wanted levels
		list, err := json.Marshal(c.Conds)
		if err != nil || json.Unmarshal(list, &wanted) != nil {
			return errFilter("conds must be levels: 0, 1, 2")
		}
		f.Levels = append(f.Levels, wanted...)
		return nil
	}
	values := make([]string, len(c.Conds))
	for i, cond := range c.Conds {
		if json.Unmarshal(cond, &values[i]) != nil {
			return errFilter("conds must be strings")
		}
	}
	switch c.Field {
	case "context_type":
		for _, value := range values {
			f.ContextTypes = append(f.ContextTypes, domain.ContextType(value))
		}
	case "category":
		for _, value := range values {
			f.Categories = append(f.Categories, domain.Category(value))
		}
	case "uri":
		for _, value := range values {
			a, err := by.address("filter", value)
			if err != nil {
				return err
			}
			f.Under = append(f.Under, a.searchPlaces()...)
		}
	default:
		return errFilter("field must be one of context_type, category, uri, level")
	}
	return nil
}

// timeRange restricts times. The log has times in microseconds: the time after one is one microsecond later, and the
// time after a date is the next day.
func (c condition) timeRange(f *domain.Filter) error {
	from, to := &f.UpdatedFrom, &f.UpdatedTo
	switch c.Field {
	case "created_at":
		from, to = &f.CreatedFrom, &f.CreatedTo
	case "updated_at":
	default:
		return errFilter("field must be one of created_at, updated_at")
	}
	bounded := false
	for _, b := range []struct {
		name  string
		bound *time.Time
		later time.Duration
	}{
		{"gte", from, 0}, {"gt", from, time.Microsecond}, {"lt", to, 0}, {"lte", to, time.Microsecond},
	} {
		raw, has := c.members[b.name]
		if !has || string(raw) == "null" {
			continue
		}
		var text string
		_ = json.Unmarshal(raw, &text) // what is no text is no time either
		at, isDate, err := timeOf(text, time.Now())
		if err != nil {
			return errFilter("%s must be a time, as in 2026-03-12T08:00:00Z", b.name)
		}
		if isDate && b.later > 0 {
			b.later = 24 * time.Hour
		}
		*b.bound, bounded = at.UTC().Add(b.later), true
	}
	if !bounded {
		return errFilter("range must have gte, gt, lt or lte")
	}
	return nil
}

// levels are content levels: a number or name, or several. Empty for all.
type levels []domain.Level

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

// tagsOf parses tags of the form key=value, one by one. A tag without a value is a label.
func tagsOf(q *query, tags []string) []domain.Tags {
	var sets []domain.Tags
	for _, tag := range tags {
		key, value := domain.CutTag(tag, "=")
		if key = strings.TrimSpace(key); key == "" || strings.TrimSpace(value) == "" {
			q.found.Add("tags", "must be key=value, each")
			continue
		}
		sets = append(sets, domain.Tags{key: {strings.TrimSpace(value)}})
	}
	return sets
}
