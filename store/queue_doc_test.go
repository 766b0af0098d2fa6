package store

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestTheTestsThatTheQueuesPageNamesExist(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "queue.md"))
	must(t, err)
	names := regexp.MustCompile("`([a-z/]+)/(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(page), -1)
	if len(names) == 0 {
		t.Fatal("the page names no test")
	}
	rooms := map[string]string{}
	for _, name := range names {
		room, test := name[1], name[2]
		if _, ok := rooms[room]; !ok {
			files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(room), "*_test.go"))
			must(t, err)
			var b strings.Builder
			for _, file := range files {
				source, err := os.ReadFile(file)
				must(t, err)
				b.Write(source)
			}
			rooms[room] = b.String()
		}
		if !strings.Contains(rooms[room], "func "+test+"(") {
			t.Errorf("%s has no %s", room, test)
		}
	}
}
