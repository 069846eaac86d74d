package http

import (
	"strconv"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// etag is an item's revision as HTTP writes it.
func etag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

// tagsIn takes the entity tags out of If-Match; false if it holds anything else.
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

// expected are the revisions of which If-Match names one: nil for any, none where no tag can match.
func (c *call) expected() ([]int64, error) {
	header := strings.TrimSpace(strings.Join(c.request.Header.Values("If-Match"), ","))
	if header == "" || header == "*" {
		return nil, nil
	}
	list, ok := tagsIn(header)
	if !ok {
		return nil, domain.Refuse(domain.ErrMalformed, "If-Match cannot be read").
			WithFix(`send the ETag as it came, such as "3" with its quotation marks`)
	}
	revisions := make([]int64, 0, len(list))
	for _, tag := range list {
		if revision, ok := strong(tag); ok {
			revisions = append(revisions, revision)
		}
	}
	return revisions, nil
}

// strong reads a revision from a tag that could be one of ours.
func strong(tag string) (int64, bool) {
	number := strings.Trim(tag, `"`)
	revision, err := strconv.ParseInt(number, 10, 64)
	return revision, err == nil && revision > 0 && tag == etag(revision)
}
