package consolidate

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// BuiltinName is the name of the model that needs no network.
const BuiltinName = "builtin"

type builtin struct{}

var _ Consolidator = builtin{}

// NewBuiltin returns the built-in model: it merges, counts, ages and renders what
// the sessions state, and adds nothing. It is deterministic, offline, and independent
// of the order of the extractions and of earlier generations.
func NewBuiltin() Consolidator { return builtin{} }

// Name is BuiltinName.
func (builtin) Name() string { return BuiltinName }

// Consolidate makes the files of the extractions alone; the usage is zero. Its error is of
// memoir.CodeInvalid where there are no extractions, else that of the context.
func (builtin) Consolidate(ctx context.Context, in Input) (memoir.Consolidation, memoir.Usage, error) {
	sessions := arrange(without(in.Extractions, in.Withdrawn))
	if len(sessions) == 0 {
		return memoir.Consolidation{}, memoir.Usage{}, errNothing()
	}
	if err := ctx.Err(); err != nil {
		return memoir.Consolidation{}, memoir.Usage{}, err
	}
	name, notes := projectName(in.Project), LiveNotes(in.Notes, in)
	parts := learn(sessions)
	bytes, summary := in.budgets()
	memory, lists := memoryOf(name, sessions, parts, bytes)
	out := memoir.Consolidation{MemoryMD: memory, Citations: lists, Skills: skills(sessions, parts[0].claims)}
	out = ApplyNotes(out, notes) // before the summary, so that it tells nothing that a person removed
	_, tokens := in.limits()
	out.MemorySummary = summarise(name, readPage(out.MemoryMD), out.Skills,
		min(summary, 4*tokens-noteBytes(notes, memoir.SummaryFile)))
	return ApplyNotes(out, notes), memoir.Usage{}, nil
}

func errNothing() error {
	return memoir.Errorf(memoir.CodeInvalid, "", "nothing to consolidate: the project has no extractions")
}

// Least support of what counts as lasting, in sessions.
const (
	leastRequired    = 3
	leastFiles       = 5
	leastCorrections = 2
)

// learn joins what the sessions say to the parts of MEMORY.md, preferences first.
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

// marked splits off the claims that begin with a mark, without it; those of fewer than
// least sessions are left out.
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

// edits tells how often a session changed a file.
var edits = lazyregexp.New(`\s*\(\d+ edits?\)$`)

// files are those that were changed in at least leastFiles sessions; what a session says
// about one beyond that stays with it.
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

// Bounds of recent work.
const (
	maxRecent      = 20 // lines
	recentSessions = 20 // that are looked at for what is open
	perSession     = 3  // lines of one session
)

// recent lists what the newest sessions were asked and what became of it, a session's
// last lines first. A request of which nothing came is left out.
func recent(sessions []*session) []*claim {
	var out []*claim
	seen := map[string]bool{}
	for _, s := range slices.Backward(sessions) {
		n := 0
		for _, text := range slices.Backward(s.work()) {
			key := byWords(text)
			if n == perSession || seen[key] {
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
	became  = " → " // between a request and what became of it
	further = " — " // between a subject and its body
)

// work are the lines of a session's tasks and outcomes. The body of an outcome goes to
// the task that tells its subject; other outcomes have lines of their own, and in a
// session of one task follow it.
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
		request, came, told := strings.Cut(task, became)
		for i, outcome := range outcomes {
			subject, body, _ := strings.Cut(outcome, further)
			_, title, _ := strings.Cut(subject, ": ")
			switch {
			case told && title != "" && (strings.HasSuffix(came, title) || strings.HasSuffix(request, title)):
				if body != "" {
					task += further + body
				}
			case !told && len(tasks) == 1:
				task += became + outcome
				told = true
			default:
				continue
			}
			outcomes = slices.Delete(slices.Clone(outcomes), i, i+1)
			break
		}
		if told {
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
