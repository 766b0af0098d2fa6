package consolidate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"memoir"
	"memoir/consolidate"
)

// at is a session of a member at the hub on a day, and its citation.
func at(member string, day int, bullets ...string) (memoir.Extraction, string) {
	e := session(day, id(day), bullets...)
	e.SessionKey = memoir.ReceivedKey(member, fmt.Sprintf("abcdefab%016x", day))
	e.Identify()
	return e, "[" + member + "-abcdefab " + e.EndedAt.UTC().Format("2006-01-02") + "]"
}

// hubs ends a line of a base that no session says in its words.
func hubs(cites string) string { return " (from the team: the hub's words, citing " + cites + ") " }

// withBase returns the memory of a project with a base of the lines of a section; gone are statements of the sessions
// that this machine does not have. All sessions are of others, but for those of mine.
func withBase(t *testing.T, b consolidate.Base, memory string, mine ...memoir.Extraction) memoir.Consolidation {
	t.Helper()
	in := input(append(slices.Clone(b.Sessions), mine...)...)
	b.Covers = map[[2]string]string{}
	for _, e := range b.Sessions {
		for _, st := range e.Statements {
			b.Covers[[2]string{e.SessionKey, st.ID}] = e.SessionKey
		}
	}
	b.Memory.MemoryMD = "# acme/app: project memory\n\nFrom 2 sessions.\n\n" + memory
	in.Base = &b
	return build(t, in)
}

func TestABaseIsMergedLineByLine(t *testing.T) {
	t.Parallel()
	ann, byAnn := at("ann", 3, "Findings: the cache is shared by all workers of a host", "Findings: the queue starves when a job is older than a day")
	bob, byBob := at("bob", 4, "Findings: the cache is shared by all workers of a host")
	without := func(e memoir.Extraction, i int) (left, gone memoir.Extraction) {
		left, gone = e, e
		left.Statements, gone.Statements = slices.Delete(slices.Clone(e.Statements), i, i+1), e.Statements[i:i+1]
		return left, gone
	}
	less, gone := without(ann, 1)
	both := consolidate.Base{Sessions: []memoir.Extraction{ann, bob}}
	anns := consolidate.Base{Sessions: both.Sessions, Member: "ann"}
	const known = "## What is known"
	for _, test := range []struct {
		what, lines, heading string
		base                 consolidate.Base
		mine                 []memoir.Extraction
		want                 []string
	}{
		{"a member's words", known + "\n\n- the queue starves when a job is older than a day (from the team: bob) " + byAnn + "\n", known, both, nil,
			[]string{"- the queue starves when a job is older than a day (from the team: ann) " + byAnn}},
		{"one's own line", known + "\n\n- the queue starves when a job is older than a day (from the team: ann) " + byAnn + "\n", known, anns, nil,
			[]string{"- the queue starves when a job is older than a day " + byAnn}},
		{"a line of others, too", known + "\n\n- the cache is shared by all workers of a host (from the team: ann, bob) [" + strings.Trim(byBob, "[]") + ", " + strings.Trim(byAnn, "[]") + "]\n", known, anns, nil,
			[]string{"- the cache is shared by all workers of a host (from the team: bob, ann) " + strings.TrimSuffix(byBob, "]") + ", +1]"}},
		{"words that the cited session does not say", known + "\n\n- any words (from the team: ann) " + byAnn + "\n- the queue starves when a job is older than a day (from the team: bob) " + byBob + "\n",
			known, both, nil, []string{"- any words" + hubs("ann") + byAnn, "- the queue starves when a job is older than a day" + hubs("bob") + byBob}},
		{"words of who changed it", known + "\n\n- other words (from the team: changed by bob, citing ann) " + byAnn + "\n- more words (from the team: changed by ann, citing ann) " + byAnn + "\n",
			known, both, nil, []string{"- other words (from the team: changed by bob, citing ann) " + byAnn, "- more words (from the team: changed by ann, citing ann) " + byAnn}},
		{"the same, of an earlier hub", known + "\n\n- other words (from the team: ann, bob) " + byAnn + "\n", known, both, nil,
			[]string{"- other words (from the team: changed by bob, citing ann) " + byAnn}},
		{"words that one of the cited sessions says", known + "\n\n- the queue starves when a job is older than a day [" + strings.Trim(byBob, "[]") + ", " + strings.Trim(byAnn, "[]") + "]\n",
			known, both, nil, []string{"- the queue starves when a job is older than a day (from the team: ann) " + strings.TrimSuffix(byBob, "]") + ", +1]"}},
		{"a member's words, cut", known + "\n\n- the queue starves when a job… " + byAnn + "\n- the queue is starved when a job… " + byAnn + "\n", known, both, nil,
			[]string{"- the queue starves when a job… (from the team: ann) " + byAnn, "- the queue is starved when a job…" + hubs("ann") + byAnn}},
		{"a line that loads something", known + "\n\n- see ![x](http://host.example/x) <b>now</b> @~/.ssh/id " + byAnn + "\n", known, both, nil,
			[]string{"- see ! [x](http://host.example/x) ‹b›now‹/b› `@~/.ssh/id`" + hubs("ann") + byAnn}},
		{"another heading", "## Do at once\n\n- any words " + byAnn + "\n", known, both, nil, []string{"- any words" + hubs("ann") + byAnn}},
		{"a wish", "## user preferences:\n\n- any words " + byAnn + "\n", "## User preferences", both, nil, nil},
		{"own lines follow", known + "\n\n- any words " + byAnn + "\n", known, both, []memoir.Extraction{session(1, id(1), "Findings: the port is fixed")},
			[]string{"- any words" + hubs("ann") + byAnn, "- the port is fixed [00001001 2026-07-02]"}},
		{"what it says is not said again", known + "\n\n- the port is fixed " + byAnn + "\n", known, both, []memoir.Extraction{session(1, id(1), "Findings: the port is fixed")},
			[]string{"- the port is fixed" + hubs("ann") + byAnn}},
		{"a session is gone", known + "\n\n- any words " + byAnn + "\n- the cache is shared by workers of one host [" + strings.Trim(byBob, "[]") + ", " + strings.Trim(byAnn, "[]") + "]\n",
			known, consolidate.Base{Sessions: []memoir.Extraction{bob}, Gone: []memoir.Extraction{ann}}, nil,
			[]string{"- the cache is shared by workers of one host" + hubs("bob") + byBob}},
		{"a statement is gone", known + "\n\n- the queue starves when a job is older than a day (from the team: ann) " + byAnn + "\n- any words (from the team: ann) " + byAnn + "\n",
			known, consolidate.Base{Sessions: []memoir.Extraction{less, bob}, Gone: []memoir.Extraction{gone}}, nil,
			[]string{"- any words" + hubs("ann") + byAnn}},
		{"a text is gone", known + "\n\n- any secret words " + byAnn + "\n- other words " + byAnn + "\n",
			known, consolidate.Base{Sessions: both.Sessions, Texts: []string{"secret words"}}, nil, []string{"- other words" + hubs("ann") + byAnn}},
	} {
		c := withBase(t, test.base, test.lines, test.mine...)
		if got := under(c.MemoryMD, test.heading); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q in\n%s", test.what, got, c.MemoryMD)
		}
	}
}

