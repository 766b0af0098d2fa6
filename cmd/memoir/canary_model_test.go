package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"memoir/model/modeltest"
	"memoir/model/modeltest/scribe"
)

// answering is a hand for the answer to a question, and how often that was asked before. Which
// one is asked first is nothing that a seed decides.
func (f *flock) answering(q scribe.Question) hand {
	key := strings.ReplaceAll(fmt.Sprint(q.Phase, q.Input, q.Objection != ""), f.base, "")
	f.mu.Lock()
	before := f.asked[key]
	f.asked[key]++
	f.mu.Unlock()
	return f.another(fmt.Sprint(key, before))
}

// echoes is a model that says canaries in each field of its answers, and in its errors.
func (f *flock) echoes(_ int, q scribe.Question, good modeltest.Step) modeltest.Step {
	h := f.answering(q)
	if h.random.IntN(5) == 0 && !f.healed.Load() {
		return h.refusal()
	}
	say := func(field string) string { return h.add("the key is", "an answer's "+field) }
	var answer any
	if q.Phase == scribe.Extract {
		e := q.Extraction()
		if e.RawMemory == "" {
			return good
		}
		for _, section := range []string{"Preferences", "Decisions", "Environment", "Files", "Outcome", "Failures", "Commands"} {
			in(section, h.plant("an answer's "+section, func(match string) string {
				return "- the key is " + strings.Join(strings.Fields(match), " ") + " [1]\n"
			}))(&e)
		}
		e.RolloutSummary += "\n- " + say("summary") + "\n"
		e.RolloutSlug = h.add("fix", "an answer's slug")
		answer = e
	} else {
		m := q.Memory()
		m.MemoryMD += "\n" + say("memory") + "\n"
		m.MemorySummary += "\n" + say("memory summary") + "\n"
		for _, field := range []string{"name", "description", "content"} {
			s := scribe.NewSkill("steps", "# Steps\n\n1. `make`\n")
			switch field {
			case "name":
				s.Name = h.add("steps", "a skill's name")
			case "description":
				s.Description = say("skill's description")
			case "content":
				s.Content += "\n" + say("skill's content") + "\n"
			}
			m.Skills = append(m.Skills, s)
		}
		answer = m
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return modeltest.Step{Status: 500}
	}
	return modeltest.Step{Text: string(text)}
}

// refuses is a model that fails, and says canaries of it.
func (f *flock) refuses(_ int, q scribe.Question, good modeltest.Step) modeltest.Step {
	if f.healed.Load() {
		return good
	}
	h := f.answering(q)
	return h.refusal()
}

func (h *hand) refusal() modeltest.Step {
	say := func(field string) string { return h.add("you sent", "an error's "+field) }
	switch h.random.IntN(4) {
	case 0:
		return modeltest.Step{Status: 400, Code: say("code"), Message: say("message")}
	case 1:
		return modeltest.Step{Raw: say("body"), Status: 500}
	case 2:
		return modeltest.Step{Text: say("answer that is none")}
	}
	return modeltest.Step{Status: 403, Message: say("message")}
}

var unnamable = regexp.MustCompile(`[^a-zA-Z0-9._-]+`)

// An edited memory is one that a person changed: what they wrote is theirs until it is
// published again.
type edited struct {
	root, live string
	canaries   map[string]string
}

// published reports whether another generation took the place of the edited one.
func (e edited) published() bool {
	live, err := os.Readlink(e.root)
	return err == nil && live != e.live
}

// edit changes live memories by hand: a line, a file and a skill with canaries in them.
func (f *flock) edit(home string, most int) (all []edited) {
	f.t.Helper()
	roots, err := filepath.Glob(filepath.Join(home, "projects", "*", "memory"))
	must(f.t, err)
	slices.Sort(roots)
	for _, root := range roots[:min(most, len(roots))] {
		live, err := os.Readlink(root)
		must(f.t, err)
		e := edited{root, live, map[string]string{}}
		all = append(all, e)
		after := func(text, field string) string {
			return f.plantIn(e.canaries, field, func(match string) string { return text + " " + match }, func(match string) string { return text + "\n" + match + "\nand so on" })
		}
		for _, name := range []string{"MEMORY.md", "memory_summary.md"} {
			path := filepath.Join(root, name)
			old, err := os.ReadFile(path)
			must(f.t, err)
			must(f.t, os.WriteFile(path, append(old, "\n- "+after("ask Ada for", "a line by hand")+"\n"...), 0o600))
		}
		skill := filepath.Join(root, "skills", "by-hand")
		must(f.t, os.MkdirAll(skill, 0o700))
		must(f.t, os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte("---\nname: by-hand\ndescription: "+after("Use it with", "a skill by hand")+"\n---\n\n1. `make`\n"), 0o600))
		// A name is redacted in the form in which it is kept.
		named := map[string]string{}
		name := f.plantIn(named, "a file's name by hand", func(match string) string {
			return "notes-" + strings.Trim(unnamable.ReplaceAllString(match, "-"), "-.") + ".md"
		})
		if len(name) < 100 {
			must(f.t, os.WriteFile(filepath.Join(root, name), []byte("# Notes\n"), 0o600))
			maps.Copy(e.canaries, named)
		}
	}
	return all
}

// in adds lines to a section of a raw memory.
func in(section, lines string) func(e *scribe.Extraction) {
	return func(e *scribe.Extraction) {
		if head := "## " + section + "\n"; strings.Contains(e.RawMemory, head) {
			e.RawMemory = strings.Replace(e.RawMemory, head, head+lines, 1)
		} else {
			e.RawMemory += "\n" + head + lines
		}
	}
}
