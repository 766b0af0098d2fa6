package memory_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/memory"
)

func consolidation() memoir.Consolidation {
	return memoir.Consolidation{
		MemoryMD: "# Memory", MemorySummary: "# Summary\n",
		Skills: []memoir.Skill{{
			Name: "deploy", Content: "---\nname: deploy\n---\n",
			Scripts:   []memoir.SkillFile{{Path: "run.sh", Content: "#!/bin/sh"}},
			Templates: []memoir.SkillFile{{Path: "k8s/a.yml", Content: "a: 1\n"}},
			Examples:  []memoir.SkillFile{{Path: "one.md", Content: ""}},
		}},
	}
}

func TestEachTextHasItsPlace(t *testing.T) {
	t.Parallel()
	extra := memory.Files{"raw_memories.md": []byte("raw"), "rollout_summaries/a.md": []byte("a")}
	files, err := memory.Layout(consolidation(), extra)
	must(t, err)
	want := memory.Files{
		"MEMORY.md": []byte("# Memory\n"), "memory_summary.md": []byte("# Summary\n"),
		"skills/deploy/SKILL.md":            []byte("---\nname: deploy\n---\n"),
		"skills/deploy/scripts/run.sh":      []byte("#!/bin/sh"),
		"skills/deploy/templates/k8s/a.yml": []byte("a: 1\n"),
		"skills/deploy/examples/one.md":     []byte(""),
		"raw_memories.md":                   []byte("raw"), "rollout_summaries/a.md": []byte("a"),
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Error(diff)
	}
}

func TestAConsolidationIsReadBackFromItsFiles(t *testing.T) {
	t.Parallel()
	extra := memory.Files{
		"raw_memories.md": []byte("raw"), "notes.md": []byte("mine"),
		"skills/half/scripts/x.sh": []byte("a skill without SKILL.md"),
		"skills/README.md":         []byte("no skill"),
		"skills/Deploy_2/SKILL.md": []byte("no legal name"),
		"skills/deploy/NOTES.md":   []byte("no folder of a skill"),
	}
	c := consolidation()
	c.MemoryMD += "\n"
	files, err := memory.Layout(c, extra)
	must(t, err)
	if diff := cmp.Diff(c, files.Consolidation()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(extra, files.Extra()); diff != "" {
		t.Error(diff)
	}
}

func TestIllegalLayoutsAreRefused(t *testing.T) {
	t.Parallel()
	skill := func(change func(*memoir.Skill)) memoir.Consolidation {
		c := consolidation()
		change(&c.Skills[0])
		return c
	}
	script := func(path string) memoir.Consolidation {
		return skill(func(s *memoir.Skill) { s.Scripts = []memoir.SkillFile{{Path: path}} })
	}
	tests := []struct {
		name  string
		c     memoir.Consolidation
		extra memory.Files
	}{
		{"a skill named as a path", skill(func(s *memoir.Skill) { s.Name = "../x" }), nil},
		{"a skill with capitals", skill(func(s *memoir.Skill) { s.Name = "Deploy" }), nil},
		{"a skill without a name", skill(func(s *memoir.Skill) { s.Name = "" }), nil},
		{"a skill named as a device", skill(func(s *memoir.Skill) { s.Name = "con" }), nil},
		{"a skill with a long name", skill(func(s *memoir.Skill) { s.Name = strings.Repeat("a", 65) }), nil},
		{"a skill twice", memoir.Consolidation{Skills: []memoir.Skill{{Name: "a"}, {Name: "a"}}}, nil},
		{"a script that climbs out", script("../../../MEMORY.md"), nil},
		{"a script that climbs within", script("x/../run.sh"), nil},
		{"an absolute script", script("/run.sh"), nil},
		{"a script with a drive", script("C:/run.sh"), nil},
		{"a script without a name", script(""), nil},
		{"a skill where a person's file is", consolidation(), memory.Files{"skills/deploy": nil}},
		{"scripts that differ by case", skill(func(s *memoir.Skill) {
			s.Scripts = []memoir.SkillFile{{Path: "a.sh"}, {Path: "A.sh"}}
		}), nil},
		{"a script that is a directory too", skill(func(s *memoir.Skill) {
			s.Scripts = []memoir.SkillFile{{Path: "a"}, {Path: "a/b"}}
		}), nil},
		{"an extra file in the place of another", memoir.Consolidation{}, memory.Files{"MEMORY.md": nil}},
		{"an extra file that differs by case", memoir.Consolidation{}, memory.Files{"memory.MD": nil}},
		{"a directory that differs by case", memoir.Consolidation{}, memory.Files{"a/x": nil, "A/y": nil}},
		{"an extra file that climbs out", memoir.Consolidation{}, memory.Files{"../x": nil}},
		{"the manifest's name", memoir.Consolidation{}, memory.Files{"manifest.json": nil}},
		{"a huge file", memoir.Consolidation{}, memory.Files{"big": make([]byte, 16<<20+1)}},
	}
	for _, test := range tests {
		if _, err := memory.Layout(test.c, test.extra); memoir.CodeOf(err) != memoir.CodeInvalid {
			t.Errorf("%s: got %v", test.name, err)
		}
	}
}

func TestUnifiedDiff(t *testing.T) {
	t.Parallel()
	before := memory.Files{
		"MEMORY.md": []byte("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n"),
		"gone.md":   []byte("x\n"), "same.md": []byte("s\n"), "data.bin": {0xff},
	}
	after := memory.Files{
		"MEMORY.md": []byte("1\n2\n3\nfour\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16"),
		"new.md":    []byte("y\n"), "same.md": []byte("s\n"), "data.bin": {0xfe},
	}
	want := `--- a/MEMORY.md
+++ b/MEMORY.md
@@ -1,7 +1,7 @@
 1
 2
 3
-4
+four
 5
 6
 7
@@ -13,3 +13,4 @@
 13
 14
 15
+16
\ No newline at end of file
Binary files a/data.bin and b/data.bin differ
--- a/gone.md
+++ /dev/null
@@ -1,1 +0,0 @@
-x
--- /dev/null
+++ b/new.md
@@ -0,0 +1,1 @@
+y
`
	var got strings.Builder
	for _, change := range memory.Changes(before, after) {
		got.WriteString(change.Diff)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestStatementsAreFoundWithoutDecodingAll(t *testing.T) {
	t.Parallel()
	odd := `say "a\b" (@c!) <d>` + "\n"
	content := memory.EncodeStatements([]memoir.Extraction{
		{SessionKey: "codex:a", Statements: []memoir.Statement{{Text: "one", Signature: odd}, {Text: "two"}}},
		{SessionKey: "codex:b", Statements: []memoir.Statement{{Text: "three", Signature: odd}, {Text: "four", Signature: "x y z"}}},
	}, strings.Clone)
	if diff := cmp.Diff([]string{odd, "x y z"}, memory.Signed(content, map[string]bool{"x y z": true, "x y": true, odd: true})); diff != "" {
		t.Error(diff)
	}
	found, err := memory.StatementsWith(content, memory.InStatements(odd))
	var got []string
	for _, e := range found {
		for _, s := range e.Statements {
			got = append(got, e.SessionKey+" "+s.Text)
		}
	}
	if diff := cmp.Diff([]string{"codex:a one", "codex:b three"}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if got := memory.Signed([]byte(`{"signature":"cut`), map[string]bool{"cu": true}); len(got) != 0 {
		t.Errorf("of a file that was cut: %q", got)
	}
}
