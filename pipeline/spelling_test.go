package pipeline_test

import (
	"os"
	"strings"
	"testing"

	"memoir/pipeline"
)

// Names that people choose freely are carried on. Where two files would be one on some systems,
// nothing is published until a person gives one another name, and nothing is lost.
func TestNamesThatPeopleChoose(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.write("my notes.md", "mine\n")
	a.write("café.md", "also mine\n")
	a.write("memory.md", "a page of mine\n")
	a.session("cccccccc-3", "Always write the header of a fixture.")
	report := a.run()
	if len(report.Phase2) != 1 || report.Phase2[0].Outcome == pipeline.OutcomePublished || !strings.Contains(report.Phase2[0].Detail, "memory.md") {
		t.Fatalf("%+v", report.Phase2)
	}
	if err := os.Rename(a.path("memory.md"), a.path("page.md")); err != nil {
		t.Fatal(err)
	}
	st := open(t, a.home)
	defer st.Close()
	if _, err := st.Retry(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.run()
	files := a.live().Files
	for file, text := range map[string]string{
		"my notes.md": "mine", "café.md": "also mine", "page.md": "a page of mine", "MEMORY.md": "header of a fixture",
	} {
		if !strings.Contains(string(files[file]), text) {
			t.Errorf("%s does not say %q: %s", file, text, files.Paths())
		}
	}
}
