package consolidate

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"memoir"
	"memoir/extract"
)

// BuiltinName is the name of the built-in model.
const BuiltinName = "builtin"

type builtin struct{}

var _ Consolidator = builtin{}

// NewBuiltin returns the built-in model: it merges, counts, orders and renders the statements of sessions, and
// adds nothing. It writes no skills. It is deterministic, offline, and independent of the order of the
// extractions and of earlier generations.
func NewBuiltin() Consolidator { return builtin{} }

// Name returns BuiltinName.
func (builtin) Name() string { return BuiltinName }

// Consolidate makes the files from the extractions and hand edits. The error has the code memoir.CodeInvalid if
// there are no extractions, else it is that of the context.
func (builtin) Consolidate(ctx context.Context, in Input) (memoir.Consolidation, error) {
	sessions := arrange(without(in.Extractions, in.Withdrawn))
	if len(sessions) == 0 {
		return memoir.Consolidation{}, errNothing()
	}
	if err := ctx.Err(); err != nil {
		return memoir.Consolidation{}, err
	}
	name, edits := projectName(in.Project), LiveHandEdits(in.HandEdits, in)
	bytes, summary := in.budgets(memoryBudget)
	// Before the summary, so that the summary has no line that a person removed.
	most, tokens := in.limits()
	out := memoryOf(name, sessions, learn(sessions), bytes, most)
	edited := withHandEdits(out, edits, false)
	out.MemorySummary = summarise(name, readPage(edited.MemoryMD), edited.Skills,
		min(summary, 4*tokens-editBytes(edits, memoir.SummaryFile)))
	return withHandEdits(out, edits, false), nil
}

func errNothing() error {
	return memoir.Errorf(memoir.CodeInvalid, "", "nothing to consolidate: the project has no extractions")
}

// learn makes the parts of MEMORY.md from the statements of the sessions.
func learn(sessions []*session) []part {
	wanted, once := wishes(sessions)
	known := append(gather(sessions, memoir.StatementDecision), gather(sessions, memoir.StatementFinding)...)
	for _, c := range gather(sessions, memoir.StatementRefuted) {
		if !strings.Contains(strings.ToLower(c.text), "refuted") {
			c.text = "refuted: " + c.text
		}
		known = append(known, c)
	}
	bySupport(known)
	own := slices.DeleteFunc(slices.Clone(sessions), func(s *session) bool { return memoir.MemberOf(s.SessionKey) != "" })
	open := merge(own[max(0, len(own)-1):], memoir.StatementOpen, byWords) // others may be done by now
	slices.SortStableFunc(open, byAge)
	return []part{
		{headPreferences, wanted, maxRules},
		{headOnce, once, maxOthers},
		{headCommands, commands(sessions), len(purposes) * maxOfPurpose},
		{headKnown, known, maxKnown},
		{headFailures, gather(sessions, memoir.StatementFailure), maxFailures},
		{headEnvironment, gather(sessions, memoir.StatementEnvironment), maxOthers},
		{headRecent, recent(sessions, known), maxRecent},
		{headOpen, open, maxOthers},
	}
}

// wishes returns what a person wants, and the rules that they stated in one session only, newest first. Whether
// words hold from now on is not decided by their form: a person repeats them or writes a note, or a model judges them.
func wishes(sessions []*session) (wanted, once []*claim) {
	all := gather(sessions, memoir.StatementPreference)
	bySupport(all)
	for _, c := range all {
		switch {
		case len(c.sessions) > 1 || c.written() > 0 || c.Signal != memoir.SignalRule && c.Signal != memoir.SignalMaybe:
			wanted = append(wanted, c)
		case c.Signal == memoir.SignalRule:
			c.text = memoir.SaidOnce(c.text, cmp.Or(c.At, c.newest().date))
			once = append(once, c)
		}
	}
	slices.SortStableFunc(once, byAge)
	return wanted, once
}

// Bounds on recent work.
const (
	maxRecent  = 5 // lines
	perSession = 3 // lines of one session
)

