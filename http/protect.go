package http

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/annals-kb/annals/domain"
)

// protect keeps other websites' pages from using a browser to write here, and tells browsers
// to take answers for what they say they are, and to come back over TLS once they came over it. No page of
// another website may read an answer: nothing here allows it.
func protect(next echo.HandlerFunc) echo.HandlerFunc {
	guard := http.NewCrossOriginProtection()
	return func(e echo.Context) error {
		h := e.Response().Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		if e.Request().TLS != nil {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if err := guard.Check(e.Request()); err != nil {
			return domain.Refuse(errOrigin, "a page of another website asked for this")
		}
		return next(e)
	}
}
