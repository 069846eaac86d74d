package console

import (
	"regexp"
	"slices"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// settings are the settings of the server, and the models that it asks.
type settings struct {
	File   string
	Models []testedModel
	Groups []settingGroup
	Tested bool
}

// testedModel is a model, what is known about it, and how it answered now.
type testedModel struct {
	api.Model
	Error string         // what its projection says
	Test  *api.ModelTest // nil if it was not tested
}

// IsBuiltIn tells whether the model is a part of the server.
func (m testedModel) IsBuiltIn() bool {
	return builtIn.MatchString(m.Model.Model)
}

var builtIn = regexp.MustCompile(`^(builtin|sentence|built-in)[- ]\d`)

// modelLabels are what the models are for, by their names.
func modelLabels() map[string]string {
	return map[string]string{
		"embedding": "Search by meaning", "embedding-previous": "Search by meaning, until the new vectors are complete",
		"llm": "Learning from sessions, and summaries",
	}
}

// Label says what the model is for.
func (m testedModel) Label() string { return modelLabels()[m.Name] }

// settingGroup are settings that belong together.
type settingGroup struct {
	Name, Label string
	Items       []api.Setting
}

// settingGroups are the groups in the order of the page. The last one has every other setting.
func settingGroups() []settingGroup {
	return []settingGroup{
		{Name: "where", Label: "Addresses and data"},
		{Name: "embedding", Label: "Search by meaning"},
		{Name: "extraction", Label: "Learning from sessions"},
		{Name: "receipts", Label: "Receipts of answers"},
		{Name: "tokens", Label: "Tokens of another provider"},
		{Name: "forwarding", Label: "Forwarding of the log"},
		{Name: "secrets", Label: "Secrets, which are not shown"},
		{Name: "limits", Label: "Limits, retention and the log of the server"},
	}
}

// showSettings shows the settings of the server.
func showSettings(p *page) (any, error) { return settingsWith(p, nil) }

// testSettings asks each model a short text, and shows the results beside the settings.
func testSettings(p *page) (any, error) {
	var tests api.ModelTests
	request := client.Post(nil, "v1", "settings", "test")
	if _, err := p.api.Do(p.r.Context(), request, &tests); err != nil {
		return nil, err
	}
	p.note(request)
	return settingsWith(p, tests.Items)
}

func settingsWith(p *page, tests []api.ModelTest) (*settings, error) {
	var got api.Settings
	if err := p.get(&got, nil, "v1", "settings"); err != nil {
		return nil, err
	}
	following, _, err := pageOf[api.Projection](p, nil, "v1", "projections")
	if err != nil {
		return nil, err
	}
	data := &settings{File: got.File, Groups: settingGroups(), Tested: tests != nil}
	for _, model := range got.Models {
		one := testedModel{Model: model}
		for _, f := range following {
			if f.Name == meaningProjection && model.Name == "embedding" && f.State == "active" ||
				f.Name == "extraction" && model.Name == "llm" {
				one.Error = f.Error
			}
		}
		if i := slices.IndexFunc(tests, func(t api.ModelTest) bool { return t.Name == model.Name }); i >= 0 {
			one.Test = &tests[i]
		}
		data.Models = append(data.Models, one)
	}
	for _, item := range got.Items {
		i := slices.IndexFunc(data.Groups, func(g settingGroup) bool { return g.Name == item.Group })
		if i < 0 {
			i = len(data.Groups) - 1
		}
		data.Groups[i].Items = append(data.Groups[i].Items, item)
	}
	data.Groups = slices.DeleteFunc(data.Groups, func(g settingGroup) bool { return g.Items == nil })
	return data, nil
}
