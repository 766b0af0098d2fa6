package consolidate

import (
	"context"
	"slices"
	"strings"

	"memoir"
)

// BuiltinName is the name of the model that needs no network.
const BuiltinName = "builtin"

// Limits where the input names none.
const (
	DefaultMemoryBytes   = 64 << 10
	DefaultSummaryTokens = 5000
)

type builtin struct{}

var _ Consolidator = builtin{}

// NewBuiltin returns the built-in model: deterministic, offline, independent of
// the order of the extractions and of earlier generations.
func NewBuiltin() Consolidator { return builtin{} }

// Name is BuiltinName.
func (builtin) Name() string { return BuiltinName }

// Consolidate makes the files of the extractions alone; the usage is zero. Its error is of
// memoir.CodeInvalid where there are no extractions, else that of the context.
func (builtin) Consolidate(ctx context.Context, in Input) (memoir.Consolidation, memoir.Usage, error) {
	sessions := arrange(without(in.Extractions, in.Withdrawn))
	if len(sessions) == 0 {
		return memoir.Consolidation{}, memoir.Usage{}, memoir.Errorf(memoir.CodeInvalid, "", "nothing to consolidate: the project has no extractions")
	}
	if err := ctx.Err(); err != nil {
		return memoir.Consolidation{}, memoir.Usage{}, err
	}
	markAbroad(sessions, in.Project)
	notes := LiveNotes(in.Notes, in)
	name := titleOf(in.Project, sessions)
	d := takeUp(in.Draft, sessions)
	k := learn(sessions, d, rejected(notes))
	skills := skills(k, d)
	memory := k.memory(name, len(skills), orDefault(in.MaxMemoryBytes, DefaultMemoryBytes))
	out := memoir.Consolidation{
		MemoryMD:      memory,
		MemorySummary: k.summary(name, skills, memory, orDefault(in.SummaryTokens, DefaultSummaryTokens)-(toldBytes(notes)+3)/4),
		Skills:        skills,
		Draft:         d.bytes(),
	}
	return ApplyNotes(out, notes), memoir.Usage{}, nil
}

func orDefault(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}

// without leaves out the extractions of withdrawn sessions, should a caller have
// handed them over.
func without(extractions []memoir.Extraction, withdrawn []string) []memoir.Extraction {
	if len(withdrawn) == 0 {
		return extractions
	}
	gone := map[string]bool{}
	for _, key := range withdrawn {
		gone[key] = true
	}
	var out []memoir.Extraction
	for _, e := range extractions {
		if !gone[e.SessionKey] {
			out = append(out, e)
		}
	}
	return out
}

// knowledge is what a project's sessions say together.
type knowledge struct {
	sessions    []*session // oldest first
	last        *session
	ran         map[string]int // command -> rank of the last session in which it succeeded
	requests    []*claim       // what is asked for time and again
	manner      []*claim       // how the user works otherwise
	preferences []*claim
	commands    []*claim
	known       []group
	failures    []*claim
	files       []*claim
	environment []*claim
	open        []*claim
	page        *stated // what the sections before Recent work say
}

// learn joins what the sessions say, but for claims that a person rejected.
func learn(sessions []*session, d *draft, rejected func(text string) bool) *knowledge {
	k := &knowledge{sessions: sessions, last: sessions[len(sessions)-1], ran: lastRuns(sessions)}
	k.requests, k.manner = requests(sessions), manner(sessions)
	k.preferences = settle(d.cluster(sessions, memoir.StatementPreference))
	k.commands = retire(tallyCommands(sessions), sessions)
	known := rules(settle(d.cluster(sessions, memoir.StatementDecision)))
	all := d.cluster(sessions, memoir.StatementFailure)
	for _, c := range all {
		if elsewhere(c.text) != "" {
			continue
		}
		if head, ok := unresolved(c.text); ok {
			if k.solved(head, c) {
				continue
			}
			k.open = append(k.open, c)
			continue
		}
		k.failures = append(k.failures, c)
	}
	k.failures = instructive(k.failures)
	k.open = append(k.open, endings(sessions)...)
	k.environment = newest(settle(d.cluster(sessions, memoir.StatementEnvironment)))
	removed := removals(sessions)
	k.files = leave(tallyFiles(sessions), removed)
	known = slices.DeleteFunc(newest(known), func(c *claim) bool { return outdated(c, removed) })
	for _, list := range []*[]*claim{&k.requests, &k.manner, &k.preferences, &k.commands, &known, &k.failures, &k.files, &k.environment, &k.open} {
		*list = slices.DeleteFunc(*list, func(c *claim) bool { return rejected(c.text) })
		for _, c := range *list {
			c.rate(k.last)
		}
		byValue(*list)
	}
	k.commands = byUse(k.commands)
	known = k.once(known)
	k.known = areas(known, homes(sessions))
	return k
}

