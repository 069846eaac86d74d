package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
)

// isFormula tells whether a spreadsheet would run a cell as a formula, apart from any ' before it.
func isFormula(cell string) bool {
	return strings.IndexAny(strings.TrimLeft(cell, "'"), "=+-@\t|%") == 0
}

// DirectoryName is a name as a cell of a directory file: a formula gets a ' before it, also if it begins with one.
func DirectoryName(name string) string {
	if isFormula(name) {
		return "'" + name
	}
	return name
}

// DirectoryHead are the columns of the directory as CSV. Groups have the form "team:pay=maintainer; org:acme".
var DirectoryHead = []string{"member", "display_name", "active", "groups"}

var entityForm = regexp.MustCompile(`^(user|agent|project|team|org):[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$`)

// DirectoryChange is one request of an import, what it does, and why the server will refuse it, if that is known.
type DirectoryChange struct {
	What    string
	Problem string
	Request Request
}

// MembersOf reads all members of a kind.
func MembersOf(ctx context.Context, c *Client, kind string) ([]api.Member, error) {
	members := []api.Member{}
	query := url.Values{"kind": {kind}, "limit": {"500"}}
	for m, err := range all[api.Member](ctx, c, []string{"v1", "directory"}, query) {
		if err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return members, nil
}

// WholeDirectory are all members, groups first, so that an import of them in this order finds every group.
func WholeDirectory(ctx context.Context, c *Client) (all []api.Member, err error) {
	for _, kind := range []string{"org", "team", "project", "user", "agent"} {
		some, err := MembersOf(ctx, c, kind)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// DirectoryChanges are the changes that make the directory as a file says: first members, then who belongs to what.
// What a file does not name stays, unless the missing are deactivated. Members that stay inactive join no group, and
// no member joins a group that stays inactive: the server refuses both.
func DirectoryChanges(present, wanted []api.Member, deactivateMissing bool) (changes []DirectoryChange) {
	known, groups := map[string]api.Member{}, groupsOf{}
	for _, m := range present {
		known[m.Member] = m
		for _, g := range m.Groups {
			groups[m.Member] = append(groups[m.Member], g.Group)
		}
	}
	change := func(method string, body any, path []string, format string, values ...any) {
		path = append([]string{"v1", "directory"}, path...)
		changes = append(changes, DirectoryChange{
			What: fmt.Sprintf(format, values...), Request: Request{Method: method, Path: path, Body: body},
		})
	}
	missing, inactive := maps.Clone(known), map[string]bool{}
	for _, m := range wanted {
		delete(missing, m.Member)
		was, there := known[m.Member]
		inactive[m.Member] = there && !was.Active && !m.Active
		switch {
		case !there:
			change(http.MethodPut, api.NewMember{DisplayName: &m.DisplayName}, []string{m.Member}, "add %s", m.Member)
		case strings.TrimSpace(was.DisplayName) != m.DisplayName && m.DisplayName != "":
			change(http.MethodPut, api.NewMember{DisplayName: &m.DisplayName}, []string{m.Member}, "rename %s", m.Member)
		}
		if there && !was.Active && m.Active {
			change(http.MethodPost, nil, []string{m.Member, "reactivate"}, "reactivate %s", m.Member)
		}
	}
	for _, m := range wanted {
		was := known[m.Member]
		for _, g := range m.Groups {
			role := ""
			for _, o := range was.Groups {
				if o.Group == g.Group {
					role = o.Role
				}
			}
			if inactive[m.Member] || inactive[g.Group] || role == g.Role {
				continue
			}
			what := fmt.Sprintf("%s joins %s as %s", m.Member, g.Group, g.Role)
			if role != "" {
				what = fmt.Sprintf("%s: %s → %s of %s", m.Member, role, g.Role, g.Group)
			}
			change(
				http.MethodPut, api.NewMembership{Role: g.Role}, []string{m.Member, "groups", g.Group}, "%s", what,
			)
			problem := &changes[len(changes)-1].Problem
			group, there := known[g.Group]
			switch _, named := inactive[g.Group]; {
			case !named && !there:
				*problem = g.Group + " is neither in the file nor in the directory"
			case !named && !group.Active:
				*problem = g.Group + " is deactivated"
			case groups.reach(g.Group, m.Member):
				*problem = fmt.Sprintf("%s belongs to %s already, so %s cannot belong to it", g.Group, m.Member, m.Member)
			default:
				groups[m.Member] = append(groups[m.Member], g.Group)
			}
		}
		for _, o := range was.Groups {
			if !slices.ContainsFunc(m.Groups, func(g api.Membership) bool { return o.Group == g.Group }) {
				change(
					http.MethodDelete, api.Reason{}, []string{m.Member, "groups", o.Group}, "%s leaves %s", m.Member, o.Group,
				)
				groups[m.Member] = slices.DeleteFunc(groups[m.Member], func(g string) bool { return g == o.Group })
			}
		}
	}
	for _, m := range wanted {
		if was, there := known[m.Member]; !m.Active && (was.Active || !there) {
			change(http.MethodPost, nil, []string{m.Member, "deactivate"}, "deactivate %s", m.Member)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		if deactivateMissing && missing[name].Active {
			change(http.MethodPost, nil, []string{name, "deactivate"}, "deactivate %s, which the file does not name", name)
		}
	}
	return changes
}

// groupsOf are the groups that members belong to directly.
type groupsOf map[string][]string

// reach tells whether a member is a group, or belongs to it through any number of groups.
func (g groupsOf) reach(member, group string) bool {
	return member == group || slices.ContainsFunc(g[member], func(next string) bool { return g.reach(next, group) })
}

// ReadDirectory reads a directory as CSV or as lines of JSON, with the line of each member. The error names every bad
// line.
func ReadDirectory(in io.Reader) (members []api.Member, lines map[string]int, err error) {
	text, err := io.ReadAll(body.UTF8(in))
	if err != nil {
		return nil, nil, err
	}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if !utf8.Valid(line) || bytes.IndexByte(line, 0) >= 0 {
			return nil, nil, fmt.Errorf("line %d is not in UTF-8: save the file as UTF-8", i+1)
		}
	}
	lines = map[string]int{}
	var bad []error
	take := func(line int, m api.Member) {
		wrong := func(format string, values ...any) {
			bad = append(bad, fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, values...)))
		}
		names := []string{m.Member}
		for _, g := range m.Groups {
			names = append(names, g.Group)
			if g.Role != "member" && g.Role != "maintainer" {
				wrong("the role in %s must be member or maintainer", g.Group)
			}
		}
		for i, e := range names {
			switch kind, _, _ := strings.Cut(e, ":"); {
			case !entityForm.MatchString(e):
				wrong("%q must be one of user:ID, agent:ID, project:ID, team:ID, org:ID", e)
			case i > 0 && (kind == "user" || kind == "agent"):
				wrong("%s is no group", e)
			}
		}
		if lines[m.Member] > 0 {
			wrong("%s is named twice", m.Member)
		}
		members, lines[m.Member] = append(members, m), line
	}
	read := directoryRows
	if bytes.HasPrefix(text, []byte("{")) {
		read = directoryLines
	}
	err = read(text, take)
	return members, lines, errors.Join(append([]error{err}, bad...)...)
}

func directoryLines(text []byte, take func(line int, m api.Member)) error {
	for i, line := range bytes.Split(text, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		m := api.Member{Active: true}
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		m.Groups = slices.DeleteFunc(m.Groups, func(g api.Membership) bool { return g.Through != "" })
		for i := range m.Groups {
			m.Groups[i].Role = cmp.Or(m.Groups[i].Role, "member")
		}
		take(i+1, m)
	}
	return nil
}

func directoryRows(text []byte, take func(line int, m api.Member)) error {
	rows := csv.NewReader(bytes.NewReader(text))
	rows.FieldsPerRecord = -1
	separator, separated := bytes.CutPrefix(bytes.ToLower(text[:min(len(text), len("sep=;"))]), []byte("sep="))
	switch {
	case separated && len(separator) > 0: // a line for Excel
		rows.Comma = rune(separator[0])
		_, _ = rows.Read()
	case bytes.HasPrefix(text, []byte(strings.Join(DirectoryHead, ";"))): // as a spreadsheet writes in many countries
		rows.Comma = ';'
	case bytes.HasPrefix(text, []byte(strings.Join(DirectoryHead, "\t"))): // or as Unicode text
		rows.Comma = '\t'
	}
	head, _ := rows.Read()
	for len(head) > len(DirectoryHead) && head[len(head)-1] == "" { // columns without cells
		head = head[:len(head)-1]
	}
	if !slices.Equal(head, DirectoryHead) {
		return errors.New("it is not a directory as CSV or lines of JSON: begin with the line " +
			strings.Join(DirectoryHead, ","))
	}
	var bad []error
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return errors.Join(bad...)
		} else if err != nil {
			return errors.Join(append(bad, err)...) // it names the line
		}
		line, _ := rows.FieldPos(0)
		if strings.TrimSpace(strings.Join(row, "")) == "" { // an empty row of a spreadsheet
			continue
		}
		row = append(row, make([]string, len(DirectoryHead))...)
		m := api.Member{Member: strings.TrimSpace(row[0]), DisplayName: strings.TrimSpace(row[1]), Active: true}
		if name, quoted := strings.CutPrefix(m.DisplayName, "'"); quoted && isFormula(name) {
			m.DisplayName = name
		}
		if active := strings.TrimSpace(row[2]); active != "" {
			if m.Active, err = strconv.ParseBool(active); err != nil {
				bad = append(bad, fmt.Errorf("line %d: active must be true or false, not %q", line, active))
			}
		}
		for group := range strings.SplitSeq(row[3], ";") {
			name, role, _ := strings.Cut(group, "=")
			if name = strings.TrimSpace(name); name != "" {
				m.Groups = append(m.Groups, api.Membership{Group: name, Role: cmp.Or(strings.TrimSpace(role), "member")})
			}
		}
		take(line, m)
	}
}