// recent lists the work of the newest sessions, a session's last lines first: the title of a commit or pull request,
// with what it was made for, or a task with its outcome. Work that a known line names, and requests without an
// outcome, are left out.
func recent(sessions []*session, known []*claim) []*claim {
	var out []*claim
	seen := map[string]bool{}
	for _, s := range slices.Backward(sessions) {
		n := 0
		for _, st := range slices.Backward(s.statements) {
			name, title, titled := strings.Cut(extract.Titled(oneLine(st.Outcome)), ": ")
			switch name = strings.Replace(name, "committed", "commit", 1); {
			case n == perSession || st.Outcome == "" || st.Kind != memoir.StatementTask && st.Kind != memoir.StatementOutcome:
				continue
			case titled && strings.HasPrefix(title, `"`):
				st.Text = name + ": " + title
			default:
				title = memoir.Folded(st.Text)
			}
			if seen[title] || slices.ContainsFunc(known, func(c *claim) bool { return strings.Contains(c.text, title) }) {
				continue
			}
			seen[title] = true
			if why := oneLine(st.Detail); why != "" && !strings.Contains(st.Text, why) {
				st.Text += " — " + why
			}
			if extract.OnlyTitle(st.Text) { // which git tells
				continue
			}
			c := &claim{}
			c.add(s, st)
			if out = append(out, c); len(out) == maxRecent {
				return out
			}
			n++
		}
	}
	return out
}

// purposes of commands in their order in MEMORY.md.
var purposes = []string{extract.ForCommit, "set up", "build", "test", "lint", "format", "check", "generate", "run",
	"release"}

const maxOfPurpose = 4

type command struct {
	claim
	head     string // program and subcommands
	specific int    // arguments that name a file or a part of the project
}

// commands returns the commands that passed: one example for each head, at most maxOfPurpose for each purpose,
// general and frequent ones first. A line cites the sessions that ran exactly this command. If a head was only
// run on parts of the project, its example says "also with other arguments"; it is left out if only one session
// ran it and the purpose has a general command. A head is left out if the project's own files say its example. A check
// of the whole project is told if at least two sessions ran it.
func commands(sessions []*session) []*claim {
	seen := map[string]*command{}
	heads := map[string][]*command{}
	for _, s := range sessions {
		for _, st := range s.statements {
			if st.Kind != memoir.StatementCommand {
				continue
			}
			head, specific := extract.Shape(st.Command)
			if head == "" {
				continue
			}
			if st.Purpose == extract.ForCommit {
				head, specific = st.Command, 0
			}
			st.Text = st.Purpose + ": " + memoir.CodeSpan(st.Command)
			if st.Dir != "" {
				st.Text += " in " + memoir.CodeSpan(st.Dir)
			}
			if seen[st.Text] == nil {
				c := &command{head: head, specific: specific}
				seen[st.Text] = c
				heads[st.Purpose+"\n"+c.head] = append(heads[st.Purpose+"\n"+c.head], c)
			}
			seen[st.Text].add(s, st)
		}
	}
	var examples []*command
	general := map[string]bool{} // purposes
	for _, list := range heads {
		best := slices.MinFunc(list, func(a, b *command) int {
			return cmp.Or(a.specific-b.specific, len(b.sessions)-len(a.sessions), len(a.Command)-len(b.Command),
				byAge(&a.claim, &b.claim))
		})
		if best.specific > 0 && len(list) > 1 {
			text := best.text + ", also with other arguments"
			for _, c := range list {
				best.join(&c.claim)
			}
			best.text = text
		}
		general[best.Purpose] = general[best.Purpose] || best.specific == 0
		if best.Stands == "" {
			examples = append(examples, best)
		}
	}
	return bestOf(examples, general)
}

// bestOf orders examples of commands by purpose and selects the best of each. general has the purposes with a command
// for the whole project.
func bestOf(examples []*command, general map[string]bool) []*claim {
	slices.SortFunc(examples, func(a, b *command) int {
		return cmp.Or(slices.Index(purposes, a.Purpose)-slices.Index(purposes, b.Purpose), len(b.sessions)-len(a.sessions),
			a.specific-b.specific, len(strings.Fields(a.Command))-len(strings.Fields(b.Command)), byAge(&a.claim, &b.claim))
	})
	var out []*claim
	count := map[string]int{}
	for _, c := range examples {
		one, most := len(c.sessions) == 1, maxOfPurpose
		if c.Purpose == extract.ForCommit {
			one, most = one && c.Times < 2, 1
		}
		// One look at the repository tells a check of all of it, or the line of what is run before a commit does.
		told := one || len(out) > 0 && strings.Contains(out[0].text, memoir.CodeSpan(c.Command))
		if told && c.specific == 0 && c.Dir == "" && extract.Checks(c.Purpose) {
			continue
		}
		if one && (c.specific > 0 && general[c.Purpose] || c.Purpose == extract.ForCommit) || count[c.Purpose] == most {
			continue
		}
		count[c.Purpose]++
		out = append(out, &c.claim)
	}
	return out
}