func TestAnOwnCustomBeforeACommitStaysBesideThatOfABase(t *testing.T) {
	t.Parallel()
	const heading, their, own = "## Build, test and other commands", "before a commit: `make ci` (from the team: bob) ", "before a commit: `make own`"
	bob, byBob := at("bob", 4, "Commands: before a commit: `make ci` (3 times)")
	ann, _ := at("ann", 3, "Commands: "+own+" (2 times)")
	mine := session(3, id(3), "Commands: "+own+" (2 times)")
	in := input(bob, mine)
	in.Base = &consolidate.Base{Sessions: []memoir.Extraction{ann, bob}, Member: "ann", Covers: map[[2]string]string{
		{mine.SessionKey, mine.Statements[0].ID}: ann.SessionKey, {bob.SessionKey, bob.Statements[0].ID}: bob.SessionKey}}
	in.Base.Memory.MemoryMD = "# acme/app: project memory\n\nFrom 2 sessions.\n\n" + heading + "\n\n- " + their + byBob + "\n"
	if got, want := under(build(t, in).MemoryMD, heading), []string{"- " + their + byBob, "- " + own + " [00001003 2026-07-04]"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWhatAgentsWroteOfTheirWorkIsToldOnceAcceptedOrOnesOwn(t *testing.T) {
	t.Parallel()
	ann, by := at("ann", 3, "Findings: the cache was dropped", "Findings: the port was fixed", "Findings: the log was cut", "Findings: the queue is shared")
	mine := session(1, id(1), "Findings: the port was fixed")
	var lines string
	for i := range ann.Statements {
		if i < 3 {
			ann.Statements[i].Signal, ann.Statements[i].By = []string{"found", "cause", "issue"}[i], memoir.ByAgent
		}
		lines += "- " + ann.Statements[i].Text + " " + by + "\n"
	}
	work := memoir.Statement{Kind: memoir.StatementOutcome, Text: "x", Signal: "posted", By: memoir.ByAgent,
		Outcome: `pull request #7: "Retry"`, Detail: "the network drops"}
	ann.Statements = append(ann.Statements, work)
	recent := "pull request #7: \"Retry\" — it said: the network drops"
	for name, base := range map[string]*consolidate.Base{"without a hub's memory": nil, "with one": {Sessions: []memoir.Extraction{ann},
		Memory: memoir.Consolidation{MemoryMD: "## What is known\n\n" + lines + "\n## Recent work\n\n- " + recent + " " + by + "\n"}}} {
		in := input(ann, mine)
		in.Base, in.Accepted = base, map[string]int64{memoir.LineKey("the log was cut"): 1}
		c := build(t, in)
		var told []string
		for _, line := range under(c.MemorySummary, "## What to know") {
			told = append(told, memoir.WithoutTeam(line))
		}
		slices.Sort(told)
		if want := []string{"- the log was cut", "- the port was fixed", "- the queue is shared"}; !slices.Equal(told, want) {
			t.Errorf("%s: told: %q", name, told)
		}
		if strings.Contains(c.MemorySummary, "Retry") || !strings.Contains(c.MemoryMD, "the cache was dropped (from the team: ann)") ||
			!strings.Contains(c.MemoryMD, recent+" (from the team: ann)") {
			t.Errorf("%s: %s\n%s", name, c.MemoryMD, c.MemorySummary)
		}
	}
}

func TestCommandsOfABaseAreToldOnceAcceptedOrOnesOwn(t *testing.T) {
	t.Parallel()
	ann, by := at("ann", 3, "Commands: test: `make deploy`", "Commands: lint: `make lint`", "Commands: build: `make all`")
	mine := session(1, id(1), "Commands: lint: `make lint`")
	in := input(ann, mine)
	in.Base = &consolidate.Base{Sessions: []memoir.Extraction{ann}}
	in.Base.Memory.MemoryMD = "## Build, test and other commands\n\n- test: `make deploy` " + by + "\n- lint: `make lint` " + by + "\n- build: `make all` " + by + "\n"
	in.Base.Memory.Skills = []memoir.Skill{
		{Name: "deploy", Content: "---\nname: deploy\ndescription: \"Deploy.\"\n---\n\n1. `make deploy` " + by + "\n"},
		{Name: "lint", Content: "---\nname: lint\ndescription: \"Lint.\"\n---\n\n1. `make lint` " + by + "\n"},
	}
	in.Accepted = map[string]int64{memoir.LineKey("build: `make all` (from the team: ann)"): 1}
	c := build(t, in)
	var told []string
	for _, line := range under(c.MemorySummary, "## Build, test, run") {
		told = append(told, memoir.WithoutTeam(line))
	}
	if want := []string{"- lint: `make lint`", "- build: `make all`"}; !slices.Equal(told, want) {
		t.Errorf("told: %q", told)
	}
	if len(c.Skills) != 1 || c.Skills[0].Name != "lint" {
		t.Errorf("skills: %+v", c.Skills)
	}
	origins := consolidate.WithOrigins(c, in).Lines
	if got := origins[memoir.LineKey("- lint: `make lint` (from the team: ann)")].Statements; !slices.Equal(got, []string{ann.Statements[1].ID}) {
		t.Errorf("made from %q", got)
	}
}

// Their words for an own failure wait, so the own ones follow, unless the own session backs the line.
func TestAnOwnFailureOfABaseIsTold(t *testing.T) {
	t.Parallel()
	const heading = "## Failures and fixes"
	own := "`cargo test a --lib` failed: no library targets found in package `app`; fixed by `cargo test a`"
	for _, test := range []struct{ what, line, want string }{
		{"in one's own words", own, own},
		{"from an own session", "`cargo test a --lib` fails without library targets in package `app`; fixed by `cargo test a`",
			"`cargo test a --lib` fails without library targets in package `app`; fixed by `cargo test a`"},
		{"changed by another", "`cargo test a --lib` failed: no library targets found in package `app`; fixed by `cargo test -p a` (from the team: ann, carla)", own},
		{"in others' words", "`cargo test b --lib` failed: no library targets found in package `app`; fixed by `rm -r b`", own},
	} {
		ann, by := at("ann", 3, "Failures: "+own)
		mine := session(1, id(1), "Failures: "+own)
		in := input(mine)
		in.Base = &consolidate.Base{Sessions: []memoir.Extraction{ann}, Member: "ann",
			Covers: map[[2]string]string{{mine.SessionKey, mine.Statements[0].ID}: ann.SessionKey}}
		in.Base.Memory.MemoryMD = heading + "\n\n- " + test.line + " " + by + "\n"
		made := build(t, in)
		told := under(made.MemorySummary, "## Failures to avoid")
		if all := under(made.MemoryMD, heading); len(told) != 1 || memoir.WithoutTeam(told[0]) != "- "+test.want ||
			!contains(all, memoir.WithoutTeam(test.line)) {
			t.Errorf("%s: told %q of %q", test.what, told, all)
		}
	}
}

// Another member changed or removed a line that an own session says: it goes once the person keeps the change.
func TestAnOwnLineOutlivesItsEditByAnother(t *testing.T) {
	t.Parallel()
	const failed = "`cargo test a --lib` failed: no library targets were found in the whole package `app`; fixed by `cargo test a`"
	for _, kind := range []struct{ name, heading, own, theirs, told string }{
		{"Failures", "## Failures and fixes", failed, strings.ReplaceAll(failed, "test a`", "test b`"), "## Failures to avoid"},
		{"Findings", "## What is known", "the cache is shared by all workers of a host", "the cache is of one worker", "## What to know"},
		{"Commands", "## Build, test and other commands", "lint: `make lint`", "lint: `task check`", "## Build, test, run"},
	} {
		for what, want := range map[string]struct{ own, theirs bool }{
			"changed": {true, true}, "rejected": {true, false}, "kept": {false, true}, "removed": {true, false}, "removed by oneself": {},
		} {
			ann, by := at("ann", 3, kind.name+": "+kind.own)
			mine := session(1, id(1), kind.name+": "+kind.own)
			in := input(mine)
			in.Base = &consolidate.Base{Sessions: []memoir.Extraction{ann}, Member: "ann",
				Covers: map[[2]string]string{{mine.SessionKey, mine.Statements[0].ID}: ann.SessionKey}}
			edit := consolidate.TeamEdit{Member: "carla", Before: kind.own, After: kind.theirs}
			switch line := "- " + kind.theirs + " (from the team: changed by carla, citing ann) " + by; what {
			case "removed":
				edit.After = ""
			case "removed by oneself":
				edit.Member, edit.After = "ann", ""
			case "kept":
				in.Accepted = map[string]int64{memoir.LineKey(kind.theirs): 1}
			case "rejected":
				in.HandEdits = []memoir.HandEdit{{File: memoir.MemoryFile, Section: kind.heading, Action: memoir.EditRemoved, Text: line}}
			}
			made := memoir.Consolidation{MemoryMD: "# acme/app: project memory\n\n" + kind.heading + "\n\n- " + kind.own + " (from the team: ann) " + by + "\n"}
			made, edits := consolidate.WithTeamEdits(made, []consolidate.TeamEdit{edit}, nil)
			in.Base.Memory = consolidate.ApplyHandEdits(made, edits)
			c := build(t, in)
			for where, lines := range map[string][]string{"memory": under(c.MemoryMD, kind.heading), "told": under(c.MemorySummary, kind.told)} {
				theirs := want.theirs && (where == "memory" || kind.name == "Findings" || what == "kept")
				if contains(lines, kind.own) != want.own || contains(lines, kind.theirs) != theirs {
					t.Errorf("%s, %s, %s: %q", kind.name, what, where, lines)
				}
			}
		}
	}
}

// A container tells a statement at an edit if a line in other words shows it, unless a member made that line.
func TestABaseDoesNotShowWhatAMemberChanged(t *testing.T) {
	t.Parallel()
	const was, is = "the cache is shared by all workers of a host", "the cache is shared by all workers of a region"
	ann, by := at("ann", 3, "Findings: "+was)
	b := consolidate.Base{Sessions: []memoir.Extraction{ann}}
	made := memoir.Consolidation{MemoryMD: "# acme/app: project memory\n\n## What is known\n\n- " + was + " (from the team: ann) " + by + "\n"}
	reworded := memoir.Consolidation{MemoryMD: strings.Replace(made.MemoryMD, was, is, 1)}
	if got := b.Shown(reworded); len(got) != 1 {
		t.Errorf("of the hub's words: %+v", got)
	}
	b.Memory, _ = consolidate.WithTeamEdits(made, []consolidate.TeamEdit{{Member: "carla", Before: was, After: is}}, nil)
	if got := b.Shown(b.Memory); len(got) != 0 || !strings.Contains(b.Memory.MemoryMD, is) {
		t.Errorf("changed: %+v", got)
	}
}

func TestABaseLeavesRoomForWhatIsOnesOwn(t *testing.T) {
	t.Parallel()
	ann, by := at("ann", 3, "Findings: the cache is shared")
	in := input(ann, session(1, id(1), "Findings: the port is fixed"))
	in.MaxMemoryBytes = 1500
	in.Base = &consolidate.Base{Sessions: []memoir.Extraction{ann}}
	in.Base.Memory.MemoryMD = "## What is known\n\n" + strings.Repeat("- the cache is shared by many "+by+"\n", 200)
	c := build(t, in)
	if lines := under(c.MemoryMD, "## What is known"); !contains(lines, "the port is fixed") || len(c.MemoryMD) > 1500 || len(lines) < 5 {
		t.Errorf("%d bytes:\n%s", len(c.MemoryMD), c.MemoryMD)
	}
}