// unresolved returns the command of a failure that no session is known to have mended.
func unresolved(text string) (command string, ok bool) {
	if !strings.HasSuffix(text, "— unresolved") && !strings.HasSuffix(text, "(unresolved)") {
		return "", false
	}
	name, _, _ := splitCommand(text)
	return name, true
}

// solved reports whether a later session ran a command with success.
func (k *knowledge) solved(name string, c *claim) bool {
	rank, ok := k.ran[name]
	return ok && rank > c.newest().rank
}

// lastRuns tells for each command the last session in which it succeeded.
func lastRuns(sessions []*session) map[string]int {
	out := map[string]int{}
	for _, s := range sessions {
		for _, st := range s.statements {
			if st.Kind == memoir.StatementCommand && elsewhere(st.Text) == "" {
				name, _, _ := splitCommand(st.Text)
				out[name] = s.rank
			}
		}
	}
	return out
}

// endings lists the sessions that ended partly, badly, or with a question of the
// agent that nobody answered.
func endings(sessions []*session) []*claim {
	var out []*claim
	for _, s := range sessions {
		status, what := s.outcome()
		question := s.unanswered()
		if status != "partial" && status != "failed" && question == "" {
			continue
		}
		text := status + ": " + s.asked()
		if question != "" {
			text += " — " + question
		} else if what != "" {
			text += " — " + what
		}
		c := &claim{kind: memoir.StatementOutcome}
		c.add(s, text)
		out = append(out, c)
	}
	return out
}

// outcome splits a session's outcome into its status and what came of it. Where each task
// has its own, as language models write them, the first that is not done is the
// session's, which then is done in part at best.
func (s *session) outcome() (status, what string) {
	first, mixed := true, false
	for _, st := range s.statements {
		if st.Kind != memoir.StatementOutcome {
			continue
		}
		one, came := statusOf(st.Text)
		switch {
		case first:
			if first, status, what = false, one, came; one == "" {
				return "", st.Text
			}
		case one == "" || one == status:
		case status == "done":
			status, what, mixed = one, came, true
		default:
			mixed = true
		}
	}
	if mixed {
		status = "partial"
	}
	return status, what
}

// statusOf splits an outcome into its status, empty if it begins with none, and what
// came of it.
func statusOf(text string) (status, what string) {
	status, what, _ = strings.Cut(text, " ")
	switch status = strings.ToLower(strings.Trim(status, ":,.—-*`")); status {
	case "done", "partial", "failed", "unknown":
		return status, strings.TrimSpace(strings.TrimLeft(what, "—–-: "))
	}
	return "", text
}

// unanswered is what the agent asked at the end of a session, if it did.
func (s *session) unanswered() string {
	for _, st := range s.statements {
		if st.Kind == memoir.StatementOutcome && strings.HasPrefix(strings.ToLower(st.Text), openEnd) {
			return st.Text[len(openEnd):]
		}
	}
	return ""
}

// openEnd begins the statement of a question that nobody answered.
const openEnd = "open at the end: "

// asked is what a session was about.
func (s *session) asked() string {
	if t := oneLine(s.Title); t != "" {
		return t
	}
	for _, st := range s.statements {
		if st.Kind == memoir.StatementTask {
			return cut(st.Text, 100)
		}
	}
	return "a session"
}
