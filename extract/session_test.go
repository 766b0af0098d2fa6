package extract_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/extract"
)

// talk builds sessions for tests, item by item.
type talk struct{ items []memoir.Item }

func (t *talk) add(it memoir.Item) *talk {
	it.N = len(t.items) + 1
	it.CWD = "/src/app"
	t.items = append(t.items, it)
	return t
}

func (t *talk) says(text string) *talk {
	return t.add(memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: text})
}

func (t *talk) refuses(text string) *talk {
	return t.add(memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginRejection, Text: text})
}

func (t *talk) answers(text string) *talk {
	return t.add(memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Text: text, Final: true})
}

func (t *talk) narrates(text string) *talk {
	return t.add(memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Text: text})
}

func (t *talk) runs(line string, exit int, output string) *talk {
	return t.add(memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "Bash", Input: line, Output: output, Exit: &exit, Failed: exit != 0})
}

func (t *talk) edits(path string) *talk {
	return t.add(memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "Edit", Input: `{"file_path": "` + path + `"}`, Output: "ok"})
}

func (t *talk) fails(path string) *talk {
	return t.add(memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "Edit", Input: `{"file_path": "` + path + `"}`, Output: "rejected", Failed: true})
}

func (t *talk) input() extract.Input {
	return extract.Input{Items: t.items, Session: memoir.Session{
		ID: "019f1fd6-f9a0-7e13-8a8f-cbf5a3fd10d1", Source: memoir.SourceCodex, CWD: "/src/app", Branch: "main",
		CreatedAt: time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC), UpdatedAt: time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC),
	}}
}

func (t *talk) extract(tb testing.TB) memoir.Extraction {
	tb.Helper()
	e, usage, err := extract.NewBuiltin().Extract(context.Background(), t.input())
	if err != nil {
		tb.Fatal(err)
	}
	if usage != (memoir.Usage{}) {
		tb.Errorf("the built-in model used %+v", usage)
	}
	if err := extract.Check(e, t.items); err != nil {
		tb.Error(err)
	}
	return e
}

// of lists the texts of a kind in an extraction.
func of(e memoir.Extraction, kind memoir.StatementKind) []string {
	var out []string
	for _, s := range memoir.ParseStatements(e.RawMemory) {
		if s.Kind == kind {
			out = append(out, s.Text)
		}
	}
	return out
}

func holds(texts []string, part string) bool {
	for _, t := range texts {
		if strings.Contains(t, part) {
			return true
		}
	}
	return false
}

// work is what makes a session worth keeping, whatever else it says.
func work() *talk {
	return new(talk).says("add retries to the uploader").edits("/src/app/upload.go").runs("go test ./...", 0, "ok")
}
