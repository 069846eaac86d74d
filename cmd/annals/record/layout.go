package record

import (
	"cmp"
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// The layout of knowledge in files. Items of an agent are in agents, items of a user that are not shared with an
// organisation or the tenant in users, and all others in global. Each file has one type, or a category of profiles.
//
//	global/{tools,definitions,plans,strategies,usecases,profiles}.json
//	agents/NAME/{tools,…}.json
//	users/ID/{profile,preferences,habits,constraints,tools,…}.json

// layoutRoots are the directories that belong to the layout.
var layoutRoots = []string{"global", "agents", "users"}

var filesByType = map[domain.Type]string{
	domain.UserProfile: "profiles", domain.Strategy: "strategies", domain.Tool: "tools",
	domain.Usecase: "usecases", domain.Definition: "definitions", domain.Plan: "plans",
}

// filesByCategory are the files of knowledge about a user, by category.
var filesByCategory = map[string]string{
	"preference": "preferences", "preferences": "preferences", "habit": "habits", "habits": "habits",
	"constraint": "constraints", "constraints": "constraints",
}

// placement are the fields that determine the file of an item.
type placement struct {
	Type     domain.Type    `json:"type"`
	Category string         `json:"category"`
	Owner    domain.Entity  `json:"owner"`
	Scopes   []domain.Scope `json:"scopes"`
	Tags     struct {
		Category json.RawMessage `json:"category"`
	} `json:"tags"`
}

// File is the file of the item.
func (l placement) File() string {
	whose := l.Owner
	if l.Type == domain.UserProfile && whose.Kind() != domain.User {
		for _, scope := range l.Scopes { // a profile belongs to the user who may see it
			if scope.Tier() == domain.TierUser {
				whose = scope.Entity()
				break
			}
		}
	}
	name := cmp.Or(filesByType[l.Type], "other")
	directory := "global"
	switch whose.Kind() {
	case domain.Agent:
		directory = path.Join("agents", whose.ID())
	case domain.User:
		if l.Type == domain.UserProfile {
			name = cmp.Or(l.kind(), "profile")
		} else if l.isForAll() {
			break
		}
		directory = path.Join("users", whose.ID())
	}
	return path.Join(directory, name+".json")
}

// isForAll tells whether the tenant or an organisation may see the item.
func (l placement) isForAll() bool {
	return slices.ContainsFunc(l.Scopes, func(s domain.Scope) bool { return s.Tier() >= domain.TierOrg })
}

func (l placement) kind() string {
	var one string
	var several []string
	if json.Unmarshal(l.Tags.Category, &one) != nil {
		_ = json.Unmarshal(l.Tags.Category, &several) // any other form names no category
	}
	for _, category := range append([]string{one}, append(several, l.Category)...) {
		if file := filesByCategory[category]; file != "" {
			return file
		}
	}
	return ""
}

// impliedBy are the fields that follow from the name of a file, for items without them: type and owner.
func impliedBy(file string) map[string]string {
	fields := map[string]string{}
	parts := strings.Split(path.Clean(file), "/")
	name, _ := endingOf(parts[len(parts)-1])
	for t, in := range filesByType {
		if in == name {
			fields["type"] = string(t)
		}
	}
	if len(parts) == 3 && parts[0] == "users" {
		fields["owner"] = domain.User + ":" + parts[1]
		if name == "profile" || filesByCategory[name] == name {
			fields["type"] = string(domain.UserProfile)
		}
	}
	if len(parts) == 3 && parts[0] == "agents" {
		fields["owner"] = domain.Agent + ":" + parts[1]
	}
	return fields
}

// withPlacement adds the fields that follow from the name of its file to a record.
func withPlacement(raw []byte, file string) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return raw
	}
	implied := impliedBy(file)
	for _, name := range []string{"owner", "type"} {
		_, given := fields[name]
		_, category := fields["category"]
		if value := implied[name]; value != "" && !given && !(name == "type" && category) {
			raw = WithFirstField(raw, name, value)
		}
	}
	return withCategory(raw, file)
}

// withCategory sets the category of a record in a file such as users/ID/habits.json, unless it has one. Otherwise the
// next export would move it to another file.
func withCategory(raw []byte, file string) []byte {
	parts := strings.Split(path.Clean(file), "/")
	name, _ := endingOf(parts[len(parts)-1])
	var fields map[string]json.RawMessage
	if len(parts) != 3 || parts[0] != "users" || filesByCategory[name] != name || json.Unmarshal(raw,
		&fields) != nil || fields == nil {
		return raw
	}
	tags := map[string]json.RawMessage{}
	if value := fields["tags"]; value != nil && json.Unmarshal(value, &tags) != nil {
		return raw // they are labels
	}
	profile := fields["type"] == nil || string(fields["type"]) == `"`+string(domain.UserProfile)+`"`
	if _, found := tags["category"]; found || fields["category"] != nil || !profile {
		return raw
	}
	category, err := json.Marshal(strings.TrimSuffix(name, "s"))
	if err != nil || tags == nil {
		return raw
	}
	tags["category"] = category
	if fields["tags"], err = json.Marshal(tags); err != nil {
		return raw
	}
	whole, err := json.Marshal(fields)
	if err != nil {
		return raw
	}
	return whole
}

// kept are the fields of an item in files, in reading order: all fields that an import can remember. The log holds
// the rest.
var kept = sync.OnceValue(func() (names []string) {
	for field := range reflect.TypeFor[api.Knowledge]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Tag.Get("readOnly") == "" && field.Tag.Get("writeOnly") == "" && name != "status" {
			names = append(names, name)
		}
	}
	return names
})

// exportedFields is an item with the fields of a file.
func exportedFields(raw json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	var parts []string
	for _, name := range kept() {
		if value, given := fields[name]; given && !slices.Contains([]string{"null", "[]", "{}", `""`}, string(value)) {
			parts = append(parts, `"`+name+`":`+string(value))
		}
	}
	return json.RawMessage("{" + strings.Join(parts, ",") + "}"), nil
}
