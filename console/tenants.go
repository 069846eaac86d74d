package console

import (
	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
)

// tenants are the tenants of the server, with the form of another.
type tenants struct {
	form
	Items []api.Tenant
	Done  string
}

// tenantCreated names what creating a tenant has done, for the page after it.
func tenantCreated() act { return act{Name: "tenant", Done: "The tenant is created."} }

func tenantFields() []actField { return []actField{{Name: "name", Label: "Name", Required: true}} }

func showTenants(p *page) (any, error) {
	data := &tenants{form: *newForm(p, tenantFields())}
	if !p.Moment.Past() {
		data.Done = p.done()
	}
	return data, data.read(p)
}

func (t *tenants) read(p *page) error {
	var got api.Tenants
	err := p.get(&got, nil, "v1", "tenants")
	t.Items = got.Items
	return err
}

// createTenant creates a tenant. The page says how to give its admin a key.
func createTenant(p *page) (any, error) {
	if p.Moment.Past() {
		return nil, errPast
	}
	data := &tenants{form: *newForm(p, tenantFields())}
	_, err := p.api.Do(p.r.Context(), client.Post(api.NewTenant{Name: data.text("name")}, "v1", "tenants"), nil)
	if data.refuse(err) {
		if err := data.read(p); err != nil {
			return nil, err
		}
		return nil, answer(p, "tenants", data, data.Refused.Status)
	}
	if err != nil {
		return nil, err
	}
	return goBack(p, tenantCreated().Name, "access/tenants")
}
