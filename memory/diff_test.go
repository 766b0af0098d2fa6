package memory_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir/memory"
)

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
