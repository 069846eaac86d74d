package console

import (
	"net/url"
	"strconv"

	"github.com/annals-kb/annals/http/api"
)

// subjectMap says who wrote about which subjects, as rows of people and columns of subjects.
type subjectMap struct {
	Kind     string // which filter the subjects are
	Subjects []mappedSubject
	People   []subjectRow
}

// mappedSubject is a subject with the list of its items, and who takes it over.
type mappedSubject struct {
	api.Subject
	Address string
	Heir    string // the next best active person, of the map of a member; empty for none
	Wrote   int    // by the member
}

// subjectRow is a person with what they wrote about each subject.
type subjectRow struct {
	api.SubjectWriter
	Cells []heat
}

// heat is a cell of the map. Heat is 0 to 4, in proportion to the greatest count.
type heat struct {
	Subject string
	Count   int
	Heat    int
	Alone   bool
}

// readSubjects reads the map of a group or of a member.
func readSubjects(p *page, of, whom string) (*subjectMap, error) {
	var found api.SubjectMap
	if err := p.get(&found, url.Values{of: {whom}}, "v1", "expertise", "subjects"); err != nil {
		return nil, err
	}
	data, most := &subjectMap{Kind: found.Kind}, 1
	for _, person := range found.People {
		for _, n := range person.Counts {
			most = max(most, n)
		}
	}
	scope := ""
	if of == "group" {
		scope = whom
	}
	for i, subject := range found.Subjects {
		one := mappedSubject{Subject: subject, Address: p.To("knowledge", found.Kind, subject.Name, "scope", scope)}
		heirs := 0
		for _, person := range found.People {
			switch n := person.Counts[i]; {
			case person.Subject == whom:
				one.Wrote = n
			case person.Active && n > heirs:
				one.Heir, heirs = person.Subject, n
			}
		}
		data.Subjects = append(data.Subjects, one)
	}
	for _, person := range found.People {
		row := subjectRow{SubjectWriter: person}
		for i, n := range person.Counts {
			subject := data.Subjects[i]
			row.Cells = append(row.Cells, heat{subject.Name, n, (4*n + most - 1) / most, subject.Alone == person.Subject})
		}
		data.People = append(data.People, row)
	}
	return data, nil
}

// area is a chart of weeks in a box of 100 by 100 units: an area of what was learnt, and lines over it.
type area struct {
	Weeks                    []api.DigestWeek
	Learnt, Confirmed, Wrong string // the commands of SVG paths
}

// areaOf draws weeks. It returns nil for less than two.
func areaOf(weeks []api.DigestWeek) *area {
	if len(weeks) < 2 {
		return nil
	}
	a, most := &area{Weeks: weeks}, 1
	for _, w := range weeks {
		most = max(most, w.Learnt, w.Confirmed, w.Wrong)
	}
	line := func(count func(api.DigestWeek) int) (path string) {
		for i, w := range weeks {
			y := 97 - 94*float64(count(w))/float64(most)
			path += map[bool]string{true: "M", false: "L"}[i == 0] + short(100*float64(i)/float64(len(weeks)-1)) + " " + short(y)
		}
		return path
	}
	a.Learnt = line(func(w api.DigestWeek) int { return w.Learnt })
	a.Confirmed = line(func(w api.DigestWeek) int { return w.Confirmed })
	a.Wrong = line(func(w api.DigestWeek) int { return w.Wrong })
	return a
}

// Sum says in a text what the chart shows.
func (a *area) Sum() map[string]string {
	var learnt, confirmed, wrong int
	for _, w := range a.Weeks {
		learnt, confirmed, wrong = learnt+w.Learnt, confirmed+w.Confirmed, wrong+w.Wrong
	}
	return map[string]string{
		"learnt": strconv.Itoa(learnt), "confirmed": strconv.Itoa(confirmed), "wrong": strconv.Itoa(wrong),
	}
}
