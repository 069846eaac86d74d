package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/annals-kb/annals/domain"
)

// record is an item as the data has it.
type record struct {
	ID      string            `json:"id"`
	Type    domain.Type       `json:"type"`
	Task    string            `json:"task"`
	Content string            `json:"content"`
	Tags    map[string]string `json:"tags"`
	Scopes  []domain.Scope    `json:"scopes"`
	Owner   domain.Entity     `json:"owner"`
	Source  struct {
		Category    string `json:"category"`
		Name        string `json:"name"`
		SubmittedBy string `json:"submitted_by"`
	} `json:"source"`
}

// query is a question with the ids of the records that answer it.
type query struct {
	Text     string       `json:"query"`
	Scope    domain.Scope `json:"scope"`
	Evidence []string     `json:"evidence"`
	Category string       `json:"category"`
}

// corpus is what is asked, and what it is asked of.
type corpus struct {
	records []record
	queries []query
	scopes  []domain.Scope // in order of name
}

func readCorpus(dir string) (c corpus, err error) {
	if c.records, err = readLines[record](filepath.Join(dir, "knowledge.ndjson")); err != nil {
		return c, err
	}
	if c.queries, err = readLines[query](filepath.Join(dir, "queries.ndjson")); err != nil {
		return c, err
	}
	for _, q := range c.queries {
		if !slices.Contains(c.scopes, q.Scope) {
			c.scopes = append(c.scopes, q.Scope)
		}
	}
	slices.Sort(c.scopes)
	return c, nil
}

func readLines[T any](path string) ([]T, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var list []T
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("read %s, line %d: %w", path, len(list)+1, err)
		}
		list = append(list, v)
	}
	return list, lines.Err()
}

// command asks to remember a record.
func (r record) command(by domain.Principal) (domain.Remember, error) {
	tags := domain.Tags{}
	for key, value := range r.Tags {
		tags[key] = []string{value}
	}
	return domain.Remember{By: by, ID: r.ID, Knowledge: domain.Remembered{
		Type: r.Type, Scopes: r.Scopes, Owner: r.Owner,
		Source: domain.Source{Category: r.Source.Category, Name: r.Source.Name, SubmittedBy: r.Source.SubmittedBy},
		Text:   domain.Text{Task: r.Task, Content: r.Content, Tags: tags},
	}}.Complete()
}
