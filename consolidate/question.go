package consolidate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"memoir"
	"memoir/model"
	"memoir/prompts"
)

// A question puts one batch of sessions to a model until there is an answer that
// holds, or no hope of one.
type question struct {
	llm     *llm
	prompts *prompts.Set
	renewal *renewal
	batch   batch
	sizes   sizes
	fixed   int // tokens of the question without sessions
}

// settle asks. A question that is too long is asked once with half the sessions, or as
// often as less fits with what the server says that it takes. An
// answer that the output cap cut is asked for once with a larger cap, and one that
// breaks a rule is sent back once.
func (q *question) settle(ctx context.Context) (memoir.Consolidation, memoir.Usage, error) {
	var usage memoir.Usage
	failed := func(answer string, err error) (memoir.Consolidation, memoir.Usage, error) {
		return memoir.Consolidation{}, usage, &memoir.AnswerError{Answer: answer, Err: err}
	}
	system, input, err := q.render(0)
	if err != nil {
		return memoir.Consolidation{}, usage, err
	}
	r, name := q.renewal, q.llm.Name()
	request := model.Request{System: system, Input: input, Schema: answerSchema, SchemaName: "memory", Output: q.sizes.output}
	halved, longer := 0, false
	for {
		a, err := q.llm.o.Model.Call(ctx, request)
		if err != nil {
			var e *model.Error
			if errors.As(err, &e) {
				usage = usage.Add(e.Usage)
			}
			room, ok := q.less(e, request, halved)
			if !ok {
				return memoir.Consolidation{}, usage, hinted(e, err, longer)
			}
			halved++
			if request.System, request.Input, err = q.render(room); err != nil {
				return memoir.Consolidation{}, usage, err
			}
			request.Earlier, request.Output = nil, q.sizes.output
			continue
		}
		usage = usage.Add(a.Usage)
		switch {
		case a.Stop == model.StopRefusal:
			return failed(a.Text, memoir.Errorf(memoir.CodeModel, "try another model", "%s declined to answer", name))
		case a.Stop == model.StopEmpty || strings.TrimSpace(a.Text) == "" && a.Stop != model.StopLength:
			return failed(a.Text, memoir.Errorf(memoir.CodeModel, "try again, or try another model", "%s gave an empty answer", name))
		case a.Stop == model.StopLength && !longer:
			longer = true
			if request.MaxOutput = q.sizes.longer(request, a.Usage); request.MaxOutput > 0 {
				continue
			}
			fallthrough
		case a.Stop == model.StopLength:
			return failed(a.Text, memoir.Errorf(memoir.CodeModel, "raise the model's maxOutputTokens, or lower memories.maxMemorySize", "the answer of %s was cut by the cap on its output", name))
		}
		out, faults := r.read(a.Text, q.batch)
		if len(faults) == 0 {
			a.Accept()
			return out, usage, nil
		}
		if len(request.Earlier) > 0 {
			return failed(a.Text, memoir.Errorf(memoir.CodeInvalid, "the memory stays as it was; try again, or try another model", "the answer of %s breaks a rule: %s", name, faults[0]))
		}
		request.Earlier = []model.Exchange{{Answer: a.Text, Objection: objection(faults)}}
	}
}

// maxFaults is how many faults of an answer are told.
const maxFaults = 12

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
	bytes, tokens := r.limits()
	q.sizes = sizeOf(q.llm.o, r, bytes, tokens)
	vars := prompts.ConsolidateVars{
		Project: r.in.Project.Name, Date: r.sessions[len(r.sessions)-1].EndedAt,
		MemoryBytes: q.sizes.memoryBytes, SummaryTokens: q.sizes.summaryTokens,
		CurrentMemory: r.shownMemory(), CurrentSummary: r.shownSummary(), CurrentSkills: r.shownSkills(q.sizes.input),
		HandEdits: edits(r.notes), WithdrawnSessions: r.withdrawn(),
	}
	if system, input, err = q.prompts.Consolidate(vars); err != nil {
		return "", "", err
	}
	q.fixed = memoir.Tokens(system) + memoir.Tokens(input)
	room := q.sizes.input - q.fixed
	if room < leastRoom {
		return "", "", memoir.Errorf(memoir.CodeModel, "use a model with a larger window, or lower memories.maxMemorySize",
			"the memory leaves no room for sessions in a question to %s: it takes %d of %d tokens", q.llm.Name(), q.fixed, q.sizes.input)
	}
	if most > 0 {
		room = min(room, most)
	}
	q.batch = r.fit(room)
	vars.NewSessions, vars.ChangedSessions = q.batch.fresh, q.batch.changed
	vars.RawMemories, vars.RolloutSummaries = q.batch.statements, q.batch.summaries
	return q.prompts.Consolidate(vars)
}
