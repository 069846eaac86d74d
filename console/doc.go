// Package console is Annals in the browser: pages for auditors, owners of knowledge and operators. Each page is made
// from answers of the API alone, so the console can do nothing that the API does not allow its caller.
package console
