package proof

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// keptElsewhere signed the checkpoints that a verification names.
const keptElsewhere = "the checkpoint kept elsewhere"

// ErrApart says that a file has no tree of the size of a checkpoint that was kept elsewhere.
var ErrApart = errors.New("the file cannot be held against the checkpoint kept elsewhere")

// hold puts the checkpoints that were kept elsewhere among those that are held against the tree of an export as
// it grows. It refuses those of fewer events than the tree has where the export begins.
func (x *exported) hold() error {
	outside, err := x.outside()
	if err != nil {
		return err
	}
	x.report.elsewhere(outside)
	for _, s := range outside[x.manifest.Tenant] {
		switch {
		case x.manifest.Format == excerptFormat:
			return fmt.Errorf("%w: it is an excerpt, and only a log that begins before the checkpoint can be", ErrApart)
		case s.size < x.manifest.After:
			return fmt.Errorf("%w: it begins at position %d, and the checkpoint is of %d events", ErrApart, x.manifest.After+1, s.size)
		}
		x.signed = append(x.signed, s)
	}
	slices.SortStableFunc(x.signed, func(a, b signed) int { return int(a.size - b.size) })
	if !x.apart {
		x.compareSigned()
	}
	return nil
}

// cut names the checkpoints kept elsewhere that the export has not come to.
func (x *exported) cut() {
	for _, s := range x.signed {
		if s.signer != keptElsewhere || s.size <= x.last {
			continue
		}
		if _, ok := x.open(s); ok {
			x.fault(x.last+1, Missing, "%s is of %d events, and the export ends at position %d: the log was cut, or exported before that was signed",
				s.signer, s.size, x.last)
		}
	}
}

// elsewhere names the logs of which checkpoints were kept, and which are not in what was examined.
func (r *Report) elsewhere(outside map[string][]signed) {
	for _, tenant := range slices.Sorted(maps.Keys(outside)) {
		if slices.ContainsFunc(r.Tenants, func(t *Tenant) bool { return t.Tenant == tenant }) {
			continue
		}
		for _, s := range outside[tenant] {
			if s.size > 0 {
				r.fault(tenant, 1, Missing, "%s is of %d events of the log of tenant %s, which is not in what was verified", s.signer, s.size, tenant)
			}
		}
	}
}

// otherLog says what it means that a checkpoint signed another tree, of one that nobody can have changed.
func otherLog(s signed) string {
	if s.signer == keptElsewhere {
		return "; it is not the log that the checkpoint was kept of"
	}
	return ""
}
