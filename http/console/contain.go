package console

import (
	"net/url"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// containments is the page of all containments, with the form that begins one.
type containments struct {
	form
	All []api.Containment
}

func containFields() []field {
	return []field{
		{Name: "actor", Label: "All that this entity wrote", Kinds: anyone},
		{Name: "source", Label: "All of this source: its name, or what its URL begins with"},
		{Name: "session", Label: "All that was said in this session, such as user:mia/planning"},
		{Name: "since", Label: "Only since this time or date"},
		{Name: "items", Label: "These items: an id on each line", Rows: 2},
	}
}

// containActs name what was done with a containment.
func containActs() []act {
	return []act{
		{Name: "contained", Done: "The items are quarantined. No answer has them any more."},
		{Name: "readmitted", Done: "The item is released. Its readers see it again."},
		{Name: "undone", Done: "The containment is undone. What was still quarantined is as before."},
	}
}

func listContainments(p *page) (any, error) {
	data := &containments{form: *newForm(p, containFields())}
	return data, data.read(p)
}

func (d *containments) read(p *page) (err error) {
	d.All, _, err = pageOf[api.Containment](p, nil, "v1", "containments")
	return err
}

// containing is what a containment would do, with the form that applies it.
type containing struct {
	form
	api.ContainmentPreview

	Begins api.Tainted
	Reason string // that was typed
}

func (d *containing) preview(p *page) error {
	return p.post(d.Begins, &d.ContainmentPreview, "v1", "containments", "preview")
}

// askContain shows what a containment of the item of the address would do.
func askContain(p *page) (any, error) {
	if p.Moment.Past() {
		return nil, errPast
	}
	var k api.Knowledge // who may not see it learns nothing else
	if err := p.get(&k, nil, "v1", "knowledge", p.r.PathValue("id")); err != nil {
		return nil, err
	}
	data := &containing{Begins: api.Tainted{Items: []string{k.ID}}}
	return data, data.preview(p)
}

// contain shows what a containment would do or, for who has seen that, does it.
func contain(p *page) (any, error) {
	list := &containments{form: *newForm(p, containFields())}
	data := &containing{Reason: p.r.PostFormValue("reason"), Begins: api.Tainted{
		Items: linesOf(list.Values["items"]), Actor: list.text("actor"), Source: list.text("source"),
		Session: list.text("session"), Since: list.text("since"),
	}}
	digest := p.r.PostFormValue("digest")
	if digest == "" {
		return data, list.failed(p, data.preview(p), "containments", list, list.read)
	}
	var made api.Containment
	request := api.NewContainment{Tainted: data.Begins, Reason: data.Reason, Digest: digest}
	if _, err := p.write(client.Post(request, "v1", "containments"), &made); err != nil {
		return nil, data.failed(p, err, "contain", data, data.preview)
	}
	return goBack(p, "contained", "containments/"+url.PathEscape(made.ID))
}

// containment is the page of a containment, with the forms that release an item of it, and undo it.
type containment struct {
	form
	api.Containment

	Why string // that was typed
}

func showContainment(p *page) (any, error) {
	data := &containment{}
	return data, data.read(p)
}

func (d *containment) read(p *page) error {
	return p.get(&d.Containment, nil, "v1", "containments", p.r.PathValue("id"))
}

// doContainment releases an item, or undoes all.
func doContainment(p *page) (any, error) {
	id, data := p.r.PathValue("id"), &containment{Why: p.r.PostFormValue("reason")}
	done, request := "undone", client.Post(api.UndoContainment{Reason: data.Why}, "v1", "containments", id, "undo")
	if items := p.r.PostForm["item"]; items != nil {
		body := api.ReleaseItems{Items: items, Reason: data.Why}
		done, request = "readmitted", client.Post(body, "v1", "containments", id, "release")
	}
	if _, err := p.write(request, nil); err != nil {
		return nil, data.failed(p, err, "containment", data, data.read)
	}
	return goBack(p, done, "containments/"+url.PathEscape(id))
}
