package prompts

import (
	"strings"
	"testing"
	"testing/fstest"

	"memoir"
)

func TestThePromptsOfTheProgramAreRight(t *testing.T) {
	t.Parallel()
	s, err := Default()
	if err != nil {
		t.Fatal(err, memoir.HintOf(err))
	}
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(declared) || len(s.templates) != len(declared) {
		t.Errorf("%d files, %d declared, %d parsed", len(entries), len(declared), len(s.templates))
	}
}

func TestATemplateUsesExactlyItsVariables(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       string // of "message; hint"; empty: no error
	}{
		{"all of them", "{{a}} and {{b}}", ""},
		{"one twice, with spaces", "{{ a }}{{b}}{{a}}", ""},
		{"JSON in the text", `{{a}} {"x": {"y": 1}} {{b}}`, ""},
		{"one missing", "only {{a}}", "prompt x.md: variable {{b}} is missing; put it where its value belongs"},
		{"one unknown", "{{a}} {{b}} {{c}}", "prompt x.md: unknown variable {{c}}; its variables are a, b"},
		{"case counts", "{{A}} {{b}}", "prompt x.md: unknown variable {{A}}"},
		{"an empty one", "{{a}} {{b}} {{}}", "prompt x.md: unknown variable {{}}"},
		{"not closed", "{{a}} {{b}} {{a", `prompt x.md, line 1: "{{a" is not closed; close each {{ with }}`},
		{"not closed on its line", "{{a}}\n{{b\n}} and the rest", `prompt x.md, line 2: "{{b" is not closed`},
		{"two braces that open nothing", `{{a}} {{b}} ${{"{{"}} secrets }}`, ""},
		{"a mark of the byte order", "\ufeff{{a}} {{b}}", ""},
		{"nothing but that mark", "\ufeff", "prompt x.md is empty; write the prompt, or remove the file"},
		{"nothing", " \n", "prompt x.md is empty; write the prompt, or remove the file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := parse("x.md", test.text, []string{"a", "b"})
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if got := err.Error() + "; " + memoir.HintOf(err); memoir.CodeOf(err) != memoir.CodeConfig || !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	if _, err := parse("x.md", "{{a}}", nil); err == nil || memoir.HintOf(err) != "it has no variables" {
		t.Errorf("got %v; %s", err, memoir.HintOf(err))
	}
}

func TestValuesAreNotExpanded(t *testing.T) {
	t.Parallel()
	tmpl, err := parse("x.md", "[{{a}}|{{b}}]", []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := tmpl.render(map[string]string{"a": "{{b}} {{", "b": "}}{{a}}"})
	if want := "[{{b}} {{|}}{{a}}]"; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if _, err := tmpl.render(map[string]string{"a": ""}); err == nil || !strings.Contains(err.Error(), "x.md: variable b has no value") {
		t.Errorf("a value is missing: %v", err)
	}
}

func TestTwoBracesCanBeWritten(t *testing.T) {
	t.Parallel()
	tmpl, err := parse("x.md", "\ufeff${{ \"{{\" }} x }} is {{a}}", []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tmpl.render(map[string]string{"a": "1"}); err != nil || got != "${{ x }} is 1" {
		t.Errorf("got %q, %v", got, err)
	}
}

// What was left open is told, not all that follows it.
func TestAnOpenTagIsToldInALine(t *testing.T) {
	t.Parallel()
	_, err := parse("x.md", "{{a}}\n\n{{b and "+strings.Repeat("the rest of it ", 400), []string{"a", "b"})
	if err == nil || len(err.Error()) > 120 || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("got %v", err)
	}
}

func TestAPromptMayBeReplaced(t *testing.T) {
	t.Parallel()
	s, err := Load(fstest.MapFS{fileReadPath: {Data: []byte("{{project}} at {{root}}: {{memory_summary}}")}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.ReadPath(ReadPathVars{Project: "app", Root: "/r/", MemorySummary: "text"}); err != nil || got != "app at /r: text" {
		t.Errorf("got %q, %v", got, err)
	}
	own, _, err := StageOne(StageOneVars{})
	if err != nil {
		t.Fatal(err)
	}
	if system, _, err := s.StageOne(StageOneVars{}); err != nil || system != own {
		t.Errorf("a prompt that was not replaced changed, %v", err)
	}
	_, err = Load(fstest.MapFS{fileStageOneInput: {Data: []byte("{{thread_id}} {{transcript}}")}})
	if memoir.CodeOf(err) != memoir.CodeConfig || !strings.Contains(err.Error(), "prompt stage_one_input.md: unknown variable {{transcript}}") {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("{{a}}{{b}}", "x")
	f.Add("{{{a}}}", "{{a}}")
	f.Add("}}{{", "")
	f.Fuzz(func(t *testing.T, text, value string) {
		tmpl, err := parse("x.md", text, []string{"a"})
		if err != nil {
			return
		}
		got, err := tmpl.render(map[string]string{"a": value})
		if err != nil || !strings.Contains(got, value) {
			t.Errorf("%q with %q became %q, %v", text, value, got, err)
		}
	})
}
