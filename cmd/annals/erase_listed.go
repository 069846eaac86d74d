package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"

	"github.com/annals-kb/annals/domain"
)

// submission is by whom and because of what it is erased again.
func (e erasure) submission() domain.Submission {
	by := domain.SystemPrincipal()
	by.Tenant = e.Tenant
	return domain.Submission{By: by, Origin: domain.Origin{CausationID: e.EventID}}
}

func (e erasure) grounds() domain.ErasureReason {
	return domain.ErasureReason{ReasonCode: e.ReasonCode, LegalBasis: e.LegalBasis, RequestedBy: e.RequestedBy, Ticket: e.Ticket}
}

// erasuresIn reads a whole list, before anything is done; no name is no list.
func erasuresIn(name string) ([]erasure, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, noList(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	var list []erasure
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		line, err := erasureOf(lines.Bytes())
		if err != nil {
			return nil, wrong(whichList, "line %d of the list of erasures cannot be read", number)
		}
		list = append(list, line)
	}
	if err := lines.Err(); err != nil {
		return nil, noList(err)
	}
	return list, nil
}

// lastOfEach leaves the last erasure of each thing: a session that was begun again after it was erased may have been
// erased again.
func lastOfEach(list []erasure) []erasure {
	type thing struct{ tenant, stream, ofKey string }
	thingOf := func(line erasure) thing {
		return thing{line.Tenant, line.Stream, line.ofKey()}
	}
	last := map[thing]int{}
	for i, line := range list {
		of := thingOf(line)
		if before, named := last[of]; !named || !line.RecordedAt.Before(list[before].RecordedAt) {
			last[of] = i
		}
	}
	var left []erasure
	for i, line := range list {
		if last[thingOf(line)] == i {
			left = append(left, line)
		}
	}
	return left
}

const whichList = "it is the file that annals erase --export-list has written"

// erasureOf reads a line of a list. What it does not know makes it something else, such as a line of the log, which
// names a stream, too: that is not to be erased.
func erasureOf(written []byte) (line erasure, err error) {
	strict := json.NewDecoder(bytes.NewReader(written))
	strict.DisallowUnknownFields()
	if err = strict.Decode(&line); err != nil {
		return line, err
	}
	switch {
	case line.Stream == "" || line.Tenant == "":
		err = errors.New("it names no stream of a tenant")
	case line.Role != "" && !slices.Contains(domain.Roles, line.Role):
		err = errors.New("it names no role")
	}
	return line, err
}

func noList(err error) error {
	return wrong(whichList, "the list of erasures cannot be read: %s", err)
}
