package viking

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/body"
)

// skills answers requests about skills.
type skills struct {
	tree      tree
	editor    editor
	finder    finder
	index     index
	answers   answers
	resources resources // stores the files of skills
}

func (s skills) routes(on route) {
	on("POST /api/v1/skills", s.addSkill)
	on("GET /api/v1/skills", s.listSkills)
	on("POST /api/v1/skills/find", s.findSkills)
	on("POST /api/v1/skills/validate", s.validateSkill)
	on("GET /api/v1/skills/{name}", s.showSkill)
	on("PUT /api/v1/skills/{name}", s.replaceSkill)
	on("DELETE /api/v1/skills/{name}", s.removeSkill)
}

// skillRequest holds a skill or the id of an uploaded file.
type skillRequest struct {
	Data   json.RawMessage `json:"data"`
	FileID string          `json:"temp_file_id"`
	Path   string          `json:"temp_path"`
	Target string          `json:"target_uri"` // the directory for the skill
	Wait   bool            `json:"wait"`
}

// skillAdded describes an added skill.
type skillAdded struct {
	Status    string `json:"status"`
	URI       string `json:"uri"`
	RootURI   string `json:"root_uri"` // the same
	Name      string `json:"name"`
	Auxiliary int    `json:"auxiliary_files"`

	Warnings []string         `json:"warnings,omitempty"`
	Queue    map[string]queue `json:"queue_status,omitempty"`
}

// skillIn reads the skill of a request.
func (s skills) skillIn(ctx context.Context, q *query) (k skill, in skillRequest, err error) {
	if err := q.bindWrite(&in); err != nil {
		return k, in, err
	}
	in.FileID = cmp.Or(in.FileID, in.Path)
	switch {
	case in.FileID != "":
		k, err = s.skillUploaded(ctx, q, in.FileID)
	case len(in.Data) == 0:
		err = invalid("data", "is required, or temp_file_id")
	default:
		k, err = parseSkill(in.Data, q.fields["metadata"])
	}
	return k, in, err
}

// skillUploaded reads a skill from an upload: a SKILL.md, or an archive with one and other files.
func (s skills) skillUploaded(ctx context.Context, q *query, id string) (skill, error) {
	file, err := s.resources.uploaded(ctx, q, id)
	if err == nil && file.isZip() {
		if file, err = (resourceRequest{}).unpackZip(file); err == nil {
			k, err := skillOfFiles(file)
			k.isDir = true
			return k, err
		}
	}
	if err != nil {
		return skill{}, err
	}
	file.name, file.under = domain.SkillName, nil
	return skillOfFiles(source{files: []source{file}})
}

// addSkill adds a skill, or replaces the one of the same name.
func (s skills) addSkill(ctx context.Context, q *query) (any, error) {
	k, in, err := s.skillIn(ctx, q)
	if err != nil {
		return nil, err
	}
	return s.putSkill(ctx, q, k, in)
}

func (s skills) replaceSkill(ctx context.Context, q *query) (any, error) {
	k, in, err := s.skillIn(ctx, q)
	if err != nil {
		return nil, err
	}
	if segment(k.Name) != segment(q.request.PathValue("name")) {
		return nil, noSkill("the skill's name is another than the path's")
	}
	if _, err := s.skillNamed(ctx, q, in.Target, q.request.PathValue("name")); err != nil {
		return nil, err
	}
	return s.putSkill(ctx, q, k, in)
}

// putSkill stores a skill and deletes its upload.
func (s skills) putSkill(ctx context.Context, q *query, k skill, in skillRequest) (any, error) {
	var added skillAdded
	err := retryIfTaken(func() (err error) {
		added, err = s.storeSkill(ctx, q, k, in.Target)
		return err
	})
	added.Warnings = append(q.warnings(), k.warnings...)
	if err == nil && in.FileID != "" {
		err = s.resources.files.Drop(ctx, q.caller.Tenant, in.FileID)
	}
	if added.RootURI = added.URI; err == nil && in.Wait {
		added.Queue, err = s.index.awaitIndexed(ctx, q)
	}
	return added, err
}

