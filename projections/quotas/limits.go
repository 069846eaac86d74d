// Package quotas limits what tenants, keys and scopes may hold and write.
package quotas

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/annals-kb/annals/domain"
)

// Amount is how much there is of what quotas limit, or how much there may be.
type Amount struct{ Items, Bytes, Writes int64 }

func (a Amount) plus(b Amount) Amount {
	return Amount{a.Items + b.Items, a.Bytes + b.Bytes, a.Writes + b.Writes}
}

func (a Amount) minus(b Amount) Amount { return a.plus(Amount{-b.Items, -b.Bytes, -b.Writes}) }

// Limits are by what they limit: tenant:NAME, key:PREFIX or scope:SCOPE. A * is for each that has no line of its
// own.
type Limits map[string]Amount

func (q Limits) of(name string) (Amount, bool) {
	limit, found := q[name]
	if kind, _, _ := strings.Cut(name, ":"); !found {
		limit, found = q[kind+":*"]
	}
	return limit, found
}

// concern tells whether anything of a kind has a limit.
func (q Limits) concern(kind string) bool {
	for name := range q {
		if strings.HasPrefix(name, kind+":") {
			return true
		}
	}
	return false
}

const unlimited = math.MaxInt64

// Parse reads lines such as "tenant:default items=100000 bytes=10MB". A semicolon ends a line, too. The error
// names every bad field.
func Parse(lines string) (Limits, error) {
	quotas := Limits{}
	var errs []error
	for line := range strings.SplitSeq(strings.ReplaceAll(lines, ";", "\n"), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		refuse := func(is bool, format string, values ...any) {
			if is {
				errs = append(errs, fmt.Errorf("%s: "+format, append([]any{fields[0]}, values...)...))
			}
		}
		kind, of, _ := strings.Cut(fields[0], ":")
		_, notScope := domain.ParseScope(of)
		_, twice := quotas[fields[0]]
		refuse(kind != "tenant" && kind != "key" && kind != "scope" || of == "",
			"must be tenant:NAME, key:PREFIX or scope:SCOPE, with * for each")
		refuse(kind == "tenant" && of != "*" && !domain.IsTenantName(of), "a tenant cannot have this name")
		refuse(kind == "scope" && of != "*" && notScope != nil, "must name a scope, such as scope:team:pay")
		refuse(twice, "has a second line")
		refuse(len(fields) == 1, "limits nothing: add items=N, bytes=SIZE or writes_day=N")
		limit := Amount{unlimited, unlimited, unlimited}
		for _, field := range fields[1:] {
			what, value, _ := strings.Cut(field, "=")
			to := map[string]*int64{"items": &limit.Items, "bytes": &limit.Bytes, "writes_day": &limit.Writes}[what]
			if to == nil || kind == "scope" && what == "writes_day" {
				refuse(true, "%s is not items=N, bytes=SIZE or, of a tenant or a key, writes_day=N", field)
				continue
			}
			refuse(*to != unlimited, "%s comes twice", what)
			size, err := strconv.ParseUint(value, 10, 63)
			if what == "bytes" {
				size, err = humanize.ParseBytes(value)
			}
			refuse(err != nil || size >= unlimited, "%s must be a whole number from 0, of bytes with or without a unit", field)
			*to = int64(min(size, unlimited)) //nolint:gosec // it is not larger
		}
		quotas[fields[0]] = limit
	}
	return quotas, errors.Join(errs...)
}
