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

// Consolidate makes the files from the extractions and hand edits; the usage is zero. The error has the code
// memoir.CodeInvalid if there are no extractions, else it is that of the context.
func (builtin) Consolidate(ctx context.Context, in Input) (memoir.Consolidation, memoir.Usage, error) {
	sessions := arrange(without(in.Extractions, in.Withdrawn))
	if len(sessions) == 0 {
		return memoir.Consolidation{}, memoir.Usage{}, errNothing()
	}
	if err := ctx.Err(); err != nil {
		return memoir.Consolidation{}, memoir.Usage{}, err
	}
	name, edits := projectName(in.Project), LiveHandEdits(in.HandEdits, in)
	bytes, summary := in.budgets()
	// Before the summary, so that the summary has no line that a person removed.
	most, tokens := in.limits()
	out := memoryOf(name, sessions, learn(sessions), bytes, most)
	edited := withHandEdits(out, edits, false)
	out.MemorySummary = summarise(name, readPage(edited.MemoryMD), edited.Skills,
		min(summary, 4*tokens-editBytes(edits, memoir.SummaryFile)))
	return withHandEdits(out, edits, false), memoir.Usage{}, nil
}

func errNothing() error {
	return memoir.Errorf(memoir.CodeInvalid, "", "nothing to consolidate: the project has no extractions")
}

// The least number of sessions that must support a line.
const (
	leastRequired    = 3
	leastFiles       = 5
	leastCorrections = 2
)

// learn makes the parts of MEMORY.md from the statements of the sessions.
func learn(sessions []*session) []part {
	rules := atLeast(leastCorrections, memoir.SignalCorrected, gather(sessions, memoir.StatementPreference))
	rules = settled(rules)
	bySupport(rules)
	var environment, required []*claim
	for _, c := range atLeast(leastRequired, memoir.SignalRequired, gather(sessions, memoir.StatementEnvironment)) {
		if c.Signal == memoir.SignalRequired {
			required = append(required, c)
		} else {
			environment = append(environment, c)
		}
	}
	known := append(gather(sessions, memoir.StatementDecision), gather(sessions, memoir.StatementFinding)...)
	for _, c := range gather(sessions, memoir.StatementRefuted) {
		if !strings.Contains(strings.ToLower(c.text), "refuted") {
			c.text = "refuted: " + c.text
		}
		known = append(known, c)
	}
	bySupport(known)
	open := merge(sessions[max(0, len(sessions)-recentSessions):], memoir.StatementOpen, byWords)
	slices.SortStableFunc(open, byAge)
	return []part{
		{headPreferences, rules, maxRules},
		{headRequired, required, maxOthers},
		{headCommands, commands(sessions), len(purposes) * maxOfPurpose},
		{headKnown, known, maxKnown},
		{headFailures, gather(sessions, memoir.StatementFailure), maxFailures},
		{headEnvironment, environment, maxOthers},
		{headFiles, files(sessions), maxOthers},
		{headRecent, recent(sessions), maxRecent},
		{headOpen, open, maxOthers},
	}
}

// atLeast drops the claims of a signal that fewer than least sessions support.
func atLeast(least int, signal string, claims []*claim) []*claim {
	return slices.DeleteFunc(claims, func(c *claim) bool { return c.Signal == signal && len(c.sessions) < least })
}

// files returns the files that were changed in at least leastFiles sessions, with the newest session's words
// about each.
func files(sessions []*session) []*claim {
	all := merge(sessions, memoir.StatementFile, func(st memoir.Statement) string {
		return strings.Join(st.Paths[:min(len(st.Paths), 1)], "")
	})
	all = slices.DeleteFunc(all, func(c *claim) bool { return len(c.sessions) < leastFiles })
	slices.SortStableFunc(all, func(a, b *claim) int { return cmp.Or(len(b.sessions)-len(a.sessions), byAge(a, b)) })
	return all
}

// Bounds on recent work.
const (
	maxRecent      = 20 // lines
	recentSessions = 20 // newest sessions that are searched for open ends
	perSession     = 3  // lines of one session
)

