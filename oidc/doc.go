// Package oidc finds out whom an OpenID provider has given a token.
//
// Its one rule: a token says who somebody is, and never more than a tenant's admin.
package oidc
