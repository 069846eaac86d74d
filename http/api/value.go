package api

import "encoding/json"

// Tags are business labels: keys with one or more values. In JSON, a single value is a string.
type Tags map[string][]string

// MarshalJSON writes a single value as a string.
func (t Tags) MarshalJSON() ([]byte, error) {
	values := make(map[string]any, len(t))
	for key, all := range t {
		if values[key] = all; len(all) == 1 {
			values[key] = all[0]
		}
	}
	return json.Marshal(values)
}

// UnmarshalJSON accepts a string as a list of one.
func (t *Tags) UnmarshalJSON(raw []byte) error {
	var values map[string]OneOrMore
	if err := json.Unmarshal(raw, &values); err != nil {
		return err
	}
	*t = make(Tags, len(values))
	for key, all := range values {
		(*t)[key] = all
	}
	return nil
}

// OneOrMore is a list of alternatives. In JSON it may also be one string.
type OneOrMore []string

// UnmarshalJSON accepts a string as a list of one.
func (o *OneOrMore) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*o = OneOrMore{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(o))
}

// AsOf is a past time, a date (its beginning in UTC) or a position of the log; empty for now.
type AsOf string
