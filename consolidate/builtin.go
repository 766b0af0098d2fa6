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
	var out memoir.Consolidation
	if in.Base != nil {
		out, in.Accepted = in.based(name, bytes, most)
	} else if out = memoryOf(name, sessions, learn(sessions), bytes, most); len(out.Lines) == 0 {
		out.MemoryMD = strings.TrimSpace(out.MemoryMD) +
			" No line from them is sure enough yet; `memoir search` finds what they say.\n"
	}
	edited := withHandEdits(out, edits, false)
	out.MemorySummary = summarise(in, readPage(edited.MemoryMD), edited.Skills,
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
	known = slices.DeleteFunc(known, func(c *claim) bool { return c.contradicted(wanted) })
	for _, c := range known {
		if c.Signal == extract.SignalRefused && c.count() == 1 {
			c.once()
		}
	}
	own := slices.DeleteFunc(slices.Clone(sessions), func(s *session) bool { return memoir.MemberOf(s.SessionKey) != "" })
	open := merge(own[max(0, len(own)-1):], memoir.StatementOpen, byWords) // others may be done by now
	slices.SortStableFunc(open, byAge)
	return []part{
		{headPreferences, wanted, maxRules},
		{headOnce, once, maxOthers},
		{headCommands, commands(sessions), len(purposes) * maxOfPurpose},
		{headKnown, known, maxKnown},
		{headFailures, failures(sessions), maxFailures},
		{headEnvironment, gather(sessions, memoir.StatementEnvironment), maxOthers},
		{headRecent, recent(sessions, known), maxRecent},
		{headOpen, open, maxOthers},
	}
}

// failures returns the failures with what passed. Of several things that passed after the same one, the newest counts,
// but one session alone outdoes no several.
func failures(sessions []*session) []*claim {
	all := gather(sessions, memoir.StatementFailure)
	return slices.DeleteFunc(slices.Clone(all), func(c *claim) bool {
		return slices.ContainsFunc(all, func(o *claim) bool {
			return o.Signature != "" && o.Signature == c.Signature && o.Command == c.Command && o.differs(c) && o.outdoes(c)
		})
	})
}

// outdoes reports whether what passed after a failure counts rather than what did in other sessions.
func (c *claim) outdoes(o *claim) bool {
	newer := c.newest().rank > o.newest().rank
	switch several := c.count() > 1; {
	case c.theirs() != o.theirs():
		return newer && c.theirs() == 0
	case several != (o.count() > 1):
		return several
	}
	return newer
}

// wishes returns what a person wants, and the rules that they stated in one session only, newest first. Whether
// words hold from now on is not decided by their form: a person repeats them or writes a note, or a model judges them.
func wishes(sessions []*session) (wanted, once []*claim) {
	all := gather(sessions, memoir.StatementPreference)
	bySupport(all)
	for _, c := range all {
		switch {
		case c.orders() > 1 || c.written() > 0 || c.Signal != memoir.SignalRule && c.Signal != memoir.SignalMaybe:
			wanted = append(wanted, c)
		case c.Signal == memoir.SignalRule:
			c.once()
			c.sessions = c.sessions[len(c.sessions)-1:] // others had the same order
			once = append(once, c)
		}
	}
	slices.SortStableFunc(once, byAge)
	return wanted, once
}

// orders counts the sessions in which a person said a wish. Those that begin with the same prompt count once.
func (c *claim) orders() int {
	said := map[string]bool{}
	for _, s := range c.sessions {
		key := s.SessionKey
		for _, st := range s.statements {
			if slices.Contains(c.ids, st.ID) {
				key = cmp.Or(st.Order, key)
			}
		}
		said[key] = true
	}
	return len(said)
}

// once marks a claim as said once.
func (c *claim) once() { c.text = memoir.SaidOnce(c.text, cmp.Or(c.At, c.newest().date)) }

