// Package oidc identifies the bearer of an OpenID provider's token, and lets users of browsers log in there.
//
// Its one rule: a token identifies a principal with at most the rights of a tenant's admin.
package oidc
