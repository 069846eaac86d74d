package oidc

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
)

// foreign refuses a token that says itself that it is not for here, or cannot be believed, and says which: the bearer
// can read as much in it. Nobody is asked for its sake. What it does not refuse is not trusted yet.
func (i *Issuer) foreign(token string) error {
	var head struct {
		Algorithm string `json:"alg"`
	}
	var body struct {
		Issuer   string   `json:"iss"`
		Audience audience `json:"aud"`
	}
	parts := strings.Split(token, ".")
	switch {
	case len(parts) != 3 || !decoded(parts[0], &head) || !decoded(parts[1], &body):
		return refuse("the token cannot be read").WithFix("send it whole, as the issuer gave it")
	case !slices.Contains(algorithms, head.Algorithm):
		return refuse("the token is not signed in a way in which only its issuer can sign").
			WithFix("let the issuer sign with %s", strings.Join(algorithms, ", "))
	case body.Issuer != i.cfg.Issuer:
		return refuse("the token is of another issuer than this server's").
			WithFix("compare its claim iss with ANNALS_OIDC_ISSUER: they must be the same to the letter, a slash at the end included")
	case !slices.Contains(body.Audience, i.cfg.Audience):
		return refuse("the token is for another audience than this server").
			WithFix("ask the issuer for one whose claim aud is, or has, what ANNALS_OIDC_AUDIENCE says")
	}
	return nil
}

func decoded(part string, into any) bool {
	plain, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(plain, into) == nil
}

// audience is a string, or several.
type audience []string

// UnmarshalJSON implements [json.Unmarshaler].
func (a *audience) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(a))
}
