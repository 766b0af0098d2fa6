package consolidate

import (
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
	notes := LiveNotes(in.Notes, in)
	name := projectName(in.Project)
	k := learn(sessions, rejected(notes))
	memory, summary := in.budgets()
	_, tokens := in.limits()
	page, lists := k.memory(name, memory)
	out := memoir.Consolidation{MemoryMD: page.String(), Citations: lists, Skills: skills(sessions, k.preferences)}
	out.MemorySummary = summarise(name, page, out.Skills, min(summary, 4*tokens-noteBytesOf(notes, memoir.SummaryFile)))
	return ApplyNotes(out, notes), memoir.Usage{}, nil
}

func errNothing() error {
	return memoir.Errorf(memoir.CodeInvalid, "", "nothing to consolidate: the project has no extractions")
}

// knowledge is what a project's sessions say together, best first.
type knowledge struct {
	sessions    []*session // oldest first
	preferences []*claim
	required    []*claim
	commands    []*claim
	known       []*claim
	failures    []*claim
	environment []*claim
	files       []*claim
	recent      []*claim
	open        []*claim
}

// Least support of what counts as lasting, in sessions.
const (
	leastRequired    = 3
	leastFiles       = 5
	leastCorrections = 2
)

// learn joins what the sessions say, but for claims that a person rejected.
func learn(sessions []*session, rejected func(text string) bool) *knowledge {
	k := &knowledge{sessions: sessions}
	rules, corrections := marked(gather(sessions, memoir.StatementPreference), memoir.CorrectionMark, leastCorrections)
	k.preferences = settled(append(rules, corrections...))
	bySupport(k.preferences)
	k.environment, k.required = marked(gather(sessions, memoir.StatementEnvironment), memoir.RequiredMark, leastRequired)
	for _, c := range commands(sessions) {
		k.commands = append(k.commands, &c.claim)
	}
	kinds := []memoir.StatementKind{memoir.StatementDecision, memoir.StatementFinding, memoir.StatementRefuted}
	for _, kind := range kinds {
		claims := gather(sessions, kind)
		for _, c := range claims {
			if kind == memoir.StatementRefuted && !strings.Contains(strings.ToLower(c.text), "refuted") {
				c.text = "refuted: " + c.text
			}
		}
		k.known = append(k.known, claims...)
	}
	bySupport(k.known)
	k.failures = gather(sessions, memoir.StatementFailure)
	k.files = files(sessions)
	k.recent = recent(sessions)
	k.open = merge(sessions[max(0, len(sessions)-recentSessions):], memoir.StatementOpen, byWords)
	slices.SortStableFunc(k.open, byAge)
	for _, list := range k.lists() {
		*list = slices.DeleteFunc(*list, func(c *claim) bool { return rejected(c.text) })
	}
	return k
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

func (k *knowledge) lists() []*[]*claim {
	return []*[]*claim{
		&k.preferences, &k.required, &k.commands, &k.known, &k.failures, &k.environment, &k.files, &k.recent, &k.open,
	}
}

// rejected tells what a person took out of MEMORY.md and did not put back, in
// whichever words it comes again.
func rejected(notes []memoir.Note) func(text string) bool {
	out := map[string]bool{}
	for _, n := range notes {
		key := byWords(withoutMark(uncited(n.Text)))
		switch {
		case n.File != memoir.MemoryFile || key == "":
		case n.Action == memoir.NoteRemoved && !isHeading(strings.TrimSpace(n.Text)):
			out[key] = true
		case n.Action == memoir.NoteAdded:
			delete(out, key)
		}
	}
	return func(text string) bool { return out[byWords(text)] }
}

// withoutMark is a line without the mark of a list's entry.
func withoutMark(line string) string { return listMark.ReplaceAllString(strings.TrimSpace(line), "") }

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
	slices.SortStableFunc(all, func(a, b *claim) int {
		if n := len(b.sessions) - len(a.sessions); n != 0 {
			return n
		}
		return byAge(a, b)
	})
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
