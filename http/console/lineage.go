package console

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// lineage is what an item came from and what became of it, as a graph: what came before is on the left.
type lineage struct {
	Kin           []kin // the item itself first
	Lines         []string
	Left          int // kin that the graph leaves out
	Width, Height int
}

// kin is an item, or a session, of a lineage.
type kin struct {
	ID       string // of an item; empty for a session
	Relation string // to what Of names; empty for the item itself
	Of       string
	Address  string
	X, Y     int // of its upper left corner

	column, row int
}

const (
	mostKin                          = 30
	kinWide, kinHigh, kinGap, kinRow = 190, 72, 44, 84
)

// readLineage draws the lineage of an item, the nearest first: at most so many kin, or all on request. It is nil if the
// item has none.
func readLineage(p *page, id string) (*lineage, error) {
	var found api.Lineage
	err := p.get(&found, nil, "v1", "knowledge", id, "lineage")
	if errors.Is(err, client.ErrNotFound) { // the server erases nothing, so it follows none
		return nil, nil
	}
	if err != nil || len(found.Items) == 0 {
		return nil, err
	}
	l := &lineage{Kin: []kin{{ID: id, Address: p.To("k/" + url.PathEscape(id))}}}
	most := mostKin
	if p.param("lineage") == "all" {
		most = 500
	}
	l.Left = max(len(found.Items)-most+1, 0)
	drawn := map[string]int{id: 0} // the index by the id
	first := 0
	rows := map[int]int{0: 1}
	for _, one := range found.Items[:len(found.Items)-l.Left] {
		of, is := drawn[one.Of]
		if !is {
			continue
		}
		k := kin{ID: one.ID, Relation: one.Relation, Of: one.Of, Address: p.To("k/" + url.PathEscape(one.ID))}
		if owner, session, is := domain.SessionOf(one.Stream); one.ID == "" && is {
			k.Address = p.To("sessions/"+url.PathEscape(session), "owner", string(owner))
		}
		k.column = l.Kin[of].column + 1
		if one.Relation == domain.Derives || one.Relation == domain.SupersededBy {
			k.column -= 2
		}
		k.row = rows[k.column]
		rows[k.column]++
		first = min(first, k.column)
		drawn[cmp.Or(one.ID, one.Stream)] = len(l.Kin)
		l.Kin = append(l.Kin, k)
	}
	l.place(first, rows)
	l.join(drawn)
	return l, nil
}

// place gives the kin their places: each column in the middle of the height.
func (l *lineage) place(first int, rows map[int]int) {
	most := 0
	for _, n := range rows {
		most = max(most, n)
	}
	l.Width, l.Height = len(rows)*(kinWide+kinGap)-kinGap, most*kinRow
	for i := range l.Kin {
		k := &l.Kin[i]
		k.X = (k.column - first) * (kinWide + kinGap)
		k.Y = k.row*kinRow + (most-rows[k.column])*kinRow/2 + (kinRow-kinHigh)/2
	}
}

// join draws the lines between the kin, from the left to the right.
func (l *lineage) join(drawn map[string]int) {
	for _, to := range l.Kin[1:] {
		from := l.Kin[drawn[to.Of]]
		if from.X > to.X {
			from, to = to, from
		}
		const middle = kinGap / 2
		l.Lines = append(l.Lines, fmt.Sprintf("M%d %dh%dV%dh%d",
			from.X+kinWide, from.Y+kinHigh/2, middle, to.Y+kinHigh/2, middle))
	}
}

// kinLabels say what kin are to the item that they are related to.
func kinLabels() map[string]string {
	return map[string]string{
		domain.Derives: "its source", domain.DerivedFrom: "made from it",
		domain.Supersedes: "took its place", domain.SupersededBy: "replaced by it", "": "this item",
	}
}

// What says in words what it is to the item that it is related to.
func (k kin) What() string { return kinLabels()[k.Relation] }
