package viking

import (
	"encoding/json"
	"time"

	"github.com/annals-kb/annals/domain"
)

// condition narrows a search by fields: all of several conditions, one of several values, or a time.
type condition struct {
	Op    string            `json:"op"` // and, or, must, range; empty for none
	Field string            `json:"field"`
	Conds []json.RawMessage `json:"conds"` // of and, or: conditions; of must: values
	From  *time.Time        `json:"gte"`
	After *time.Time        `json:"gt"`
	To    *time.Time        `json:"lt"`
	Until *time.Time        `json:"lte"`
}

// errFilter is what a filter is refused with that cannot be followed: one that was ignored would answer
// with everything.
func errFilter(format string, values ...any) error {
	return domain.Refuse(errInvalidFilter, format, values...)
}

func (c condition) narrow(f *domain.Filter, by caller) error {
	switch c.Op {
	case "":
		return nil
	case "or":
		return c.either(f, by)
	case "and":
		for _, cond := range c.Conds {
			var inner condition
			if json.Unmarshal(cond, &inner) != nil || inner.Op == "" {
				return errFilter("the conditions of and must be conditions")
			}
			if err := inner.narrow(f, by); err != nil {
				return err
			}
		}
		return nil
	case "must":
		return c.must(f, by)
	case "range":
		return c.between(f)
	}
	return errFilter("op must be one of and, or, must, range")
}

// either asks for one of several conditions: of values of one field, which is as good as one condition.
func (c condition) either(f *domain.Filter, by caller) error {
	one := condition{Op: "must"}
	for _, cond := range c.Conds {
		var inner condition
		if json.Unmarshal(cond, &inner) != nil || inner.Op != "must" || one.Field != "" && inner.Field != one.Field {
			return errFilter("the conditions of or must be must, all of one field")
		}
		one.Field, one.Conds = inner.Field, append(one.Conds, inner.Conds...)
	}
	if len(one.Conds) == 0 {
		return errFilter("or must have conditions")
	}
	return one.must(f, by)
}

func (c condition) must(f *domain.Filter, by caller) error {
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
			f.Under = append(f.Under, a.uri)
		}
	default:
		return errFilter("field must be one of context_type, category, uri, level")
	}
	return nil
}

// between asks for times. Those of the log are in microseconds: what follows one is the next.
func (c condition) between(f *domain.Filter) error {
	from, to := &f.UpdatedFrom, &f.UpdatedTo
	switch c.Field {
	case "created_at":
		from, to = &f.CreatedFrom, &f.CreatedTo
	case "updated_at":
	default:
		return errFilter("field must be one of created_at, updated_at")
	}
	set := func(bound *time.Time, value *time.Time, later time.Duration) {
		if value != nil {
			*bound = value.Add(later)
		}
	}
	set(from, c.From, 0)
	set(from, c.After, time.Microsecond)
	set(to, c.To, 0)
	set(to, c.Until, time.Microsecond)
	return nil
}
