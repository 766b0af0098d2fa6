package consolidate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"memoir"
	"memoir/extract"
	"memoir/model"
	"memoir/prompts"
)

// LLM calls a language model to consolidate. The prompt has the present memory and the new and changed sessions, oldest
// first, as many as fit; the others are Open in the result. Without such sessions no call is made, unless Forced is
// set. Withdrawn sessions are removed before the call; hand edits are applied to the answer. An answer that breaks a
// rule is sent back once; then Consolidate fails with a *memoir.AnswerError.
type LLM struct {
	Model     model.Model // makes retries itself
	MaxOutput int         // configured cap on an answer, in tokens; 0: none

	// Report is called for each answer that is used; it may be nil. It must be safe for concurrent use.
	Report func(Report)
}

// Report counts the lines of MEMORY.md in an answer that was used.
type Report struct {
	Kept    int // lines that cite a session
	Uncited int // lines that cite none and were dropped
	// Unsupported counts lines of all files that were dropped since no session that they cite has what they quote, the
	// commands that they name or the wish that they attribute to a person.
	Unsupported int
}

var _ Consolidator = LLM{}

// Name returns the model's name: provider/model.
func (m LLM) Name() string { return m.Model.Name() }

// Consolidate calls the model as LLM describes. The error has the code memoir.CodeInvalid if there are no
// extractions; else it is a *memoir.AnswerError, the model's, or that of the context.
func (m LLM) Consolidate(ctx context.Context, in Input) (memoir.Consolidation, error) {
	if err := ctx.Err(); err != nil {
		return memoir.Consolidation{}, err
	}
	in.Extractions = without(in.Extractions, in.Withdrawn)
	sessions := arrange(in.Extractions)
	if len(sessions) == 0 {
		return memoir.Consolidation{}, errNothing()
	}
	r := newRenewal(in, sessions, nil)
	if len(r.due) == 0 {
		return r.asIs()
	}
	q := newQuestion(m, r)
	out, err := q.settle(ctx)
	if err != nil {
		return memoir.Consolidation{}, err
	}
	out.Open = r.stillDue(q.sessions)
	if m.Report != nil {
		m.Report(Report{Kept: r.kept, Uncited: r.uncited, Unsupported: r.unsupported})
	}
	return out, nil
}

const (
	anyInput     = 100_000 // tokens of a prompt if the model's window is unknown
	leastRoom    = 300     // least tokens for sessions in a prompt
	answerFrame  = 2000    // tokens of an answer besides MEMORY.md
	maxHalved    = 3       // times that a prompt that was too long is halved
	maxFaults    = 12      // faults of an answer that are listed
	maxEdits     = 16 << 10
	maxShownBad  = 256 << 10 // bytes of a bad answer that its model is shown again
	listEntry    = 12        // tokens of a session in the list of new sessions
	maxStatement = 4000      // bytes of a statement in a prompt

	restLeft = "…\n(the rest is left out)\n" // the end of a text that was cut
)

// A question sends one batch of sessions to a model until an answer is valid or the attempts are used up.
type question struct {
	llm     LLM
	renewal *renewal
	vars    prompts.ConsolidateVars
	input   int // maximum tokens of the prompt
	output  int // tokens that the answer may need, or the configured cap if that is larger
	fixed   int // tokens without sessions

	sessions []*session // in this batch, oldest first
}

