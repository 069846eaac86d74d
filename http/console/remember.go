package console

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// remembering is the form of a new item, and the items that say the same or contradict it.
type remembering struct {
	*form
	Similar []alike
	Near    bool // they are near what is being typed: nothing is refused
	Saved   bool // one of them is the reader's own, in the same words
}

// alike is an item that a new one resembles.
type alike struct {
	api.Similar
	Knowledge api.Knowledge
	Text      []api.FieldChange // the passage that differs from the new one
	acts      []act             // that the reader may do to it
	narrow    bool              // the new one is not for all whom it is for
}

// May tells whether the reader may do an act to the item.
func (a alike) May(name string) bool {
	return slices.ContainsFunc(a.acts, func(one act) bool { return one.Name == name })
}

// Yields tells whether the new item may take its place.
func (a alike) Yields() bool { return a.May("revise") || a.May("supersede") && !a.narrow }

// rememberFields are those of a revision, without its reason, and what everybody needs first. The API fills in an owner
// and scopes that are left out.
func rememberFields() []field {
	fields := revisable()
	fields = slices.DeleteFunc(fields, func(f field) bool {
		return f.Check || f.Name == "reason" || f.Name == "content"
	})
	for i := range fields {
		fields[i].Required = false
		switch fields[i].Name {
		case "owner":
			fields[i].Label = "Owner, you if empty"
		case "scopes":
			fields[i].Label = "Who else may see it"
		}
	}
	return append([]field{{Name: "content", Label: "Content", Rows: 6, Required: true}}, fields...)
}

// Scopes are those that the reader may choose for a new item, besides themselves.
func (p *page) Scopes() []string {
	if p.Caller.PublishPublic {
		return append(slices.Clone(p.Caller.Memberships), "public")
	}
	return p.Caller.Memberships
}

// Team is the first team of the reader, for whom a new item is unless they choose otherwise; empty if they have none.
func (p *page) Team() string {
	isTeam := func(scope string) bool { return domain.Entity(scope).Kind() == domain.Team }
	if i := slices.IndexFunc(p.Caller.Memberships, isTeam); i >= 0 {
		return p.Caller.Memberships[i]
	}
	return ""
}

func newRemembering(p *page) *remembering {
	r := &remembering{form: newForm(p, rememberFields())}
	r.Values["type"] = cmp.Or(r.Values["type"], "strategy")
	r.Values["scope"] = p.r.PostFormValue("scope")
	return r
}

// askRemember shows the form of a new item.
func askRemember(p *page) (any, error) {
	if p.Moment.Past() {
		return nil, errPast
	}
	if !p.MayWrite() {
		return nil, notFound(p)
	}
	data := newRemembering(p)
	data.Values["task"], data.Values["scope"] = p.param("task"), p.Team()
	return data, nil
}

// remember remembers what the form says, and goes to the new item. Unless the reader has seen them, items that say the
// same or contradict it are shown first.
func remember(p *page) (any, error) {
	data := newRemembering(p)
	switch p.param("step") + p.r.PostFormValue("step") {
	case "near":
		return data, data.near(p)
	case "more": // from the box, which has the first fields only
		return data, nil
	}
	for _, name := range []string{"task", "abstract", "overview", "owner"} {
		data.Values[name] = data.text(name)
	}
	whole := revision(api.Knowledge{}, data.Values) // from an item that says nothing
	if scopes := linesOf(data.Values["scope"] + "\n" + data.Values["scopes"]); len(scopes) > 0 {
		whole["scopes"] = scopes
	}
	request, replaced := client.Post(whole, "v1", "knowledge"), p.r.PostFormValue("replace")
	request.Query = url.Values{"on_similar": {"refuse"}}
	if replaced != "" || p.r.PostFormValue("keep") != "" {
		request.Query.Set("on_similar", "report")
	}
	if replaced != "" {
		request.Query.Set("supersedes", replaced)
	}
	var made api.Knowledge
	_, err := p.write(request, &made)
	if refused, is := errors.AsType[*client.Error](err); is && len(refused.Similar) > 0 {
		return nil, data.warn(p, refused.Similar, linesOf(data.Values["scope"]+"\n"+data.Values["scopes"]))
	}
	if data.refuse(err) {
		if wrong := data.Wrong["scopes"]; wrong != nil && len(linesOf(data.Values["scopes"])) == 0 { // the choice is
			data.Wrong["scope"] = wrong
			delete(data.Wrong, "scopes")
		}
		return nil, answer(p, "remember", data, data.Refused.Status)
	} else if err != nil {
		return nil, err
	}
	done := "remember"
	if made.Status == "proposed" {
		done = "proposed"
	}
	return goBack(p, done, "k/"+url.PathEscape(made.ID))
}

// warn shows the form again, with the items that the new one for these scopes resembles.
func (r *remembering) warn(p *page, similar []api.Similar, scopes []string) error {
	query := url.Values{}
	for _, one := range similar {
		query.Add("id", one.ID)
	}
	known, _, err := pageOf[api.Knowledge](p, query, "v1", "knowledge")
	if err != nil {
		return err
	}
	for _, one := range similar {
		for _, k := range known {
			if k.ID == one.ID {
				r.resembles(p, one, k, scopes)
			}
		}
	}
	contradictionsFirst := func(a, b alike) int { return strings.Compare(a.Kind, b.Kind) }
	slices.SortStableFunc(r.Similar, contradictionsFirst)
	return answer(p, "remember", r, 409)
}

// resembles adds an item that the new one for some scopes resembles.
func (r *remembering) resembles(p *page, similar api.Similar, k api.Knowledge, scopes []string) {
	loses := func(s string) bool { return !slices.Contains(scopes, s) && s != k.Owner }
	narrow := !slices.Contains(scopes, "public") && slices.ContainsFunc(k.Scopes, loses)
	mine := r.text("content")
	r.Saved = r.Saved || k.Owner == voter(p) && k.Content == mine
	r.Similar = append(r.Similar, alike{similar, k, differing(mine, k.Content), actsFor(p, stateOf(p, k)), narrow})
}

// What is typed is compared once it has some characters, by its beginning, and with the nearest items only.
const (
	leastTyped = 8
	mostTyped  = 2000
	mostNear   = 3
)

// near finds the items that are about the same as what is being typed.
func (r *remembering) near(p *page) error {
	r.Near = true
	typed := []rune(r.text("content"))
	if len(typed) < leastTyped {
		return nil
	}
	request := api.Search{Query: string(typed[:min(len(typed), mostTyped)]), Limit: new(mostNear)}
	var answer api.SearchAnswer
	if err := p.post(request, &answer, "v1", "search"); err != nil && !isRefused(err) {
		return err
	}
	for _, hit := range answer.Items {
		if hit.Band != "perhaps" {
			r.resembles(p, api.Similar{ID: hit.Knowledge.ID}, *hit.Knowledge, linesOf(r.Values["scope"]+"\n"+r.Values["scopes"]))
		}
	}
	return nil
}
