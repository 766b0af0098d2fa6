package consolidate

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"memoir"
	"memoir/model"
	"memoir/prompts"
)

const (
	anyInput    = 100_000 // tokens of a question to a model whose window is unknown
	leastRoom   = 300     // tokens for sessions, below which asking makes no sense
	answerFrame = 2000    // tokens of an answer beside the two files
	maxHalved   = 3       // times that a question that was too long is asked with fewer sessions
	maxFaults   = 12      // of an answer that are told
	maxEdits    = 16 << 10
)

// sizes divide a model's window.
type sizes struct {
	window        int // tokens; 0: unknown
	input         int // tokens that a question may have
	output        int // tokens that an answer may need, or may have if that is more
	memoryBytes   int // what the model is asked to keep MEMORY.md within
	summaryTokens int
}

// sizeOf leaves room for an answer that repeats the memory and adds to it. Small
// windows get a small memory, not smaller than it is.
func sizeOf(o LLM, r *renewal) sizes {
	memory, summary := r.in.budgets()
	s := sizes{window: o.Model.Window(), memoryBytes: memory, summaryTokens: summary / 4}
	if s.window > 0 {
		s.memoryBytes = min(memory, max(s.window*4/5, len(r.present.MemoryMD)+1000))
	}
	s.output = (max(s.memoryBytes, len(r.present.MemoryMD))/4+s.summaryTokens)*23/20 + answerFrame // JSON's own marks
	s.output = max(s.output, o.MaxOutput)
	s.input = anyInput
	if s.window > 0 {
		s.output = min(s.output, s.window/2)
		s.input = s.window - s.output - s.window/20
	}
	if o.InputTokens > 0 && (s.window == 0 || o.InputTokens < s.input) {
		s.input = o.InputTokens
	}
	return s
}

// longer is a larger cap for an answer that was cut; 0 if there is none.
func (s sizes) longer(q model.Request, cut memoir.Usage) int {
	n := max(s.output*3/2, 2*int(cut.OutputTokens))
	if s.window > 0 {
		n = min(n, s.window-memoir.Tokens(q.System)-memoir.Tokens(q.Input))
	}
	if n <= int(cut.OutputTokens) {
		return 0
	}
	return n
}

// A question puts one batch of sessions to a model until there is an answer that
// holds, or no hope of one.
type question struct {
	llm     *llm
	renewal *renewal
	batch   batch
	sizes   sizes
	fixed   int // tokens of the question without sessions
}

// settle asks. A question that is too long is asked again with half the sessions, up to
// maxHalved times. An answer that the output cap cut is asked for once with a larger
// cap, and one that breaks a rule is sent back once.
func (q *question) settle(ctx context.Context) (memoir.Consolidation, memoir.Usage, error) {
	var usage memoir.Usage
	failed := func(answer string, err error) (memoir.Consolidation, memoir.Usage, error) {
		return memoir.Consolidation{}, usage, &memoir.AnswerError{Answer: answer, Err: err}
	}
	system, input, err := q.render(0)
	if err != nil {
		return memoir.Consolidation{}, usage, err
	}
	request := model.Request{System: system, Input: input, Schema: answerSchema, SchemaName: "memory",
		Output: q.sizes.output}
	halved, longer := 0, false
	for {
		a, err := q.llm.o.Model.Call(ctx, request)
		if err != nil {
			var e *model.Error
			if errors.As(err, &e) {
				usage = usage.Add(e.Usage)
			}
			if e == nil || e.Class != model.ClassTooLong || halved == maxHalved {
				return memoir.Consolidation{}, usage, hinted(e, err, longer)
			}
			halved++
			sent := memoir.Tokens(request.System) + memoir.Tokens(request.Input)
			if request.System, request.Input, err = q.render(max(sent/2-q.fixed, leastRoom)); err != nil {
				return memoir.Consolidation{}, usage, err
			}
			request.Earlier, request.Output = nil, q.sizes.output
			continue
		}
		usage = usage.Add(a.Usage)
		if err := q.stopped(a); err != nil {
			return failed(a.Text, err)
		}
		if a.Stop == model.StopLength {
			if request.MaxOutput = q.sizes.longer(request, a.Usage); longer || request.MaxOutput == 0 {
				return failed(a.Text, memoir.Errorf(memoir.CodeModel,
					"raise the model's maxOutputTokens, or lower memories.maxMemorySize",
					"the answer of %s was cut by the cap on its output", q.llm.Name()))
			}
			longer = true
			continue
		}
		out, faults := q.renewal.read(a.Text, q.batch)
		if len(faults) == 0 {
			a.Accept()
			return out, usage, nil
		}
		if len(request.Earlier) > 0 {
			return failed(a.Text, memoir.Errorf(memoir.CodeInvalid,
				"the memory stays as it was; try again, or try another model",
				"the answer of %s breaks a rule: %s", q.llm.Name(), faults[0]))
		}
		request.Earlier = []model.Exchange{{Answer: a.Text, Objection: objection(faults)}}
	}
}

// stopped is the error of an answer that has no content.
func (q *question) stopped(a model.Answer) error {
	switch {
	case a.Stop == model.StopRefusal:
		return memoir.Errorf(memoir.CodeModel, "try another model", "%s declined to answer", q.llm.Name())
	case a.Stop == model.StopEmpty || strings.TrimSpace(a.Text) == "" && a.Stop != model.StopLength:
		return memoir.Errorf(memoir.CodeModel, "try again, or try another model", "%s gave an empty answer", q.llm.Name())
	}
	return nil
}