// recent lists the requests of the newest sessions with their outcomes, a session's last lines first. Requests
// without an outcome are left out; so are commits with only a subject if other work has a body.
func recent(sessions []*session) []*claim {
	var out []*claim
	seen := map[string]bool{}
	described := slices.ContainsFunc(sessions, func(s *session) bool {
		return slices.ContainsFunc(s.work(), func(w work) bool { return w.Detail != "" })
	})
	for _, s := range slices.Backward(sessions) {
		n := 0
		for _, w := range slices.Backward(s.work()) {
			key := strings.Join(memoir.WordsOf(w.Text), " ")
			bare := strings.HasPrefix(w.Text, "commit: ") && w.Detail == ""
			if n == perSession || seen[key] || bare && described {
				continue
			}
			seen[key] = true
			c := &claim{}
			c.add(s, w.Statement)
			c.ids = distinct(append(c.ids, w.outcome))
			if out = append(out, c); len(out) == maxRecent {
				return out
			}
			n++
		}
	}
	return out
}

// A work is a task with its outcome, or an outcome alone.
type work struct {
	memoir.Statement
	outcome string // the id of the outcome's statement; empty: none
}

// work returns the tasks and outcomes of a session. The detail of an outcome is added to the task with its
// subject, and any outcome to the only task of a session. Other outcomes stand alone.
func (s *session) work() []work {
	var tasks, outcomes []memoir.Statement
	for _, st := range s.statements {
		switch st.Kind {
		case memoir.StatementTask:
			tasks = append(tasks, st)
		case memoir.StatementOutcome:
			outcomes = append(outcomes, st)
		}
	}
	var out []work
	for _, st := range tasks {
		task := work{Statement: st}
		i := slices.IndexFunc(outcomes, func(outcome memoir.Statement) bool {
			_, title, named := strings.Cut(outcome.Outcome, ": ")
			return task.Outcome == "" && len(tasks) == 1 || task.Outcome != "" && named &&
				strings.HasSuffix(task.Outcome, ": "+title)
		})
		if i >= 0 {
			found := outcomes[i]
			if task.Outcome == "" {
				task.Text += " → " + found.Text
			} else if found.Detail != "" {
				task.Text += " — " + found.Detail
			}
			task.Outcome, task.Detail, task.outcome = cmp.Or(task.Outcome, found.Outcome), found.Detail, found.ID
			outcomes = slices.Delete(outcomes, i, i+1)
		}
		if task.Outcome != "" {
			out = append(out, task)
		}
	}
	for _, outcome := range outcomes {
		if !slices.ContainsFunc(out, func(task work) bool { return strings.Contains(task.Text, outcome.Text) }) {
			out = append(out, work{Statement: outcome})
		}
	}
	return out
}

// purposes of commands in their order in MEMORY.md.
var purposes = []string{"set up", "build", "test", "lint", "format", "check", "generate", "run", "release"}

const maxOfPurpose = 4

type command struct {
	claim
	head     string // program and subcommands
	specific int    // arguments that name a file or a part of the project
}

// commands returns the commands that passed: one example for each head, at most maxOfPurpose for each purpose,
// general and frequent ones first. A line cites the sessions that ran exactly this command. If a head was only
// run on parts of the project, its example says "also with other arguments"; it is left out if only one session
// ran it and the purpose has a general command.
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
		examples = append(examples, best)
		general[best.Purpose] = general[best.Purpose] || best.specific == 0
	}
	slices.SortFunc(examples, func(a, b *command) int {
		return cmp.Or(slices.Index(purposes, a.Purpose)-slices.Index(purposes, b.Purpose), len(b.sessions)-len(a.sessions),
			a.specific-b.specific, len(strings.Fields(a.Command))-len(strings.Fields(b.Command)), byAge(&a.claim, &b.claim))
	})
	var out []*claim
	count := map[string]int{}
	for _, c := range examples {
		if c.specific > 0 && len(c.sessions) == 1 && general[c.Purpose] || count[c.Purpose] == maxOfPurpose {
			continue
		}
		count[c.Purpose]++
		out = append(out, &c.claim)
	}
	return out
}
