package integrate

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/failpoint"
)

// SkillDir is a directory with links to the skills of memories, and the agents that read it.
type SkillDir struct {
	Dir    string   `json:"dir"`
	Agents []string `json:"agents"`
	Made   []string `json:"made,omitempty"` // directories that were created for it, outer ones first
}

// LinkSkills records that an agent gets links to the skills of memories. RefreshSkills creates the links.
func (r *Record) LinkSkills(e Env, a Agent) error {
	dir := a.skills(e)
	i := slices.IndexFunc(r.Skills, func(d SkillDir) bool { return d.Dir == dir })
	switch {
	case i < 0:
		r.Skills = append(r.Skills, SkillDir{dir, []string{a.Name}, missing(dir)})
	case slices.Contains(r.Skills[i].Agents, a.Name):
		return nil
	default:
		r.Skills[i].Agents = append(r.Skills[i].Agents, a.Name)
	}
	return r.save()
}

// UnlinkSkills removes an agent's links, unless another agent reads the same directory.
func (r *Record) UnlinkSkills(agent string) error {
	i := slices.IndexFunc(r.Skills, func(d SkillDir) bool { return slices.Contains(d.Agents, agent) })
	if i < 0 {
		return nil
	}
	if d := r.Skills[i]; len(d.Agents) > 1 {
		r.Skills[i].Agents = slices.DeleteFunc(d.Agents, func(name string) bool { return name == agent })
	} else if err := r.link(d, nil); err != nil {
		return err
	} else {
		r.Skills = slices.Delete(r.Skills, i, i+1)
	}
	return r.save()
}

// RefreshSkills updates the links in every directory to the present skills of memories. Without an
// installation it does nothing.
func (r *Record) RefreshSkills() error {
	if len(r.Skills) == 0 {
		return nil
	}
	if _, err := os.ReadDir(filepath.Join(r.home, "projects")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // the links stay
	}
	wanted := map[string]string{}
	found, err := fs.Glob(os.DirFS(r.home), "projects/*/memory/skills/*/SKILL.md")
	for _, file := range found {
		parts := strings.Split(file, "/")
		if offered := memoir.OfferedSkill(parts[1], parts[4]); memoir.LegalSkill(offered) {
			wanted[offered] = filepath.Join(r.home, filepath.FromSlash(path.Dir(file)))
		}
	}
	for _, d := range r.Skills {
		err = errors.Join(err, r.link(d, wanted))
	}
	return err
}

// link creates and removes links in one directory. Files, and links that lead elsewhere than into memoir's home, stay.
func (r *Record) link(d SkillDir, wanted map[string]string) error {
	entries, err := os.ReadDir(d.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there := map[string]bool{}
	for _, entry := range entries {
		path := filepath.Join(d.Dir, entry.Name())
		target, err := os.Readlink(path)
		own := err == nil && strings.HasPrefix(target, filepath.Join(r.home, "projects")+string(filepath.Separator))
		if there[entry.Name()] = !own || wanted[entry.Name()] == target; !there[entry.Name()] {
			if err := failpoint.Remove(path); err != nil {
				return err
			}
		}
	}
	for name, target := range wanted {
		if there[name] {
			continue
		}
		if err := failpoint.MkdirAll(d.Dir, 0o700); err != nil {
			return err
		}
		if err := failpoint.Symlink(target, filepath.Join(d.Dir, name)); err != nil {
			return err
		}
	}
	if len(wanted) == 0 {
		removeDirs(d.Made)
	}
	return nil
}
