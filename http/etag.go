package http

import (
	"context"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// etag is an item's revision as HTTP writes it.
func etag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

// tagsIn takes the entity tags out of If-Match or If-None-Match; false if it holds anything else.
func tagsIn(header string) (list []string, ok bool) {
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimSpace(tag)
		opaque := strings.TrimPrefix(tag, "W/")
		if len(opaque) < 2 || opaque[0] != '"' || strings.IndexByte(opaque[1:], '"') != len(opaque)-2 {
			return nil, false
		}
		list = append(list, tag)
	}
	return list, true
}

// unchanged tells whether If-None-Match already names the revision. Weakness does not matter here.
func unchanged(header string, revision int64) bool {
	if strings.TrimSpace(header) == "*" {
		return true
	}
	list, _ := tagsIn(header)
	for _, tag := range list {
		if strings.TrimPrefix(tag, "W/") == etag(revision) {
			return true
		}
	}
	return false
}

// expected is the revision that If-Match names; 0 for any. What names several is settled here;
// a weak tag never matches.
func (s *Server) expected(ctx context.Context, c *call, id string) (int64, error) {
	header := strings.TrimSpace(strings.Join(c.request.Header.Values("If-Match"), ","))
	if header == "" || header == "*" {
		return 0, nil
	}
	list, ok := tagsIn(header)
	if !ok {
		return 0, domain.Refuse(domain.ErrMalformed, "If-Match cannot be read").
			WithFix(`send the ETag as it came, such as "3" with its quotation marks`)
	}
	if len(list) == 1 {
		if revision, ok := strong(list[0]); ok {
			return revision, nil
		}
	}
	k, err := s.living(ctx, c, id)
	if err != nil {
		return 0, err
	}
	for _, tag := range list {
		if tag == etag(k.Revision) {
			return k.Revision, nil
		}
	}
	return 0, domain.Refuse(domain.ErrPrecondition, "%s is at revision %d", k.ID, k.Revision).
		WithFix("read it again and decide anew; a weak ETag never matches")
}

// strong reads a revision from a tag that could be one of ours.
func strong(tag string) (int64, bool) {
	number := strings.Trim(tag, `"`)
	revision, err := strconv.ParseInt(number, 10, 64)
	return revision, err == nil && revision > 0 && tag == etag(revision)
}
