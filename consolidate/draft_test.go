package consolidate

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"memoir"
)

// A project's sessions, of words so few that their statements meet often.
type project struct {
	random *rand.Rand
	all    []memoir.Extraction
	made   int
}

func (p *project) pick(words ...string) string { return words[p.random.IntN(len(words))] }

func (p *project) raw() string {
	var list []memoir.Statement
	say := func(kind memoir.StatementKind, format string, args ...any) {
		list = append(list, memoir.Statement{Kind: kind, Text: fmt.Sprintf(format, args...), Items: []int{len(list) + 1}})
	}
	thing := func() string { return p.pick("tabs", "spaces", "pnpm", "npm", "the release branch", "`gen/api.go`") }
	for range p.random.IntN(4) {
		say(memoir.StatementPreference, "“%s %s, %s %s”", p.pick("always use", "never use", "use"), thing(), p.pick("not", "and"), thing())
	}
	for range p.random.IntN(4) {
		say(memoir.StatementDecision, "`pkg/%s.go` %s wait for %s because of %s", p.pick("a", "b", "c"), p.pick("must", "must not"), thing(), p.pick("the lock", "the cache"))
	}
	for range p.random.IntN(3) {
		say(memoir.StatementFailure, "`make %s` failed: no %s — %s", p.pick("test", "lint"), thing(), p.pick("passed after `make gen`", "unresolved"))
		say(memoir.StatementEnvironment, "%s %d", p.pick("Go", "Node", "SQLite"), p.random.IntN(3))
	}
	for range p.random.IntN(3) {
		say(memoir.StatementProcedure, "“%s”: `make %s` → `make %s` → `git push` → `make %s`", p.pick("release it", "ship it"), p.pick("test", "lint"), p.pick("build", "gen"), p.pick("publish", "tag"))
	}
	say(memoir.StatementOutcome, "done — wrote `pkg/%s.go` and its tests", p.pick("a", "b"))
	return memoir.FormatStatements(list)
}

// change lets one thing happen: mostly a new session, else one that went on, one
// that reads otherwise now, one that is gone.
func (p *project) change() {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	what := p.random.IntN(8)
	if len(p.all) == 0 || what < 5 {
		p.made++
		p.all = append(p.all, memoir.Extraction{
			SessionKey: fmt.Sprintf("codex:%08x-aaaa-7000-8000-%012x", p.made, p.made), RawMemory: p.raw(), RolloutSummary: "# s\n", Title: "work",
			EndedAt: noon.Add(time.Duration(p.made) * time.Hour),
		})
		return
	}
	at := p.random.IntN(len(p.all))
	switch what {
	case 5:
		p.all[at].RawMemory = p.raw()
		p.all[at].EndedAt = noon.Add(time.Duration(p.made) * time.Hour).Add(time.Minute)
	case 6:
		p.all[at].RawMemory = p.raw()
	default:
		p.all = slices.Delete(p.all, at, at+1)
	}
}

func (p *project) build(t *testing.T, earlier []byte) memoir.Consolidation {
	t.Helper()
	notes := []memoir.Note{{ID: 1, File: memoryFile, Action: memoir.NoteAdded, Section: headKnown, Text: "- written by hand"}}
	c, _, err := NewBuiltin().Consolidate(context.Background(), Input{Project: memoir.Project{Name: "app"}, Extractions: p.all, Draft: earlier, Notes: notes})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Draft) == 0 {
		t.Fatal("no draft is left")
	}
	return c
}

func TestGoingOnFromADraftEqualsARebuild(t *testing.T) {
	t.Parallel()
	for seed := range uint64(15) {
		p := &project{random: rand.New(rand.NewPCG(seed, 7))}
		var earlier []byte
		for step := range 30 {
			p.change()
			if len(p.all) == 0 {
				continue
			}
			got, want := p.build(t, earlier), p.build(t, nil)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, step %d: going on from the draft gives another memory:\n%s\nbut from nothing:\n%s", seed, step, got.MemoryMD, want.MemoryMD)
			}
			earlier = got.Draft
		}
	}
}

func TestOnlyWhatIsNewIsCompared(t *testing.T) {
	t.Parallel()
	p := &project{random: rand.New(rand.NewPCG(1, 2))}
	for p.made < 100 {
		p.change()
	}
	p.all = append(p.all, memoir.Extraction{
		SessionKey: "codex:ffffffff-aaaa-7000-8000-000000000000", EndedAt: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
		RawMemory: "## Preferences\n- “never use tabs” [1]\n- “use npm” [2]\n\n## Procedure\n- `make a` → `make b` → `make c` [3]\n",
	})
	compared := func(extractions []memoir.Extraction, earlier []byte) (int, []byte) {
		sessions := arrange(extractions)
		d := takeUp(earlier, sessions)
		skills(learn(sessions, d, func(string) bool { return false }), d)
		return d.compared, d.bytes()
	}
	all, _ := compared(p.all, nil)
	before, draft := compared(p.all[:len(p.all)-1], nil)
	if got, _ := compared(p.all, draft); got != 3 || all != before+3 || before < 100 {
		t.Errorf("of %d statements %d were compared, the new ones are 3", all, got)
	}
	if got, _ := compared(p.all[:len(p.all)-1], draft); got != 0 {
		t.Errorf("%d statements were compared though nothing is new", got)
	}
}

func TestADraftThatCannotBeTrueIsTheSameAsNone(t *testing.T) {
	t.Parallel()
	p := &project{random: rand.New(rand.NewPCG(3, 4))}
	for p.made < 20 {
		p.change()
	}
	want := p.build(t, nil)
	each := func(d *draft, at int) { // the first statement of each kind joins another claim
		for _, one := range d.Sessions {
			for kind, joins := range one.Joins {
				if kind != memoir.StatementProcedure {
					joins[0] = at
				}
			}
		}
	}
	for name, spoil := range map[string]func(*draft){
		"another version":     func(d *draft) { d.Version++; each(d, 0) },
		"a claim too far":     func(d *draft) { each(d, 999) },
		"a claim below none":  func(d *draft) { each(d, -1) },
		"a statement missing": func(d *draft) { d.Sessions[0].Joins, d.Sessions[1].Joins = nil, nil },
	} {
		d := &draft{}
		if err := json.Unmarshal(want.Draft, d); err != nil {
			t.Fatal(err)
		}
		spoil(d)
		if got := p.build(t, d.bytes()); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: another memory", name)
		}
	}
	for _, data := range []string{"", "{", "null", `{"version":1}`, `{"version":1,"sessions":[{}]}`, `{"version":1,"sessions":[{"joins":{"Preferences":[1e9]}}]}`} {
		if got := p.build(t, []byte(data)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: another memory", data)
		}
	}
}
