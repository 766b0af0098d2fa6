package consolidate

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
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
	memory, lists := memoryOf(name, sessions, learn(sessions), bytes)
	// Before the summary, so that the summary has no line that a person removed.
	out := ApplyHandEdits(memoir.Consolidation{MemoryMD: memory, Citations: lists}, edits)
	_, tokens := in.limits()
	out.MemorySummary = summarise(name, readPage(out.MemoryMD), out.Skills,
		min(summary, 4*tokens-editBytes(edits, memoir.SummaryFile)))
	return ApplyHandEdits(out, edits), memoir.Usage{}, nil
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
	rules, corrections := marked(gather(sessions, memoir.StatementPreference), memoir.CorrectionMark, leastCorrections)
	rules = settled(append(rules, corrections...))
	bySupport(rules)
	environment, required := marked(gather(sessions, memoir.StatementEnvironment), memoir.RequiredMark, leastRequired)
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

// marked separates the claims that begin with a mark, and removes it; those of fewer than least sessions are
// dropped.
func marked(claims []*claim, mark string, least int) (plain, with []*claim) {
	for _, c := range claims {
		text, ok := strings.CutPrefix(c.text, mark)
		switch {
		case !ok:
			plain = append(plain, c)
		case len(c.sessions) >= least:
			c.text = text
			with = append(with, c)
		}
	}
	return plain, with
}

// edits matches the number of edits at the end of a file statement.
var edits = lazyregexp.New(`\s*\(\d+ edits?\)$`)

// files returns the files that were changed in at least leastFiles sessions, with the newest session's words
// about each.
func files(sessions []*session) []*claim {
	all := merge(sessions, memoir.StatementFile, func(text string) string {
		if m := firstSpan.FindStringSubmatch(text); m != nil {
			return m[1]
		}
		return ""
	})
	all = slices.DeleteFunc(all, func(c *claim) bool { return len(c.sessions) < leastFiles })
	for _, c := range all {
		c.text = edits.ReplaceAllString(c.text, "")
	}
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
		return slices.ContainsFunc(s.work(), func(text string) bool { return strings.Contains(text, further) })
	})
	for _, s := range slices.Backward(sessions) {
		n := 0
		for _, text := range slices.Backward(s.work()) {
			key := byWords(text)
			bare := strings.HasPrefix(text, "commit: ") && !strings.Contains(text, further)
			if n == perSession || seen[key] || bare && described {
				continue
			}
			seen[key] = true
			c := &claim{}
			c.add(s, text)
			if out = append(out, c); len(out) == maxRecent {
				return out
			}
			n++
		}
	}
	return out
}

// Marks in the built-in extractor's statements.
const (
	became  = " → " // between a request and its outcome
	further = " — " // between a subject and its body
)

// work returns the lines of a session's tasks and outcomes. The body of an outcome is added to the task with its
// subject, and any outcome to the only task of a session. Other outcomes get lines of their own.
func (s *session) work() []string {
	var tasks, outcomes []string
	for _, st := range s.statements {
		switch st.Kind {
		case memoir.StatementTask:
			tasks = append(tasks, st.Text)
		case memoir.StatementOutcome:
			outcomes = append(outcomes, st.Text)
		}
	}
	var out []string
	for _, task := range tasks {
		told := strings.Contains(task, became)
		i := slices.IndexFunc(outcomes, func(outcome string) bool {
			subject, _, _ := strings.Cut(outcome, further)
			_, title, named := strings.Cut(subject, ": ")
			return !told && len(tasks) == 1 || told && named && strings.HasSuffix(task, ": "+title)
		})
		if i >= 0 {
			if _, body, ok := strings.Cut(outcomes[i], further); !told {
				task += became + outcomes[i]
			} else if ok {
				task += further + body
			}
			outcomes = slices.Delete(outcomes, i, i+1)
		}
		if told || i >= 0 {
			out = append(out, task)
		}
	}
	for _, outcome := range outcomes {
		if !slices.ContainsFunc(out, func(task string) bool { return strings.Contains(task, outcome) }) {
			out = append(out, outcome)
		}
	}
	return out
}

// purposes of commands in their order in MEMORY.md.
var purposes = []string{"set up", "build", "test", "lint", "format", "check", "generate", "run", "release"}

// maxOfPurpose is the maximum number of commands of one purpose.
const maxOfPurpose = 4

// A command is a command that passed in sessions.
type command struct {
	claim
	purpose, line string
	head          string // program and subcommands
	specific      int    // arguments that name a file or a part of the project
}

