package integrate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/failpoint"
)

// Linked is a directory of skills in which links to those of memories are kept.
type Linked struct {
	Agent string   `json:"agent"`
	Dir   string   `json:"dir"`
	Made  []string `json:"made,omitempty"`
}

// LinkSkills records that an agent is offered the skills of memories. It reports whether that is new. The
// links themselves are made by RefreshSkills.
func (r *Record) LinkSkills(e Env, a Agent) (bool, error) {
	if a.skills == nil || slices.ContainsFunc(r.Skills, func(l Linked) bool { return l.Agent == a.Name }) {
		return false, nil
	}
	dir := a.skills(e, a.dir(e))
	r.Skills = append(r.Skills, Linked{a.Name, dir, missing(dir)})
	return true, r.save()
}

// UnlinkSkills takes an agent's links away, unless another agent reads the same directory.
func (r *Record) UnlinkSkills(agent string) error {
	i := slices.IndexFunc(r.Skills, func(l Linked) bool { return l.Agent == agent })
	if i < 0 {
		return nil
	}
	gone := r.Skills[i]
	others := slices.Delete(slices.Clone(r.Skills), i, i+1)
	if k := slices.IndexFunc(others, func(l Linked) bool { return l.Dir == gone.Dir }); k >= 0 {
		if len(others[k].Made) == 0 {
			others[k].Made = gone.Made
		}
	} else if err := r.link(gone, nil); err != nil {
		return err
	}
	r.Skills = others
	return r.save()
}

// RefreshSkills makes the links in every directory lead to the skills that memories have now. It does
// nothing where nothing is installed.
func (r *Record) RefreshSkills() error {
	if len(r.Skills) == 0 {
		return nil
	}
	wanted := map[string]string{}
	projects := filepath.Join(r.home, "projects")
	entries, err := os.ReadDir(projects)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = nil
	for _, project := range entries {
		skills := filepath.Join(projects, project.Name(), "memory", "skills")
		names, err := os.ReadDir(skills)
		if err != nil {
			continue // no memory, or none with skills
		}
		for _, name := range names {
			target, offered := filepath.Join(skills, name.Name()), memoir.OfferedSkill(project.Name(), name.Name())
			if _, err := os.Stat(filepath.Join(target, "SKILL.md")); err == nil && memoir.LegalSkill(offered) {
				wanted[offered] = target
			}
		}
	}
	done := map[string]bool{}
	for _, l := range r.Skills {
		if !done[l.Dir] {
			done[l.Dir] = true
			err = errors.Join(err, r.link(l, wanted))
		}
	}
	return err
}

// owns reports whether a link leads into memoir's home.
func (r *Record) owns(target string) bool {
	return strings.HasPrefix(target, filepath.Join(r.home, "projects")+string(filepath.Separator))
}

// link brings the links of one directory to those that are wanted. What is not a link of memoir's stays.
func (r *Record) link(l Linked, wanted map[string]string) error {
	entries, err := os.ReadDir(l.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there := map[string]bool{}
	for _, entry := range entries {
		path := filepath.Join(l.Dir, entry.Name())
		target, err := os.Readlink(path)
		if err != nil || !r.owns(target) {
			there[entry.Name()] = true
			continue
		}
		if wanted[entry.Name()] == target {
			there[entry.Name()] = true
		} else if err := failpoint.Remove(path); err != nil {
			return err
		}
	}
	for name, target := range wanted {
		if there[name] {
			continue
		}
		if _, err := makeDirs(l.Dir); err != nil {
			return err
		}
		if err := failpoint.Symlink(target, filepath.Join(l.Dir, name)); err != nil {
			return err
		}
	}
	if len(wanted) == 0 {
		removeDirs(l.Made)
	}
	return nil
}