// newQuestion fits a question to the model's window, with room for an answer that repeats the memory and adds to
// it. In a small window the budget of the memory is smaller, but not below its present size.
func newQuestion(m LLM, r *renewal) *question {
	window, present := m.Model.Window(), len(r.present.MemoryMD)
	memory, _ := r.in.budgets(modelBudget)
	if window > 0 {
		memory = min(memory, max(window*4/5, present+1000))
	}
	q := &question{llm: m, renewal: r, input: anyInput}
	q.output = max(max(memory, present)/4*23/20+answerFrame, m.MaxOutput) // 15 % for JSON's escapes
	if window > 0 {
		q.output = min(q.output, window/2)
		q.input = window - q.output - window/20
	}
	q.vars = prompts.ConsolidateVars{
		Project:       r.in.Project.Name,
		MemoryBytes:   memory,
		CurrentMemory: r.present.MemoryMD, CurrentSkills: r.shownSkills(q.input / 4),
		HandEdits: shownEdits(r.edits), WithdrawnSessions: sortedKeys(r.forgot),
		Date: r.sessions[len(r.sessions)-1].EndedAt,
	}
	q.vars.Journals = memoir.CutBytes(r.in.Journals, q.input, restLeft) // q.input bytes are a quarter of its tokens
	if most, _ := r.in.limits(); present > most {
		q.vars.Over = present
	}
	system, input := prompts.Consolidate(q.vars)
	q.fixed = memoir.Tokens(system) + memoir.Tokens(input)
	return q
}

// settle calls the model. If the prompt is too long, it calls again with half of the sessions, up to maxHalved
// times. An answer that breaks a rule is sent back once.
func (q *question) settle(ctx context.Context) (memoir.Consolidation, error) {
	failed := func(err error) (memoir.Consolidation, error) {
		return memoir.Consolidation{}, &memoir.AnswerError{Err: err}
	}
	room := q.input - q.fixed
	if room < leastRoom {
		return memoir.Consolidation{}, memoir.Errorf(memoir.CodeModel,
			"use a model with a larger window, or lower memories.maxMemorySize",
			"the memory leaves no room for sessions in a question to %s: it takes %d of %d tokens", q.llm.Name(),
			q.fixed, q.input)
	}
	request := q.render(room)
	for halved := 0; ; {
		a, err := q.llm.Model.Call(ctx, request)
		var e *model.Error
		switch long := errors.As(err, &e) && e.Class == model.ClassTooLong; {
		case long && halved < maxHalved:
			halved++
			sent := memoir.Tokens(request.System) + memoir.Tokens(request.Input)
			request = q.render(min(room, max(sent/2-q.fixed, leastRoom)))
			continue
		case long:
			err = memoir.Errorf(memoir.CodeModel,
				"set the window of the provider or model to what it takes, or lower memories.maxMemorySize", "%w", err)
		}
		if err != nil {
			return memoir.Consolidation{}, err
		}
		if err := stopped(q.llm.Name(), a); err != nil {
			return failed(err)
		}
		out, faults := q.renewal.read(a.Text, q.sessions)
		if len(faults) == 0 {
			return out, nil
		}
		if len(request.Earlier) > 0 {
			return failed(memoir.Errorf(memoir.CodeInvalid,
				"the memory is unchanged; try again, or try another model",
				"the answer of %s breaks a rule: %s", q.llm.Name(), faults[0]))
		}
		shown := memoir.CutBytes(a.Text, maxShownBad, restLeft)
		request.Earlier = []model.Exchange{{Answer: shown, Objection: objection(faults)}}
	}
}

// stopped returns the error of an incomplete or empty answer, or nil.
func stopped(name string, a model.Answer) error {
	switch {
	case a.Stop == model.StopRefusal:
		return memoir.Errorf(memoir.CodeModel, "try another model", "%s declined to answer", name)
	case a.Stop == model.StopLength:
		return memoir.Errorf(memoir.CodeModel, "raise the model's maxOutputTokens, or lower memories.maxMemorySize",
			"the answer of %s was cut by the cap on its output", name)
	case strings.TrimSpace(a.Text) == "":
		return memoir.Errorf(memoir.CodeModel, "try again, or try another model", "%s gave an empty answer", name)
	}
	return nil
}

func objection(faults []string) string {
	if n := len(faults); n > maxFaults {
		faults = append(faults[:maxFaults:maxFaults], fmt.Sprintf("and %d more", n-maxFaults))
	}
	return "The answer breaks these rules:\n- " + strings.Join(faults, "\n- ") +
		"\nGive the whole JSON object again, with these things put right and the rest as it was."
}

