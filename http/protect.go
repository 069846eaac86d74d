package http

import (
	"maps"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/annals-kb/annals/domain"
)

// protect keeps other websites' pages from using a browser to write here, and tells browsers
// to take answers for what they say they are, and to come back over TLS once they came over it. No page of
// another website may read an answer: nothing here allows it.
func protect() echo.MiddlewareFunc {
	guard := http.NewCrossOriginProtection()
	always := http.Header{
		"X-Content-Type-Options":  {"nosniff"},
		"Content-Security-Policy": {"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"},
		"Referrer-Policy":         {"no-referrer"},
		"Cache-Control":           {"no-store"},
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc { // for every request anew, as is Echo's way
		return func(e echo.Context) error {
			h := e.Response().Header()
			maps.Copy(h, always)
			if e.Request().TLS != nil {
				h.Set("Strict-Transport-Security", "max-age=31536000")
			}
			if err := guard.Check(e.Request()); err != nil {
				return domain.Refuse(errOrigin, "a page of another website asked for this")
			}
			return next(e)
		}
	}
}
