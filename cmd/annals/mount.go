package main

import (
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/viking"
)

// mountViking puts the OpenViking-compatible surface where its clients look for it.
func mountViking(cfg viking.Config) annalshttp.Mount {
	surface := viking.New(cfg)
	paths, public := viking.Paths()
	return annalshttp.Mount{
		Paths: paths, Public: public, Handler: surface.Answer, Refuse: surface.Refuse, As: viking.As,
	}
}