// contradicted reports whether a command that one session refused stands in a wish of several.
func (c *claim) contradicted(wanted []*claim) bool {
	was := extract.Refused(c.Statement)
	command := memoir.WordsOf(was)
	return was != "" && c.count() == 1 && slices.ContainsFunc(wanted, func(o *claim) bool {
		_, named := memoir.Token(o.text, strings.Trim(was, "`"), 0)
		return named && o.count() > 1 && command.Shared(o.words) == len(command)
	})
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
			if n == perSession || st.Outcome == "" || st.Kind != memoir.StatementTask && st.Kind != memoir.StatementOutcome {
				continue
			}
			var title string
			title, st.Text = workOf(st)
			member := memoir.MemberOf(s.SessionKey) != "" // whose line hides no work of this person
			says := func(c *claim) bool { return (member || c.theirs() == 0) && strings.Contains(c.text, title) }
			if seen[title] || slices.ContainsFunc(known, says) {
				continue
			}
			seen[title] = true
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

// workOf returns the title of recent work, and its line.
func workOf(st memoir.Statement) (title, line string) {
	name, title, titled := strings.Cut(extract.Titled(oneLine(st.Outcome)), ": ")
	if line = st.Text; titled && strings.HasPrefix(title, `"`) {
		line = strings.Replace(name, "committed", "commit", 1) + ": " + title
	} else {
		title = memoir.Folded(line)
	}
	if why := oneLine(st.Detail); why != "" && !strings.Contains(line, why) {
		line += " — it said: " + why
	}
	return title, line
}

// purposes of commands in their order in MEMORY.md.
var purposes = []string{extract.ForCommit, "set up", "build", "test", "lint", "format", "check", "generate", "run",
	"release"}

const maxOfPurpose = 4

// commands returns the commands that passed and that one look does not tell, at most maxOfPurpose for each purpose:
// this person's before those of other members in turns, then those of most sessions first. A line cites the sessions
// that ran exactly this command. It is left out if the project's own files say it, what is run before a commit also if
// they said so of one session or one commit shows it. What only other members' commits make a custom is theirs, also if
// this person ran it once.
func commands(sessions []*session) []*claim {
	var said []memoir.Statement                                                        // by this person
	told, stands, commits := map[string]bool{}, map[string]bool{}, commitsOf(sessions) // by line, purpose and line
	for _, s := range sessions {
		for _, st := range s.statements {
			line := commandLine(st)
			told[line] = told[line] || st.Signal != extract.SignalPassed
			stands[st.Purpose] = stands[st.Purpose] || st.Stands != ""
			if st.By == memoir.ByPerson && st.Kind != memoir.StatementRefuted && memoir.MemberOf(s.SessionKey) == "" {
				said = append(said, st)
			}
		}
	}
	theirs := func(c *claim) int {
		if c.Purpose == extract.ForCommit && commits[commandLine(c.Statement)] < 2 {
			return 1
		}
		return c.theirs()
	}
	all := merge(sessions, memoir.StatementCommand, commandLine)
	slices.SortFunc(all, func(a, b *claim) int {
		return cmp.Or(slices.Index(purposes, a.Purpose)-slices.Index(purposes, b.Purpose), theirs(a)-theirs(b),
			b.count()-a.count(), len(strings.Fields(a.Command))-len(strings.Fields(b.Command)), byAge(a, b))
	})
	inTurns(all, theirs)
	count := map[string]int{}
	return slices.DeleteFunc(all, func(c *claim) bool {
		c.text = commandLine(c.Statement)
		refused := func(st memoir.Statement) bool { return forbids(st, c.Command) }
		if !told[c.text] || c.Stands != "" || count[c.Purpose] == maxOfPurpose || slices.ContainsFunc(said, refused) ||
			c.Purpose == extract.ForCommit && (count[c.Purpose] > 0 || stands[c.Purpose] || c.count() < 2 && c.Times < 2) {
			return true
		}
		if count[c.Purpose]++; theirs(c) > 0 {
			c.sessions = slices.DeleteFunc(c.sessions, func(s *session) bool { return memoir.MemberOf(s.SessionKey) == "" })
		}
		return false
	})
}

// commitsOf counts this person's commits before which a command ran, by its line.
func commitsOf(sessions []*session) map[string]int {
	out := map[string]int{}
	for _, s := range sessions {
		for _, st := range s.statements {
			if st.Purpose == extract.ForCommit && memoir.MemberOf(s.SessionKey) == "" {
				out[commandLine(st)] += max(1, st.Times)
			}
		}
	}
	return out
}

// commandLine is the line of a command, by which it is known.
func commandLine(st memoir.Statement) string {
	text := st.Purpose + ": " + memoir.CodeSpan(st.Command)
	if st.Dir != "" {
		text += " in " + memoir.CodeSpan(st.Dir)
	}
	return text
}
