package memory_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/memory"
)

// What a person spells otherwise is found under memoir's own names; no two files of a memory
// differ in capitals alone, and none is left out.
func TestFilesThatDifferInCapitalsStayApart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ on, want []string }{
		{on: []string{"memory.md", "Memory_Summary.MD"}, want: []string{"MEMORY.md", "memory_summary.md"}},
		{on: []string{"MEMORY.md", "memory.md"}, want: []string{"MEMORY.md", "MEMORY-2.md"}},
		{on: []string{"Skills/Deploy/skill.md", "Skills/Deploy/Scripts/Run.sh"}, want: []string{"skills/deploy/SKILL.md", "skills/deploy/scripts/Run.sh"}},
		{on: []string{"skills/Deploy/SKILL.md", "skills/deploy/SKILL.md", "skills/deploy/scripts/x"},
			want: []string{"skills/deploy/SKILL-2.md", "skills/deploy/SKILL.md", "skills/deploy/scripts/x"}},
		{on: []string{"skills/Größe/SKILL.md", "skills/Grüße/SKILL.md"}, want: []string{"skills/gr-e/SKILL.md", "skills/gr-e/SKILL-2.md"}},
		{on: []string{"skills/a/Scripts/x", "skills/a/scripts/X", "skills/a/scripts/y"}, want: []string{"skills/a/scripts/x-2", "skills/a/scripts/X", "skills/a/scripts/y"}},
		{on: []string{"Notes/a.md", "notes/a.md", "notes/A.md"}, want: []string{"Notes/a.md", "Notes/a-2.md", "Notes/A-3.md"}},
		{on: []string{"Memory.md/x", "skills", "manifest.JSON/x"}, want: []string{"Memory-2.md/x", "skills-2", "manifest-2.JSON/x"}},
		{on: []string{"café.md", "cafe\u0301.md"}, want: []string{"caf-.md", "cafe-.md"}},
		{on: []string{"übel.md", "ändern/x", "ärgern/x"}, want: []string{"bel.md", "ndern/x", "rgern/x"}},
	} {
		got, ok := memory.Distinct(test.on)
		if diff := cmp.Diff(test.want, got); !ok || diff != "" {
			t.Errorf("%v: %s", test.on, diff)
		}
		files := memory.Files{}
		for _, path := range got {
			files[path] = nil
		}
		for _, path := range []string{"MEMORY.md", "memory_summary.md"} {
			delete(files, path)
		}
		if _, err := memory.Layout(memoir.Consolidation{}, files); err != nil || len(got) != len(test.on) {
			t.Errorf("%v: %v", got, err)
		}
	}
}

// What a model makes gives way to what people put in its place.
func TestWhatPeoplePutBesideAMemoryKeepsItsPlace(t *testing.T) {
	t.Parallel()
	skill := func(name string, scripts ...string) memoir.Skill {
		s := memoir.Skill{Name: name, Content: "how to " + name}
		for _, path := range scripts {
			s.Scripts = append(s.Scripts, memoir.SkillFile{Path: path, Content: "a model's"})
		}
		return s
	}
	made := memoir.Consolidation{MemoryMD: "m", MemorySummary: "s", Skills: []memoir.Skill{skill("deploy", "run.sh", "lib/a"), skill("deploy-2"), skill("test", "x", "y")}}
	for _, test := range []struct {
		theirs, want []string
	}{
		{nil, []string{"skills/deploy-2/SKILL.md", "skills/deploy/SKILL.md", "skills/deploy/scripts/lib/a", "skills/deploy/scripts/run.sh", "skills/test/SKILL.md", "skills/test/scripts/x", "skills/test/scripts/y"}},
		{[]string{"skills/deploy"}, []string{"skills/deploy-2/SKILL.md", "skills/deploy-3/SKILL.md", "skills/deploy-3/scripts/lib/a", "skills/deploy-3/scripts/run.sh", "skills/test/SKILL.md", "skills/test/scripts/x", "skills/test/scripts/y"}},
		{[]string{"skills/test/scripts/X", "skills/test/scripts/y", "skills/deploy/scripts/Lib/b", "skills/deploy/README"},
			[]string{"skills/deploy-2/SKILL.md", "skills/deploy/SKILL.md", "skills/deploy/scripts/run.sh", "skills/test/SKILL.md"}},
	} {
		theirs := memory.Files{}
		want := memory.Files{"MEMORY.md": []byte("m\n"), "memory_summary.md": []byte("s\n")}
		for _, path := range test.theirs {
			theirs[path], want[path] = []byte("a person's"), []byte("a person's")
		}
		files, err := memory.Layout(memory.GiveWay(made, theirs), theirs)
		if err != nil {
			t.Errorf("%v: %v", test.theirs, err)
		}
		for _, path := range test.want {
			want[path] = files[path]
		}
		if diff := cmp.Diff(want.Paths(), files.Paths()); diff != "" {
			t.Errorf("%v: %s", test.theirs, diff)
		}
		for path := range theirs {
			if string(files[path]) != "a person's" {
				t.Errorf("%s was written over", path)
			}
		}
	}
	if len(made.Skills[0].Scripts) != 2 || made.Skills[0].Name != "deploy" {
		t.Errorf("what was given has changed: %+v", made.Skills[0])
	}
}
