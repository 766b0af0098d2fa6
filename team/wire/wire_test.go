package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"memoir"
)

func TestAPushIsChecked(t *testing.T) {
	t.Parallel()
	session := SessionHash("codex:1", "m")
	whole := func() Push {
		s := Statement{Session: session, Day: "2026-11-29", Body: json.RawMessage(`{"text":"a","new":[1]}`)}
		s.Hash = Of(s.Session, s.Own, s.Day, s.Body)
		return Push{Project: "host.example/a/b", Statements: []Statement{s}, Tombstones: []string{s.Hash}}
	}
	if err := whole().Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Push){
		"empty":         func(p *Push) { p.Statements, p.Tombstones = nil, nil },
		"too many":      func(p *Push) { p.Tombstones = make([]string, MaxItems) },
		"no project":    func(p *Push) { p.Project = " a" },
		"above":         func(p *Push) { p.Project = "host.example/a/../b" },
		"every one":     func(p *Push) { p.Project = EveryProject },
		"an empty part": func(p *Push) { p.Project = "host.example//b" },
		"control":       func(p *Push) { p.Project = "a\x1bb" },
		"other text":    func(p *Push) { p.Statements[0].Body = json.RawMessage(`{"text":"b"}`) },
		"other reader":  func(p *Push) { p.Statements[0].Own = true },
		"other day":     func(p *Push) { p.Statements[0].Day = "2026-11-30" },
		"no day":        func(p *Push) { p.Statements[0].Day = "" },
		"no object":     func(p *Push) { p.Statements[0].Body = json.RawMessage(`[]`) },
		"no UTF-8":      func(p *Push) { p.Statements[0].Body = json.RawMessage("{\"text\":\"\xff\"}") },
		"large":         func(p *Push) { p.Statements[0].Body = json.RawMessage(strings.Repeat(" ", MaxStatement) + "{}") },
		"no session":    func(p *Push) { p.Statements[0].Session = "codex:1" },
		"no tombstone":  func(p *Push) { p.Tombstones[0] = strings.ToUpper(p.Tombstones[0]) },
	} {
		p := whole()
		if change(&p); memoir.CodeOf(p.Check()) != memoir.CodeUsage {
			t.Errorf("%s: %v", name, p.Check())
		}
	}
}

func TestASessionHasOneHashOnAllMachines(t *testing.T) {
	t.Parallel()
	for key, same := range map[string]bool{"codex:1": true, "memoir:note-1": false, "conversation:chat": false} {
		if got := SessionHash(key, "a") == SessionHash(key, "b"); got != same {
			t.Errorf("%s: %v", key, got)
		}
	}
}
