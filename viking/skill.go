package viking

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain"
)

func (s *Server) skillRoutes() {
	s.route("POST /api/v1/skills", s.addSkill)
	s.route("GET /api/v1/skills", s.listSkills)
	s.route("POST /api/v1/skills/find", s.findSkills)
	s.route("POST /api/v1/skills/validate", s.validateSkill)
	s.route("GET /api/v1/skills/{name}", s.showSkill)
	s.route("PUT /api/v1/skills/{name}", s.replaceSkill)
	s.route("DELETE /api/v1/skills/{name}", s.removeSkill)
}

// skillRequest carries a skill, itself or as a file that was uploaded before.
type skillRequest struct {
	Data   json.RawMessage `json:"data"`
	FileID string          `json:"temp_file_id"`
	Path   string          `json:"temp_path"`
}

// skillAdded says what became of a skill.
type skillAdded struct {
	Status    string `json:"status"`
	URI       string `json:"uri"`
	Name      string `json:"name"`
	Auxiliary int    `json:"auxiliary_files"`
}

// skillIn reads the skill of a request, and tells which upload it was.
func (s *Server) skillIn(ctx context.Context, q *query) (k skill, upload string, err error) {
	var in skillRequest
	if err := q.bind(&in); err != nil {
		return k, "", err
	}
	upload = cmp.Or(in.FileID, in.Path)
	switch {
	case upload != "":
		k, err = s.skillUploaded(ctx, q, upload)
	case len(in.Data) == 0:
		err = invalid("data", "is required, or temp_file_id")
	default:
		k, err = parseSkill(in.Data)
	}
	return k, upload, err
}

// skillUploaded reads a skill of a file that was uploaded before: of a SKILL.md.
func (s *Server) skillUploaded(ctx context.Context, q *query, id string) (skill, error) {
	file, err := s.uploaded(ctx, q, id)
	if err != nil {
		return skill{}, err
	}
	if len(file.bytes) > domain.MaxContent || !utf8.Valid(file.bytes) {
		return skill{}, noSkill("the file is no text of at most %d bytes", domain.MaxContent)
	}
	return skillOfText(string(file.bytes))
}

// addSkill takes a skill in, or in the place of an older one with its name.
func (s *Server) addSkill(ctx context.Context, q *query) (any, error) {
	k, upload, err := s.skillIn(ctx, q)
	if err != nil {
		return nil, err
	}
	return s.putSkill(ctx, q, k, upload)
}

func (s *Server) replaceSkill(ctx context.Context, q *query) (any, error) {
	k, upload, err := s.skillIn(ctx, q)
	if err != nil {
		return nil, err
	}
	if segment(k.Name) != segment(q.path("name")) {
		return nil, noSkill("the skill's name is another than the path's")
	}
	if _, err := s.skillNamed(ctx, q, q.path("name")); err != nil {
		return nil, err
	}
	return s.putSkill(ctx, q, k, upload)
}

// putSkill keeps a skill. The upload that it came in is used up.
func (s *Server) putSkill(ctx context.Context, q *query, k skill, upload string) (any, error) {
	var added skillAdded
	err := again(func() (err error) {
		added, err = s.kept(ctx, q, k)
		return err
	})
	if err == nil && upload != "" {
		err = s.cfg.Files.Drop(ctx, q.caller.Tenant, upload)
	}
	return added, err
}

func (s *Server) kept(ctx context.Context, q *query, k skill) (skillAdded, error) {
	meta, err := json.Marshal(k.described)
	if err != nil {
		return skillAdded{}, err
	}
	older, err := s.skillNamed(ctx, q, k.Name)
	added := skillAdded{Status: "success", Name: k.Name}
	switch {
	case err == nil:
		added.URI = string(placeOf(older))
		_, err = s.change(ctx, q, domain.Revise{Target: q.target(older), Changes: domain.Revised{
			Content: &k.Text, Abstract: &k.Description, Meta: new(json.RawMessage(meta)),
		}})
		return added, err
	case !errors.Is(err, domain.ErrNotFound):
		return added, err
	}
	at := address{uri: domain.RootURI.Join(domain.Agent, "skills", segment(k.Name), domain.SkillName)}
	if _, err := q.caller.everybody(); err != nil { // who may not write for everybody has skills of one's own
		at.uri = domain.RootURI.Join(domain.Agent, q.caller.space, "skills", segment(k.Name), domain.SkillName)
	}
	item, err := s.remember(ctx, q, at, func(r *domain.Remembered) {
		r.Text.Content, r.Text.Abstract, r.Text.Meta = k.Text, k.Description, meta
	})
	if err != nil {
		return added, err
	}
	added.URI = string(placeOf(item))
	return added, nil
}