// putFiles replaces the files beside a SKILL.md. They get its audience.
func (s skills) putFiles(ctx context.Context, q *query, at address, main *domain.Knowledge, files []source) error {
	in := resourceRequest{scopes: main.Scopes}
	for i := range files {
		f := &files[i]
		if text, err := body.Text(f.bytes); err == nil && len(text) <= domain.MaxContent {
			f.content, f.isText = text, true
		}
	}
	_, err := s.editor.changeBelow(ctx, q, placeOf(main), func(k *domain.Knowledge) (domain.Command, error) {
		if k.ID == main.ID || domain.URI(k.Text.URI).Level() != domain.Detail {
			return nil, nil
		}
		return q.deleteCommand(k)
	})
	if err != nil {
		return err
	}
	for _, f := range files {
		at.uri = placeOf(main).Join(append(slices.Clip(f.under), f.name)...)
		if !f.isText {
			err = s.resources.storeBytes(ctx, q, at, in, f, map[string]any{}, domain.Source{})
		} else {
			_, err = s.editor.remember(ctx, q, at, func(r *domain.Remembered) {
				in.fill(r)
				r.Text.Content, r.ContextType = f.content, domain.Resource
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s skills) storeSkill(ctx context.Context, q *query, k skill, target string) (skillAdded, error) {
	meta, err := json.Marshal(k.described)
	if err != nil {
		return skillAdded{}, err
	}
	roots, err := q.caller.skillRootsAt(target, k.Name)
	if err != nil {
		return skillAdded{}, err
	}
	for _, f := range k.files { // before anything is written
		if _, err := domain.ParseURI(string(roots[0].uri.Join(segment(k.Name), f.relativePath()))); err != nil {
			return skillAdded{}, noSkill("%s has a name that is not accepted", f.relativePath())
		}
	}
	older, err := s.skillNamed(ctx, q, target, k.Name)
	added := skillAdded{Status: "success", Name: k.Name, Auxiliary: len(k.files)}
	switch {
	case err == nil:
		added.URI = roots[0].format(placeOf(older))
		_, err = s.editor.change(ctx, q, domain.Revise{Target: q.target(older), Changes: domain.Revised{
			Content: &k.Text, Abstract: &k.Description, Meta: new(json.RawMessage(meta)),
		}})
		if err == nil && k.isDir {
			err = s.putFiles(ctx, q, roots[0], older, k.files)
		}
		return added, err
	case !errors.Is(err, domain.ErrNotFound):
		return added, err
	}
	at := roots[len(roots)-1]
	// a caller who may not write for all users writes skills of their own
	if _, err := q.caller.widestScopes(); err != nil && target == "" {
		at = roots[1]
	}
	at.uri = at.uri.Join(segment(k.Name), domain.SkillName)
	item, err := s.editor.remember(ctx, q, at, func(r *domain.Remembered) {
		r.Text.Content, r.Text.Abstract, r.Text.Meta = k.Text, k.Description, meta
	})
	if err != nil {
		return added, err
	}
	added.URI = at.format(placeOf(item))
	return added, s.putFiles(ctx, q, at, item, k.files)
}

// skillRoots are the directories of the caller's skills, nearest first.
func (c caller) skillRoots() []domain.URI {
	return []domain.URI{
		domain.RootURI.Join(domain.User, c.user, "skills"),
		domain.RootURI.Join(domain.Agent, c.space, "skills"),
		domain.RootURI.Join(domain.Agent, "skills"),
	}
}

// skillRootsAt are the directories for a skill's name: the one of target_uri, or all of the caller's if it is empty.
func (c caller) skillRootsAt(target, name string) (roots []address, err error) {
	var named address
	if target != "" {
		if named, err = c.address("target_uri", target); err != nil {
			return nil, err
		}
	}
	for _, root := range c.skillRoots() {
		if target == "" || named.uri == root || named.uri == root.Join(segment(name)) {
			at := named
			at.uri, at.shared = root, ""
			roots = append(roots, at)
		}
	}
	if len(roots) == 0 {
		return nil, invalid(
			"target_uri", "must be a directory of skills of the caller: viking://~/skills or viking://agent/skills",
		)
	}
	return roots, nil
}

// skillNamed finds a skill by its name: in the target, or else in the nearest directory.
func (s skills) skillNamed(ctx context.Context, q *query, target, name string) (*domain.Knowledge, error) {
	roots, err := q.caller.skillRootsAt(target, name)
	if err != nil {
		return nil, err
	}
	for _, root := range roots {
		if root.beyond {
			continue
		}
		if k, err := s.tree.itemAt(ctx, q.caller, root.uri.Join(segment(name), domain.SkillName)); k != nil || err != nil {
			return k, err
		}
	}
	return nil, domain.Refuse(domain.ErrNotFound, "no such skill")
}

// skillShown is a skill in a list, or with its text if it was asked for by name.
type skillShown struct {
	described
	URI     string    `json:"uri"`
	RootURI string    `json:"root_uri"`
	Content string    `json:"content,omitempty"`
	Files   []part    `json:"files,omitempty"`
	Created time.Time `json:"created_at,omitzero"`
	Updated time.Time `json:"updated_at,omitzero"`
}

// part is a file of a skill.
type part struct {
	Name  string `json:"name"`
	URI   string `json:"uri"`
	Path  string `json:"path"` // in the skill's directory
	IsDir bool   `json:"is_dir"`
	Kind  string `json:"kind"` // definition: SKILL.md; summary: .abstract.md and .overview.md; auxiliary
	Size  int    `json:"size"`
}

// partsOf are the files of a skill, whose SKILL.md is main.
func (s skills) partsOf(ctx context.Context, q *query, main *domain.Knowledge) (parts []part, err error) {
	directory := placeOf(main)
	err = s.tree.eachPage(ctx, q, directory, func(items []*domain.Knowledge) error {
		for _, k := range items {
			uri := domain.URI(k.Text.URI)
			p := part{
				Name: uri.Name(), URI: string(uri), Path: strings.TrimPrefix(string(uri), string(directory)+"/"), Kind: "auxiliary",
				Size: node{item: k}.size(),
			}
			if uri.Level() != domain.Detail {
				p.Kind = "summary"
			} else if k.ID == main.ID {
				p.Kind = "definition"
			}
			parts = append(parts, p)
		}
		return nil
	})
	return parts, err
}

func skillOf(k *domain.Knowledge, root domain.URI) skillShown {
	return skillShown{described: describedBy(k), URI: string(placeOf(k)), RootURI: string(root)}
}

func (s skills) listSkills(ctx context.Context, q *query) (any, error) {
	const most = 1000
	limit := min(max(q.intParam("node_limit", most), 0), most)
	roots := q.caller.skillRoots()
	if target := q.param("target_uri"); target != "" {
		a, err := q.caller.address("target_uri", target)
		if err != nil {
			return nil, err
		}
		roots = nil
		for _, place := range a.readPlaces() {
			if !place.beyond {
				roots = append(roots, place.uri)
			}
		}
	}
	list := struct {
		Roots  []string     `json:"root_uris"`
		Skills []skillShown `json:"skills"`
		Total  int          `json:"total"`
	}{Roots: []string{}, Skills: []skillShown{}}
	for _, root := range roots {
		list.Roots = append(list.Roots, string(root))
		err := s.tree.walkItems(ctx, q, address{uri: root}, func(k *domain.Knowledge) error {
			if k.ContextType == domain.Skill && (domain.URI(k.Text.URI).Name() == domain.SkillName ||
				domain.URI(k.Text.URI).Parent() == root) {
				list.Skills = append(list.Skills, skillOf(k, root))
			}
			if len(list.Skills) >= limit {
				return errTruncated
			}
			return nil
		})
		if err != nil && !errors.Is(err, domain.ErrNotFound) && !errors.Is(err, errTruncated) {
			return nil, err
		}
	}
	list.Skills = list.Skills[:min(len(list.Skills), limit)]
	list.Total = len(list.Skills)
	return list, nil
}

func (s skills) findSkills(ctx context.Context, q *query) (any, error) {
	var in findRequest
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	in.ContextType = oneOrMore{string(domain.Skill)}
	found, err := s.finder.answer(ctx, q, in)
	return struct {
		Skills []match `json:"skills"`
		Total  int     `json:"total"`
	}{found.Skills, found.Total}, err
}

// validateSkill checks a skill without storing it.
func (s skills) validateSkill(ctx context.Context, q *query) (any, error) {
	k, in, err := s.skillIn(ctx, q)
	if err == nil {
		_, err = q.caller.skillRootsAt(in.Target, k.Name)
	}
	verdict := map[string]any{
		"valid": err == nil, "name": k.Name, "description": k.Description, "errors": []string{}, "warnings": []string{},
	}
	if refusal, is := errors.AsType[*domain.Refusal](err); is && errors.Is(err, errSkill) {
		verdict["errors"] = []string{refusal.Detail}
		return verdict, nil
	}
	if err == nil && len(k.Text) > domain.MaxContent {
		verdict["valid"], verdict["errors"] = false, []string{"the skill's text is too long"}
	}
	return verdict, err
}

func (s skills) showSkill(ctx context.Context, q *query) (any, error) {
	k, err := s.skillNamed(ctx, q, q.param("target_uri"), q.request.PathValue("name"))
	if err != nil {
		return nil, err
	}
	s.answers.giveItems(q, domain.Detail, k)
	shown := skillOf(k, placeOf(k).Parent())
	shown.Content, shown.Created, shown.Updated = k.Text.Content, k.CreatedAt, k.UpdatedAt
	shown.Files, err = s.partsOf(ctx, q, k)
	return shown, err
}

func (s skills) removeSkill(ctx context.Context, q *query) (any, error) {
	k, err := s.skillNamed(ctx, q, q.param("target_uri"), q.request.PathValue("name"))
	if err != nil {
		return nil, err
	}
	place := placeOf(k)
	_, err = s.editor.changeBelow(ctx, q, place, q.deleteCommand)
	return map[string]string{"uri": string(place), "name": q.request.PathValue("name")}, err
}