var (
	firstSpan = lazyregexp.New("`([^`]+)`")
	inDir     = lazyregexp.New("^ in `([^`]+)`")
)

// parseCommand parses a command statement: "PURPOSE: `CMD` in `DIR` (N times)", or any line with a code span, as
// language models write. It returns nil if there is no code span.
func parseCommand(text string) *command {
	at := firstSpan.FindStringSubmatchIndex(text)
	if at == nil {
		return nil
	}
	c := &command{line: strings.TrimSpace(text[at[2]:at[3]])}
	c.purpose = strings.ToLower(strings.TrimRight(text[:at[0]], ": "))
	if !slices.Contains(purposes, c.purpose) {
		c.purpose = purposeOf(c.line)
	}
	c.text = c.purpose + ": " + codeSpan(c.line)
	if m := inDir.FindStringSubmatch(text[at[1]:]); m != nil && m[1] != "." {
		c.text += " in " + codeSpan(m[1])
	}
	if c.head, c.specific = shapeOf(c.line); c.head == "" {
		return nil
	}
	return c
}

// purposeOf guesses the purpose of a command from its words, for statements without one.
func purposeOf(line string) string {
	for _, w := range split(line) {
		for _, p := range []struct{ purpose, names string }{
			{"test", "test tests pytest jest vitest rspec tox"}, {"lint", "lint eslint ruff golangci-lint clippy vet"},
			{"format", "fmt format gofmt prettier black"}, {"build", "build compile"}, {"check", "check typecheck tsc mypy"},
			{"generate", "generate codegen"}, {"set up", "install sync setup"}, {"release", "release publish deploy"},
		} {
			if set(p.names)[path.Base(w)] {
				return p.purpose
			}
		}
	}
	return "run"
}

// prefix matches words before a command that do not change it: an assignment, or a program that runs it, with its
// options.
var prefix = lazyregexp.New(`^([A-Za-z_][A-Za-z0-9_]*=.*|(/usr/bin/)?(env|sudo|time)|-.*)$`)

// shapeOf returns the head of a command, which is its program and subcommands. specific is the number of its
// arguments.
func shapeOf(line string) (head string, specific int) {
	var parts []string
	for _, w := range strings.Fields(line) {
		w = strings.Trim(w, `"'`)
		switch {
		case w == "" || len(parts) == 0 && prefix.MatchString(w):
		case len(parts) == 0:
			parts = append(parts, path.Base(w))
		case w[0] == '-' || w == "." || w == "./...":
		case strings.ContainsAny(w, "/.=*:$") && !scriptName(parts, w) || len(parts) > 3:
			specific++
		default:
			parts = append(parts, w)
		}
	}
	return strings.Join(parts, " "), specific
}

// scriptName reports whether a word names a script or a target: that of "npm run test:unit",
// or the file of "python manage.py".
func scriptName(parts []string, w string) bool {
	return strings.Contains(w, ":") && !strings.Contains(w, "/") ||
		len(parts) == 1 && path.Ext(w) != "" && path.Base(w) == w
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
			c := parseCommand(st.Text)
			if c == nil || st.Kind != memoir.StatementCommand {
				continue
			}
			if seen[c.text] == nil {
				seen[c.text] = c
				heads[c.purpose+"\n"+c.head] = append(heads[c.purpose+"\n"+c.head], c)
			}
			seen[c.text].add(s, c.text)
		}
	}
	var examples []*command
	general := map[string]bool{} // purposes
	for _, list := range heads {
		best := slices.MinFunc(list, func(a, b *command) int {
			return cmp.Or(a.specific-b.specific, len(b.sessions)-len(a.sessions), len(a.line)-len(b.line),
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
		general[best.purpose] = general[best.purpose] || best.specific == 0
	}
	slices.SortFunc(examples, func(a, b *command) int {
		return cmp.Or(slices.Index(purposes, a.purpose)-slices.Index(purposes, b.purpose), len(b.sessions)-len(a.sessions),
			a.specific-b.specific, len(strings.Fields(a.line))-len(strings.Fields(b.line)), byAge(&a.claim, &b.claim))
	})
	var out []*claim
	count := map[string]int{}
	for _, c := range examples {
		if c.specific > 0 && len(c.sessions) == 1 && general[c.purpose] || count[c.purpose] == maxOfPurpose {
			continue
		}
		count[c.purpose]++
		out = append(out, &c.claim)
	}
	return out
}