// skillRoots are where the caller's skills lie, the nearest first.
func (c caller) skillRoots() []domain.URI {
	return []domain.URI{
		domain.RootURI.Join(domain.User, c.user, "skills"),
		domain.RootURI.Join(domain.Agent, c.space, "skills"),
		domain.RootURI.Join(domain.Agent, "skills"),
	}
}

// skillNamed finds the nearest skill that lies under a name.
func (s *Server) skillNamed(ctx context.Context, q *query, name string) (*domain.Knowledge, error) {
	for _, root := range q.caller.skillRoots() {
		k, err := s.cfg.Reader.At(ctx, q.caller.Tenant, root.Join(segment(name), domain.SkillName))
		switch {
		case err == nil && q.caller.MaySee(k):
			return k, nil
		case err != nil && !errors.Is(err, domain.ErrNotFound):
			return nil, err
		}
	}
	return nil, domain.Refuse(domain.ErrNotFound, "no such skill")
}

// skillShown is a skill in lists, and with its text where it is asked for by name.
type skillShown struct {
	described
	URI     string    `json:"uri"`
	RootURI string    `json:"root_uri"`
	Content string    `json:"content,omitempty"`
	Created time.Time `json:"created_at,omitzero"`
	Updated time.Time `json:"updated_at,omitzero"`
}

func skillOf(k *domain.Knowledge, root domain.URI) skillShown {
	return skillShown{described: describedBy(k), URI: string(placeOf(k)), RootURI: string(root)}
}

func (s *Server) listSkills(ctx context.Context, q *query) (any, error) {
	const most = 1000
	limit := min(max(q.whole("node_limit", most), 0), most)
	roots := q.caller.skillRoots()
	if target := q.text("target_uri"); target != "" {
		a, err := q.caller.address("target_uri", target)
		if err != nil {
			return nil, err
		}
		if roots = []domain.URI{a.uri}; a.beyond {
			roots = nil
		}
	}
	list := struct {
		Roots  []string     `json:"root_uris"`
		Skills []skillShown `json:"skills"`
		Total  int          `json:"total"`
	}{Roots: []string{}, Skills: []skillShown{}}
	for _, root := range roots {
		list.Roots = append(list.Roots, string(root))
		err := s.walkItems(ctx, q, address{uri: root}, func(k *domain.Knowledge) (more bool) {
			if k.ContextType == domain.Skill && (domain.URI(k.Text.URI).Name() == domain.SkillName || domain.URI(k.Text.URI).Parent() == root) {
				list.Skills = append(list.Skills, skillOf(k, root))
			}
			return len(list.Skills) < limit
		})
		if err != nil && !errors.Is(err, domain.ErrNotFound) && !errors.Is(err, errFar) {
			return nil, err
		}
	}
	list.Skills = list.Skills[:min(len(list.Skills), limit)]
	list.Total = len(list.Skills)
	return list, nil
}

func (s *Server) findSkills(ctx context.Context, q *query) (any, error) {
	var in findRequest
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	in.ContextType = oneOrMore{string(domain.Skill)}
	found, err := s.answer(ctx, q, in)
	return struct {
		Skills []match `json:"skills"`
		Total  int     `json:"total"`
	}{found.Skills, found.Total}, err
}

// validateSkill tells what is wrong with a skill, and takes nothing in.
func (s *Server) validateSkill(ctx context.Context, q *query) (any, error) {
	k, _, err := s.skillIn(ctx, q)
	verdict := map[string]any{"valid": err == nil, "name": k.Name, "description": k.Description, "errors": []string{}, "warnings": []string{}}
	if refusal, is := errors.AsType[*domain.Refusal](err); is && errors.Is(err, errSkill) {
		verdict["errors"] = []string{refusal.Detail}
		return verdict, nil
	}
	if err == nil && len(k.Text) > domain.MaxContent {
		verdict["valid"], verdict["errors"] = false, []string{"the skill's text is too long"}
	}
	return verdict, err
}

func (s *Server) showSkill(ctx context.Context, q *query) (any, error) {
	k, err := s.skillNamed(ctx, q, q.path("name"))
	if err != nil {
		return nil, err
	}
	s.given(q, k)
	shown := skillOf(k, placeOf(k).Parent())
	shown.Content, shown.Created, shown.Updated = k.Text.Content, k.CreatedAt, k.UpdatedAt
	return shown, nil
}

func (s *Server) removeSkill(ctx context.Context, q *query) (any, error) {
	k, err := s.skillNamed(ctx, q, q.path("name"))
	if err != nil {
		return nil, err
	}
	place := placeOf(k)
	_, err = s.each(ctx, q, place, q.deletion)
	return map[string]string{"uri": string(place), "name": q.path("name")}, err
}