// render fills in the prompts with due sessions, oldest first, as many complete ones as fit into room tokens. If
// the first one alone is too long, the prompt has its beginning: tasks, outcomes, preferences, failures.
func (q *question) render(room int) model.Request {
	q.sessions = nil
	var fresh, changed, statements []string
	tokens := 0
	for _, s := range q.renewal.due {
		text := s.shown()
		if strings.Contains(q.vars.Journals, " ["+strings.ReplaceAll(s.SessionKey, ":", "-")+" ") {
			text = "" // a line of a journal, which the prompt has
		}
		size := memoir.Tokens(text) + listEntry
		if tokens+size > room {
			if len(q.sessions) > 0 {
				break
			}
			text = memoir.CutBytes(text, 4*(room-listEntry), restLeft)
			size = memoir.Tokens(text) + listEntry
		}
		q.sessions = append(q.sessions, s)
		tokens += size
		statements = append(statements, text)
		if q.renewal.known[s.SessionKey] {
			changed = append(changed, s.cite())
		} else {
			fresh = append(fresh, s.cite())
		}
	}
	q.vars.NewSessions, q.vars.ChangedSessions = fresh, changed
	q.vars.RawMemories = strings.Join(statements, "\n")
	system, input := prompts.Consolidate(q.vars)
	return model.Request{System: system, Input: input, Schema: answerSchema, Output: q.output}
}

// shown returns the text of a session for a prompt: its statements, without item numbers and without claims, which
// never reach a memory; if it has none, its rollout summary.
func (s *session) shown() string {
	var plain []memoir.Statement
	for _, st := range s.statements {
		if st.Kind != memoir.StatementClaim && st.Stands == "" {
			st.Text, st.Items = cut(extract.Titled(strings.Join(strings.Fields(st.Text), " ")), maxStatement), nil
			plain = append(plain, st)
		}
	}
	text := strings.ReplaceAll(memoir.FormatStatements(plain), "## ", "### ")
	return "## " + s.cite() + ": " + cut(s.asked(), 100) + "\n\n" + cmp.Or(text, strings.TrimSpace(s.RolloutSummary)+"\n")
}

// shownSkills returns the present skills for a prompt: complete if they have at most most tokens, else only their
// descriptions.
func (r *renewal) shownSkills(most int) string {
	var whole, short strings.Builder
	files := open(memoir.Consolidation{Skills: r.present.Skills})
	for _, name := range sortedKeys(files) {
		if _, _, _, ok := memoir.SkillPath(name); ok {
			whole.WriteString("=== " + name + "\n" + strings.TrimRight(files[name], "\n") + "\n\n")
		}
	}
	for _, s := range r.present.Skills {
		short.WriteString("skills/" + s.Name + ": " + describe(s) + "\n")
	}
	if memoir.Tokens(whole.String()) > most {
		return short.String()
	}
	return whole.String()
}

// shownEdits lists the hand edits for a prompt, the newest last, within maxEdits bytes, without unconfirmed claims of
// agents. The program applies all of them in any case.
func shownEdits(edits []memoir.HandEdit) string {
	var out []string
	listed := map[int64]bool{} // the summary repeats some edits
	for _, n := range edits {
		name, text := path.Clean(n.File), strings.TrimSpace(n.Text)
		line := "wrote the file " + name
		switch n.Action {
		case memoir.EditAdded:
			line = "added to " + name + " under " + n.Section + ": " + text
		case memoir.EditRemoved:
			line = "removed from " + name + ": " + text
		case memoir.EditDeleted:
			line = "deleted the file " + name
		}
		if (!listed[n.ID] || n.ID == 0) && !isClaim(text) {
			out = append(out, line)
		}
		listed[n.ID] = true
	}
	for size := len(strings.Join(out, "\n")); size >= maxEdits; out = out[1:] {
		size -= len(out[0]) + 1
	}
	return strings.Join(out, "\n")
}
