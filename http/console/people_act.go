package console

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// personAct is the form of an act on a member of the directory.
type personAct struct {
	form
	Act    act
	Person *person
	Group  string // whose member it is; of the acts role and leave
	// Outcome is what came of the items that get another owner; nil if none do. It has a cursor if more are left.
	Outcome *client.Transferred
}

// Subject is what a transfer is narrowed to; empty for everything.
func (a *personAct) Subject() string {
	return cmp.Or(a.page.param("tag"), a.page.param("category"), a.page.param("type"))
}

func personActOf(p *page) (*personAct, error) {
	one, err := actOf(p, peopleActs()[1:])
	if err != nil {
		return nil, err
	}
	data := &personAct{form: *newForm(p, one.Fields), Act: one, Group: p.param("group")}
	data.Person, err = personOf(p)
	if err == nil && one.Name == "deactivate" && data.Person.Kind == "user" {
		data.Person.Subjects, err = readSubjects(p, "member", data.Person.Member.Member)
	}
	if err == nil && (data.Group == "") == (one.Name == "role" || one.Name == "leave") {
		err = notFound(p)
	}
	return data, err
}

// askPersonAct shows the form of an act on a member.
func askPersonAct(p *page) (any, error) {
	data, err := personActOf(p)
	if err != nil {
		return nil, err
	}
	switch data.Act.Name {
	case "transfer":
		data.Values["owner"] = p.param("owner")
	case "rename":
		data.Values["display_name"] = data.Person.DisplayName
	case "role":
		for _, g := range data.Person.Groups {
			if g.Group == data.Group && g.Through == "" {
				data.Values["role"] = g.Role
			}
		}
	}
	return data, nil
}

// doPersonAct does what a form says about a member, and goes to the page of the member or of the group.
func doPersonAct(p *page) (any, error) {
	data, err := personActOf(p)
	if err != nil {
		return nil, err
	}
	member, back := data.Person.Member.Member, data.Person.Member.Member
	if p.param("from") == "group" && data.Group != "" {
		back = data.Group
	}
	receiver := data.text("owner")
	if receiver != "" || data.Act.Name == "transfer" {
		err = data.checkReceiver(p, receiver)
	}
	if err == nil && data.Act.Name != "transfer" {
		request := data.request(member)
		p.note(request)
		_, err = p.write(request, nil)
	}
	if err == nil && receiver != "" {
		err = data.transfer(p, member)
	}
	switch {
	case errors.Is(err, client.ErrNotFound): // the member or the group that was typed
		data.Refused = problemOf(err)
		for _, field := range data.Fields {
			if field.Kinds != nil {
				data.Wrong[field.Name] = append(data.unknown[field.Name], data.Refused.Detail)
			}
		}
	case data.refuse(err):
	case err != nil:
		return nil, err
	}
	if data.Refused != nil {
		return nil, answer(p, "personact", data, data.Refused.Status)
	}
	if data.Outcome != nil {
		return data, nil
	}
	return goBack(p, data.Act.Name, "people/"+url.PathEscape(back))
}

// request is what the act asks of the API.
func (a *personAct) request(member string) client.Request {
	path := []string{"v1", "directory", member}
	reason := api.Reason{Reason: a.text("reason")}
	switch a.Act.Name {
	case "deactivate", "reactivate":
		return client.Post(reason, append(path, a.Act.Name)...)
	case "enrol":
		path = []string{"v1", "directory", a.text("member"), "groups", member}
	case "join":
		path = append(path, "groups", a.text("group"))
	case "role":
		path = append(path, "groups", a.Group)
	case "leave":
		return client.Request{Method: http.MethodDelete, Path: append(path, "groups", a.Group), Body: reason}
	default: // rename
		name := a.text("display_name")
		return client.Request{Method: http.MethodPut, Path: path, Body: api.NewMember{DisplayName: &name}}
	}
	return client.Request{Method: http.MethodPut, Path: path, Body: api.NewMembership{Role: a.text("role")}}
}

