package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// team is the page of a group: its week, what it has to decide, and who knows what. For those who are new it has what
// the group uses most.
type team struct {
	api.Member
	Begin    bool        // it is for those who are new
	Week     *api.Digest // nil if the server sums nothing up
	Weeks    *area
	Subjects *subjectMap
	Used     []Link // what was found helpful most often, or else is trusted most
	Disputed []Link
}

const (
	teamWeeks  = 12
	mostUsed   = 10
	mostToDo   = 3
	mostLearnt = 3 // titles in a sentence
)

// showMyTeam leads to the reader's first group.
func showMyTeam(p *page) (any, error) {
	for _, kind := range groups {
		for _, of := range p.Caller.Groups {
			if domain.Entity(of.Group).Kind() == kind {
				http.Redirect(p.w, p.r, p.To("teams/"+url.PathEscape(of.Group), "begin", p.param("begin")), http.StatusSeeOther)
				return nil, errAnswered
			}
		}
	}
	http.Redirect(p.w, p.r, p.To("people", "kind", "team"), http.StatusSeeOther)
	return nil, errAnswered
}

func showTeam(p *page) (any, error) {
	group := p.r.PathValue("group")
	if !slices.Contains(groups, domain.Entity(group).Kind()) {
		return nil, notFound(p)
	}
	data := &team{Begin: p.param("begin") != ""}
	err := p.get(&data.Member, nil, "v1", "directory", group)
	switch {
	case errors.Is(err, client.ErrNotFound): // a key or a token states it
		data.Member.Member = group
	case err != nil:
		return nil, err
	}
	if data.Subjects, err = readSubjects(p, "group", group); err != nil {
		return nil, err
	}
	query := url.Values{"scope": {group}, "weeks": {strconv.Itoa(teamWeeks)}}
	if data.Begin {
		query.Set("since", p.Now.AddDate(0, 0, -7*teamWeeks).UTC().Format(time.DateOnly))
	}
	var week api.Digest
	switch err := p.get(&week, query, "v1", "reports", "digest"); {
	case errors.Is(err, client.ErrNotFound):
		return data, nil
	case err != nil:
		return nil, err
	}
	if data.Week = &week; strings.HasPrefix(week.Links, "/") {
		week.Links = p.Origin() + week.Links
	}
	if data.Weeks = areaOf(week.Weeks); data.Begin {
		return data, data.begin(p)
	}
	return data, nil
}

// begin reads what a new member reads first.
func (d *team) begin(p *page) error {
	seen := map[string]bool{}
	add := func(list *[]Link, most int, id string, title any) {
		if len(*list) < most && !seen[id] {
			seen[id] = true
			*list = append(*list, Link{title, p.To("k/" + url.PathEscape(id))})
		}
	}
	for _, item := range d.Week.Contested.Items {
		add(&d.Disputed, mostToDo, item.ID, item.Title)
	}
	for _, item := range d.Week.Helpful.Items {
		add(&d.Used, mostUsed, item.ID, item.Title)
	}
	if len(d.Used) == mostUsed {
		return nil
	}
	query := url.Values{"scope": {d.Member.Member}, "sort": {"confidence"}, "limit": {"20"}}
	trusted, _, err := pageOf[api.Knowledge](p, query, "v1", "knowledge")
	for _, k := range trusted {
		add(&d.Used, mostUsed, k.ID, titleOf(k))
	}
	return err
}

// Learnt are the newest titles of the week.
func (d *team) Learnt() []api.DigestItem { return firstOf(d.Week.New.Items, mostLearnt) }

// Wrong are titles of what went wrong in the week.
func (d *team) Wrong() []api.DigestItem { return firstOf(d.Week.Doubted.Items, mostLearnt) }

// ToDo is what the group has to decide first.
func (d *team) ToDo() []api.DigestItem { return firstOf(d.Week.Waiting.Items, mostToDo) }

// This is the week that ends now.
func (d *team) This() api.DigestWeek { return d.Week.Weeks[len(d.Week.Weeks)-1] }

func firstOf[T any](all []T, most int) []T { return all[:min(len(all), most)] }

// Others are the active members whom the map of subjects leaves out.
func (d *team) Others() (others []api.GroupMember) {
	for _, m := range d.Members {
		if m.Active && domain.Entity(m.Member).Kind() == domain.User &&
			!slices.ContainsFunc(d.Subjects.People, func(s subjectRow) bool { return s.Subject == m.Member }) {
			others = append(others, m)
		}
	}
	return others
}