// hinted says what can be done about a call that failed for its length, or for that of
// its answer.
func hinted(e *model.Error, err error, longer bool) error {
	switch {
	case e == nil:
	case e.Class == model.ClassTooLong:
		return memoir.Errorf(memoir.CodeModel,
			"set the window of the provider or model to what it takes, or lower memories.maxMemorySize", "%w", err)
	case e.Class == model.ClassInvalid && longer:
		return memoir.Errorf(memoir.CodeModel, "lower memories.maxMemorySize, or use a model with longer answers",
			"the memory is longer than an answer may be: %w", err)
	}
	return err
}

// objection says what is wrong with an answer.
func objection(faults []string) string {
	var b strings.Builder
	b.WriteString("The answer breaks these rules:\n")
	for i, f := range faults {
		if i == maxFaults {
			fmt.Fprintf(&b, "- and %d more\n", len(faults)-i)
			break
		}
		b.WriteString("- " + f + "\n")
	}
	b.WriteString("Give the whole JSON object again, with these things put right and the rest as it was.")
	return b.String()
}

// render fills in the prompts with as many sessions as the model takes; most
// bounds their tokens, 0 leaves it to the window.
func (q *question) render(most int) (system, input string, err error) {
	r := q.renewal
	q.sizes = sizeOf(q.llm.o, r)
	vars := r.vars(q.sizes)
	system, input = prompts.Consolidate(vars)
	q.fixed = memoir.Tokens(system) + memoir.Tokens(input)
	room := q.sizes.input - q.fixed
	if room < leastRoom {
		return "", "", memoir.Errorf(memoir.CodeModel, "use a model with a larger window, or lower memories.maxMemorySize",
			"the memory leaves no room for sessions in a question to %s: it takes %d of %d tokens", q.llm.Name(), q.fixed,
			q.sizes.input)
	}
	if most > 0 {
		room = min(room, most)
	}
	q.batch = r.fit(room)
	vars.NewSessions, vars.ChangedSessions = q.batch.fresh, q.batch.changed
	vars.RawMemories, vars.RolloutSummaries = q.batch.statements, q.batch.summaries
	system, input = prompts.Consolidate(vars)
	return system, input, nil
}

// vars are what a question shows beside the sessions: the memory without the lines that
// the program writes.
func (r *renewal) vars(s sizes) prompts.ConsolidateVars {
	v := prompts.ConsolidateVars{
		Project:     r.in.Project.Name,
		MemoryBytes: s.memoryBytes, SummaryTokens: s.summaryTokens,
		CurrentMemory: r.present.MemoryMD, CurrentSkills: r.shownSkills(s.input),
		HandEdits: shownEdits(r.notes), WithdrawnSessions: sortedKeys(r.forgot),
	}
	if n := len(r.sessions); n > 0 { // an estimate may come before the first session
		v.Date = r.sessions[n-1].EndedAt
	}
	if r.present.MemorySummary != "" {
		p := readPage(r.present.MemorySummary)
		p.drop(headMap)
		v.CurrentSummary = p.String()
	}
	return v
}

// shownSkills are the present skills, whole if they take at most a quarter of a
// question, else with their descriptions alone.
func (r *renewal) shownSkills(input int) string {
	var whole, short strings.Builder
	for _, s := range r.present.Skills {
		short.WriteString("skills/" + s.Name + ": " + describe(s) + "\n")
		files := open(memoir.Consolidation{Skills: []memoir.Skill{s}})
		for _, name := range sortedKeys(files) {
			if name != memoir.MemoryFile && name != memoir.SummaryFile {
				whole.WriteString("=== " + name + "\n" + strings.TrimRight(files[name], "\n") + "\n\n")
			}
		}
	}
	if memoir.Tokens(whole.String()) > input/4 {
		return short.String()
	}
	return whole.String()
}

// shownEdits tells what people changed by hand, the newest last, within maxEdits bytes; the
// program applies all of them in any case.
func shownEdits(notes []memoir.Note) string {
	var out []string
	told := map[int64]bool{}
	for _, n := range notes {
		if told[n.ID] && n.ID != 0 {
			continue // what the summary repeats
		}
		told[n.ID] = true
		name, text := path.Clean(n.File), strings.TrimSpace(n.Text)
		switch {
		case n.Action == memoir.NoteAdded && text != "" && n.Section != "":
			out = append(out, "added to "+name+" under "+n.Section+": "+text)
		case n.Action == memoir.NoteAdded && text != "":
			out = append(out, "added to "+name+": "+text)
		case n.Action == memoir.NoteRemoved && text != "":
			out = append(out, "removed from "+name+": "+text)
		case n.Action == memoir.NoteFile:
			out = append(out, "wrote the file "+name)
		case n.Action == memoir.NoteDeleted:
			out = append(out, "deleted the file "+name)
		}
	}
	size := 0
	for i := len(out) - 1; i >= 0; i-- {
		if size += len(out[i]) + 1; size > maxEdits {
			out = out[i+1:]
			break
		}
	}
	return strings.Join(out, "\n")
}
