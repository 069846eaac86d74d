package console

import (
	"github.com/annals-kb/annals/http/api"
)

// knownDay is the page of what was known about a subject on a day.
type knownDay struct {
	form
	Known *api.Known // nil until a subject is named
	File  string     // the address of the report as a file, with the proof
}

func showKnownDay(p *page) (any, error) {
	data := &knownDay{form: *newForm(p, []field{{Name: "about"}, {Name: "on"}, {Name: "zone"}})}
	query := p.params(namesOf(data.Fields)...)
	if !query.Has("about") && !query.Has("on") {
		return data, nil
	}
	var found api.Known
	if err := p.get(&found, query, "v1", "reports", "known"); err != nil {
		return nil, data.failed(p, err, "knownday", data)
	}
	found.Links = Root + "k/"
	data.Known, data.File = &found, Root+"reports/known/file"+encode(query)
	return data, nil
}

// downloadKnownDay sends the report as a file.
func downloadKnownDay(p *page) (any, error) {
	query := p.params("about", "on", "zone")
	query.Set("language", p.Language)
	if err := download(p, "text/html", "known.html", query, "v1", "reports", "known"); err != nil {
		return nil, err
	}
	return nil, errAnswered
}
