package pipeline

import (
	"context"
	"fmt"
	"slices"

	"memoir/secrets"
	"memoir/store"
)

// judge looks for secrets in the texts of one project that has rules of its own, or in all
// others. What one judge finds the others know.
type judge struct {
	scanners  []*secrets.Scanner
	redactors []*secrets.Redactor
	clean     map[textSum]bool // texts in which no rule sees anything
}

func newJudge(scanners []*secrets.Scanner, known *secrets.Redactor) *judge {
	j := &judge{scanners: scanners, clean: map[textSum]bool{}}
	for _, scanner := range scanners {
		j.redactors = append(j.redactors, known.By(scanner))
	}
	return j
}

// judgeOf is who judges the texts of a project; "" stands for no project.
func (r *run) judgeOf(projectID string) *judge {
	if j, ok := r.judges[projectID]; ok {
		return j
	}
	return r.judges[""]
}

// appoint finds a judge for each project that has rules of its own. Where those are invalid,
// its texts cannot be judged by them, which is said as of a file that cannot be read.
func (s *sweep) appoint(ctx context.Context) error {
	s.known = s.scanner.Session()
	s.judges = map[string]*judge{"": newJudge([]*secrets.Scanner{s.scanner}, s.known)}
	if s.store == nil {
		return nil
	}
	projects, err := s.store.Projects(ctx)
	if err != nil {
		return err
	}
	for _, p := range projects {
		if s.project != "" && p.ID != s.project {
			continue
		}
		if fault := s.obey(p.Project); fault != nil {
			s.unruled = append(s.unruled, s.redact(fmt.Sprintf("project %s by its own rules: %v", p.ID, fault)))
		}
		if scanners := s.scannersFor(p.ID); !slices.Contains(scanners, s.scanner) {
			s.judges[p.ID] = newJudge(scanners, s.known)
		}
	}
	return nil
}

// ownerOf is the project with rules of its own that a text of the database belongs to,
// if there is one.
func (s *sweep) ownerOf(t store.Text) string { return s.owners[t.Table+"\x00"+t.Key] }

// findOwners finds out which texts of the database belong to projects with rules of their
// own.
func (s *sweep) findOwners(ctx context.Context) error {
	s.owners = map[string]string{}
	for id := range s.judges {
		if id == "" {
			continue
		}
		err := s.store.Texts(ctx, id, func(t store.Text) error {
			s.owners[t.Table+"\x00"+t.Key] = id
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// text is a text without the secrets that are known and those that the rules see.
func (j *judge) text(text string) string {
	for _, redactor := range j.redactors {
		text = redactor.Text(text)
	}
	return text
}

// again is text for one in which the rules see nothing.
func (j *judge) again(text string) string { return j.redactors[0].AgainText(text) }

// part is text for the part of a piece.
func (j *judge) part(p Piece) string {
	out := j.redactors[0].Part(p.Text, p.Start, p.End)
	for _, redactor := range j.redactors[1:] {
		out = redactor.Text(out)
	}
	return out
}

// find lists what the rules see.
func (j *judge) find(text string) (found []secrets.Finding) {
	for _, scanner := range j.scanners {
		for _, f := range scanner.Find(text) {
			if !slices.Contains(found, f) {
				found = append(found, f)
			}
		}
	}
	return found
}
