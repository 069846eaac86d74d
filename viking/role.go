package viking

import "github.com/annals-kb/annals/domain"

// roleOf is a principal's role as OpenViking knows roles: there are three.
func roleOf(p domain.Principal) string {
	switch p.Role {
	case domain.Root:
		return "root"
	case domain.Admin:
		return "admin"
	}
	return "user"
}
