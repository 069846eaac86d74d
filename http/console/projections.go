package console

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/annals-kb/annals/http/api"
)

// The names of the projections that allow more than the others.
const (
	knowledgeProjection = "knowledge" // it is rebuilt
	meaningProjection   = "meaning"   // it keeps the vectors of the model before
)

// projectionNames are what projections are called for people, by their names.
func projectionNames() map[string]string {
	return map[string]string{
		knowledgeProjection: "Knowledge", meaningProjection: "Search by meaning", "past": "Knowledge of the past",
		"extraction": "Learning from sessions", "subscriptions": "Subscriptions", "proof": "Signed log",
	}
}

// projectionName is what a projection is called for people.
func projectionName(name string) string {
	known, _, _ := strings.Cut(name, "_")
	return cmp.Or(projectionNames()[known], name)
}

// version is a version of a projection.
type version struct{ api.Projection }

// Read is the share of the log that it has read.
func (v version) Read() float64 {
	if v.Head <= 0 {
		return 1
	}
	return float64(v.Position) / float64(v.Head)
}

// Ended tells whether nothing writes it any more.
func (v version) Ended() bool { return v.State == "retired" || v.State == "failed" }

// Follows tells whether it is of a projection that reads the log in the background, and so may have a quarantine.
func (v version) Follows() bool { return v.Name != knowledgeProjection }

// versionsOf asks for the versions of all projections, or of the one with a name.
func versionsOf(p *page, name string) ([]version, error) {
	found, _, err := pageOf[api.Projection](p, nil, "v1", "projections")
	if err != nil {
		return nil, err
	}
	var all []version
	for _, one := range found {
		if name == "" || one.Name == name {
			all = append(all, version{one})
		}
	}
	if len(all) == 0 {
		return nil, notFound(p)
	}
	return all, nil
}

func listProjections(p *page) (any, error) { return versionsOf(p, "") }

// projectionPage is one projection with all of its versions.
type projectionPage struct {
	Name     string
	Versions []version
	Acts     []act
	Rebuild  *rebuild // the running or last one; nil if there was none, or if the caller may not see it
}

// Running tells whether a rebuild is running.
func (d *projectionPage) Running() bool { return d.Rebuild != nil && d.Rebuild.Progress != nil }

func readProjection(p *page) (any, error) {
	data := &projectionPage{Name: p.r.PathValue("name")}
	var err error
	if data.Versions, err = versionsOf(p, data.Name); err != nil {
		return nil, err
	}
	if data.Name == knowledgeProjection && p.Caller.Operates {
		if err := data.readRebuild(p); err != nil {
			return nil, err
		}
	}
	for _, one := range operations() {
		if one.isFor(p) && one.suits(data) {
			data.Acts = append(data.Acts, one)
		}
	}
	return data, nil
}

// quarantine are the streams that a projection passes over.
type quarantine struct {
	Name    string
	Acts    []act // to each of them
	Streams []api.Quarantined
}

func readQuarantine(p *page) (any, error) {
	data := &quarantine{Name: p.r.PathValue("name")}
	var err error
	if data.Streams, err = quarantined(p, data.Name, ""); err != nil {
		return nil, err
	}
	for _, one := range operations() {
		if one.OnQuarantine() && one.isFor(p) {
			data.Acts = append(data.Acts, one)
		}
	}
	return data, nil
}

// quarantined asks for the streams that a projection passes over, or for the one with a name.
func quarantined(p *page, name, stream string) ([]api.Quarantined, error) {
	all, _, err := pageOf[api.Quarantined](p, nil, "v1", "projections", name, "quarantine")
	return slices.DeleteFunc(all, func(q api.Quarantined) bool { return stream != "" && q.Stream != stream }), err
}

// bytesOf writes a size.
func bytesOf(size any) string {
	switch size := size.(type) {
	case int64:
		return humanize.IBytes(uint64(size))
	case *int64:
		if size != nil {
			return humanize.IBytes(uint64(*size))
		}
	}
	return ""
}

// lasting writes how long something takes.
func lasting(language string, seconds float64) string {
	took := time.Duration(seconds * float64(time.Second))
	if took < time.Second {
		return say(language, "less than a second")
	}
	return lengthOf(language, took)
}
