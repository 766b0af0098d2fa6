package memory_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir/memory"
)

func TestLinesAreCompared(t *testing.T) {
	t.Parallel()
	tests := []struct{ a, b, ops string }{
		{"", "", ""},
		{"a", "a", " "},
		{"", "a b", "++"},
		{"a b", "", "--"},
		{"a b c", "a x c", " -+ "},
		{"a b c", "b c d", "-  +"},
		{"a a a", "a a", "  -"},
		{"x y", "y x", "- +"},
	}
	for _, test := range tests {
		ops, _ := memory.CompareLines(strings.Fields(test.a), strings.Fields(test.b))
		if string(ops) != test.ops {
			t.Errorf("%q to %q takes %q, want %q", test.a, test.b, ops, test.ops)
		}
	}
}

func TestTextsThatShareLittleAreComparedToo(t *testing.T) {
	t.Parallel()
	var a, b []string
	for i := range 3000 {
		a, b = append(a, strings.Repeat("a", i%50)+"x"), append(b, strings.Repeat("b", i%50)+"y")
	}
	ops, _ := memory.CompareLines(a, b)
	if len(ops) != 6000 {
		t.Errorf("%d operations", len(ops))
	}
}

func FuzzCompareLines(f *testing.F) {
	f.Add("a\nb\nc", "a\nx\nc")
	f.Add("", "a")
	f.Add("a\na\nb\na", "a\nb\na\na")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
		ops, texts := memory.CompareLines(x, y)
		var before, after []string
		for i, op := range ops {
			if op != '+' {
				before = append(before, texts[i])
			}
			if op != '-' {
				after = append(after, texts[i])
			}
		}
		if !slices.Equal(before, x) || !slices.Equal(after, y) {
			t.Errorf("%q to %q gives %q %q", x, y, ops, texts)
		}
		if strings.Contains(string(ops), "+-") {
			t.Errorf("an addition comes before a removal: %q", ops)
		}
	})
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
	if diff := cmp.Diff(want, memory.Diff(before, after)); diff != "" {
		t.Error(diff)
	}
	if got := memory.Diff(before, before); got != "" {
		t.Errorf("no difference gives %q", got)
	}
}

func TestChangesNearEachOtherShareAHunk(t *testing.T) {
	t.Parallel()
	before, after := "", ""
	for i := range 30 {
		l := string(rune('a'+i%26)) + "\n"
		before += l
		if i == 5 || i == 11 || i == 20 {
			l = "changed\n"
		}
		after += l
	}
	got := memory.Diff(memory.Files{"x": []byte(before)}, memory.Files{"x": []byte(after)})
	if n := strings.Count(got, "@@ -"); n != 2 {
		t.Errorf("%d hunks, want lines 6 and 12 together and line 21 alone:\n%s", n, got)
	}
}