// checkReceiver refuses a new owner of items that is not another active member.
func (a *personAct) checkReceiver(p *page, receiver string) error {
	var found api.Member
	err := p.get(&found, nil, "v1", "directory", receiver)
	switch {
	case receiver == "", errors.Is(err, client.ErrNotFound), errors.Is(err, client.ErrInvalid),
		err == nil && (!found.Active || receiver == a.Person.Member.Member):
		return &client.Error{Problem: api.Problem{
			Status: http.StatusUnprocessableEntity, Title: "Some fields are not right",
			Errors: []api.BadField{{Field: "owner", Message: "must be another active member of the directory"}},
		}}
	}
	return err
}

// subjectFilters narrow a transfer to a subject.
var subjectFilters = []string{"tag", "category", "type"}

// mostTransferred limits the pages of items that one request transfers. The page after it offers the rest.
const mostTransferred = 5

func (a *personAct) transfer(p *page, member string) error {
	a.Outcome = &client.Transferred{Next: p.r.PostFormValue("cursor")}
	for range mostTransferred {
		done, err := client.TransferOwned(
			p.r.Context(), p.api, member, a.text("owner"), a.text("reason"), a.Outcome.Next, p.params(subjectFilters...),
		)
		a.Outcome.Moved += done.Moved
		a.Outcome.Refused = append(a.Outcome.Refused, done.Refused...)
		if a.Outcome.Next = done.Next; err != nil || done.Next == "" {
			return err
		}
	}
	return nil
}

// peopleImport is the page that makes the directory as a file says.
type peopleImport struct {
	Text    string // of the file
	Missing bool   // deactivate what the file does not name
	Changes []client.DirectoryChange
	Read    bool // a file was read, so Changes say what it would change
	Refused *problem

	Made           int
	RefusedChanges []client.DirectoryChange // with the reasons of the server
}

// mostImported limits the changes that one request makes. The page offers the rest.
const mostImported = 500

// askImport shows the form of an import.
func askImport(p *page) (any, error) {
	if p.Moment.Past() {
		return nil, errPast
	}
	if !p.Administers() {
		return nil, notFound(p)
	}
	return &peopleImport{}, nil
}

// importPeople shows what a file would change, and changes it when the reader says so.
func importPeople(p *page) (any, error) {
	if _, err := askImport(p); err != nil {
		return nil, err
	}
	data := &peopleImport{}
	err := withFile(p, func(_ string, file io.Reader) error {
		text, err := io.ReadAll(file)
		data.Text = string(text)
		return err
	})
	data.Text = cmp.Or(data.Text, unixLines(p.r.PostFormValue("text")))
	data.Missing = p.r.PostFormValue("missing") != ""
	wanted, _, bad := client.ReadDirectory(strings.NewReader(data.Text))
	switch {
	case isRefused(err):
		data.Refused = problemOf(err)
	case err != nil:
		return nil, err
	case bad != nil:
		data.Refused = &problem{Status: http.StatusUnprocessableEntity, Title: "The file cannot be read"}
		for line := range strings.SplitSeq(bad.Error(), "\n") {
			data.Refused.Fields = append(data.Refused.Fields, api.BadField{Message: line})
		}
	}
	if data.Refused != nil {
		return nil, answer(p, "peopleimport", data, data.Refused.Status)
	}
	if err := data.compare(p, wanted); err != nil || p.r.PostFormValue("step") != "save" {
		return data, err
	}
	for _, change := range data.Changes[:min(len(data.Changes), mostImported)] {
		_, err := p.api.Do(p.r.Context(), change.Request, nil)
		switch {
		case err == nil:
			data.Made++
		case isRefused(err) || errors.Is(err, client.ErrNotFound):
			why := problemOf(err)
			change.Problem = cmp.Or(change.Problem, why.Detail, why.Title)
			data.RefusedChanges = append(data.RefusedChanges, change)
		default:
			return nil, err
		}
	}
	return data, data.compare(p, wanted)
}

// compare finds what differs between the directory and a file.
func (d *peopleImport) compare(p *page, wanted []api.Member) error {
	present, err := client.WholeDirectory(p.r.Context(), p.api)
	d.Changes, d.Read = client.DirectoryChanges(present, wanted, d.Missing), true
	return err
}
