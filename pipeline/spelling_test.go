package pipeline_test

import (
	"os"
	"strings"
	"testing"

	"memoir/pipeline"
)

// rename gives a live file or directory another name.
func (a app) rename(from, to string) {
	a.t.Helper()
	must(a.t, os.Rename(a.path(from), a.path(to)))
}

// next makes another generation, and one run more, which finds nothing to do.
func (a app) next() {
	a.t.Helper()
	a.session("cccccccc-3", "Always write the header of a fixture.")
	report := a.run()
	if len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished {
		a.t.Fatalf("%+v, %+v", report.Phase2, report.Warnings)
	}
	if again := a.run(); len(again.Phase2) != 0 {
		a.t.Errorf("the run after that: %+v", again.Phase2)
	}
}

// Names that a person spells in other capitals cost neither them nor the memory anything.
func TestNamesInOtherCapitalsLoseNothing(t *testing.T) {
	t.Parallel()
	skill := func(text string) string { return "---\nname: ours\ndescription: ours\n---\n\n- " + text + "\n" }
	for name, test := range map[string]struct {
		edit func(a app)
		want map[string]string // by file, what it holds
	}{
		"MEMORY.md": {func(a app) {
			a.edit("MEMORY.md", "\n## Ours\n\n- ask Ada first")
			a.rename("MEMORY.md", "memory.md")
		}, map[string]string{"MEMORY.md": "- ask Ada first"}},
		"two of them": {func(a app) { a.write("memory.md", "a page of mine\n") },
			map[string]string{"MEMORY-2.md": "a page of mine"}},
		"a skill": {func(a app) { a.write("Skills/Foo/Skill.md", skill("as Ada does it")) },
			map[string]string{"skills/foo/SKILL.md": "as Ada does it"}},
		"two skills": {func(a app) {
			a.write("skills/foo/SKILL.md", skill("as Ada does it"))
			a.write("skills/Foo/SKILL.md", skill("as Bob does it"))
		}, map[string]string{"skills/foo/SKILL.md": "as Ada does it", "skills/foo/SKILL-2.md": "as Bob does it"}},
		"files of a skill": {func(a app) {
			a.write("skills/foo/SKILL.md", skill("as Ada does it"))
			a.write("skills/foo/scripts/Run", "Ada's\n")
			a.write("skills/foo/Scripts/run", "Bob's\n")
		}, map[string]string{"skills/foo/scripts/Run": "Ada's", "skills/foo/scripts/run-2": "Bob's"}},
		"twins in letters that are no ASCII": {func(a app) {
			a.write("café.md", "mine\n")
			a.write("cafe\u0301.md", "yours\n")
		}, map[string]string{"caf-.md": "mine", "cafe-.md": "yours"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t)
			test.edit(a)
			a.next()
			files := a.live().Files
			for file, text := range test.want {
				if !strings.Contains(string(files[file]), text) {
					t.Errorf("%s does not say %q: %s", file, text, files.Paths())
				}
			}
			if text := a.text("MEMORY.md"); !strings.Contains(text, "npm") || !strings.Contains(text, "header of a fixture") {
				t.Errorf("the memory lost what sessions said:\n%s", text)
			}
		})
	}
}
