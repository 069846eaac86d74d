package client

import (
	"bufio"
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

	"github.com/annals-kb/annals/api"
)

// DirectoryHead are the columns of the directory as CSV. Groups have the form "team:pay=maintainer; org:acme".
var DirectoryHead = []string{"member", "display_name", "active", "groups"}

var entityForm = regexp.MustCompile(`^(user|agent|project|team|org):[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$`)

// DirectoryChange is one request of an import, and what it does.
type DirectoryChange struct {
	What    string
	Request Request
}

// MembersOf reads all members of a kind.
func MembersOf(ctx context.Context, c *Client, kind string) ([]api.Member, error) {
	all := []api.Member{}
	query := url.Values{"kind": {kind}, "limit": {"500"}}
	for {
		page, err := get[api.Members](ctx, c, query, "v1", "directory")
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.Next == "" {
			return all, nil
		}
		query.Set("after", page.Next)
	}
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
	known := map[string]api.Member{}
	for _, m := range present {
		known[m.Member] = m
	}
	change := func(method string, body any, path []string, format string, values ...any) {
		path = append([]string{"v1", "directory"}, path...)
		changes = append(changes, DirectoryChange{
			fmt.Sprintf(format, values...), Request{Method: method, Path: path, Body: body},
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
		case was.DisplayName != m.DisplayName && m.DisplayName != "":
			change(http.MethodPut, api.NewMember{DisplayName: &m.DisplayName}, []string{m.Member}, "rename %s", m.Member)
		}
		if there && !was.Active && m.Active {
			change(http.MethodPost, nil, []string{m.Member, "reactivate"}, "reactivate %s", m.Member)
		}
	}
	for _, m := range wanted {
		was := known[m.Member]
		for _, g := range m.Groups {
			same := func(o api.Membership) bool { return o.Group == g.Group && o.Role == g.Role }
			if !inactive[m.Member] && !inactive[g.Group] && !slices.ContainsFunc(was.Groups, same) {
				change(
					http.MethodPut, api.NewMembership{Role: g.Role}, []string{m.Member, "groups", g.Group},
					"%s joins %s as %s", m.Member, g.Group, g.Role,
				)
			}
		}
		for _, o := range was.Groups {
			if !slices.ContainsFunc(m.Groups, func(g api.Membership) bool { return o.Group == g.Group }) {
				change(
					http.MethodDelete, api.Reason{}, []string{m.Member, "groups", o.Group}, "%s leaves %s", m.Member, o.Group,
				)
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

// ReadDirectory reads a directory as CSV or as lines of JSON. The error names every bad entry.
func ReadDirectory(in io.Reader) (members []api.Member, err error) {
	text := bufio.NewReader(in)
	if first, _ := text.Peek(1); string(first) == "{" {
		members, err = directoryLines(text)
	} else {
		members, err = directoryRows(text)
	}
	bad := []error{err}
	seen := map[string]bool{}
	for i, m := range members {
		names := []string{m.Member}
		for _, g := range m.Groups {
			names = append(names, g.Group)
			if g.Role != "member" && g.Role != "maintainer" {
				bad = append(bad, fmt.Errorf("entry %d: the role in %s must be member or maintainer", i+1, g.Group))
			}
		}
		for _, e := range names {
			if !entityForm.MatchString(e) {
				bad = append(bad, fmt.Errorf(
					"entry %d: %q must be one of user:ID, agent:ID, project:ID, team:ID, org:ID", i+1, e,
				))
			}
		}
		if seen[m.Member] {
			bad = append(bad, fmt.Errorf("entry %d: %s is named twice", i+1, m.Member))
		}
		seen[m.Member] = true
	}
	return members, errors.Join(bad...)
}

func directoryLines(text io.Reader) (members []api.Member, err error) {
	decoder := json.NewDecoder(text)
	for {
		m := api.Member{Active: true}
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			return members, nil
		} else if err != nil {
			return nil, fmt.Errorf("entry %d: %w", len(members)+1, err)
		}
		m.Groups = slices.DeleteFunc(m.Groups, func(g api.Membership) bool { return g.Through != "" })
		for i := range m.Groups {
			m.Groups[i].Role = cmp.Or(m.Groups[i].Role, "member")
		}
		members = append(members, m)
	}
}

func directoryRows(text io.Reader) (members []api.Member, err error) {
	rows := csv.NewReader(text)
	rows.FieldsPerRecord = -1
	head, err := rows.Read()
	if err == nil {
		head[0] = strings.TrimPrefix(head[0], "\ufeff")
	}
	if !slices.Equal(head, DirectoryHead) {
		return nil, errors.New("it is not a directory as CSV or lines of JSON: begin with the line " +
			strings.Join(DirectoryHead, ","))
	}
	var bad []error
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return members, errors.Join(bad...)
		} else if err != nil {
			return nil, errors.Join(append(bad, err)...) // it names the line
		}
		row = append(row, make([]string, len(DirectoryHead))...)
		m := api.Member{Member: strings.TrimSpace(row[0]), DisplayName: strings.TrimSpace(row[1]), Active: true}
		if active := strings.TrimSpace(row[2]); active != "" {
			if m.Active, err = strconv.ParseBool(active); err != nil {
				line, _ := rows.FieldPos(2)
				bad = append(bad, fmt.Errorf(
					"entry %d, line %d: active must be true or false, not %q", len(members)+1, line, active,
				))
			}
		}
		for group := range strings.SplitSeq(row[3], ";") {
			name, role, _ := strings.Cut(strings.TrimSpace(group), "=")
			if name != "" {
				m.Groups = append(m.Groups, api.Membership{Group: name, Role: cmp.Or(role, "member")})
			}
		}
		members = append(members, m)
	}
}
