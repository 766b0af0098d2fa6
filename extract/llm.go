package extract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"memoir"
	"memoir/model"
	"memoir/prompts"
)

// LLM is what an extraction by a language model needs.
type LLM struct {
	Model   model.Model // tries again and counts by itself
	Prompts *prompts.Set

	InputTokens int     // of a session that are shown at most; 0: as many as the window takes
	Payload     float64 // share of the model's window that a session may fill, above 0 to 1; 0: DefaultPayload
	MaxOutput   int     // tokens of an answer; 0: as the model is configured

	// Report is told what became of each answer that was used; nil: nobody. It must
	// be safe for concurrent use.
	Report func(Report)
}

// DefaultPayload is the share of a window that a session fills where nobody says.
const DefaultPayload = 0.7

// Report is what was kept of a model's answer, and what was not.
type Report struct {
	Session string // its key
	Shown   int    // items that the model saw
	Omitted int    // items left out for length
	Calls   int    // that it took
	Grown   bool   // what is new was read, and an earlier extraction
	Kept    int    // statements
	Dropped Dropped
}

// Dropped counts what an answer said and the session does not show.
type Dropped struct {
	Uncited    int // statements without an item
	Missing    int // statements that cite an item which was not shown
	Ungrounded int // statements with a command, path, flag or quotation that is not in or next to the items they cite
	Foreign    int // statements that make a wish, a rule or a step of what only a tool, a file or a page said
	Crowded    int // statements that are said twice, or one too many
	Unplaced   int // statements under no heading that was named
	Summary    int // lines of the summary with such a quotation
}

// count enters an answer.
func (r *Report) count(s shown, got used) {
	r.Shown += len(s.items) - s.again
	r.Omitted += s.omitted
	if !got.Empty() {
		r.Kept = got.kept
	}
	r.Dropped.Uncited += got.dropped.Uncited
	r.Dropped.Missing += got.dropped.Missing
	r.Dropped.Ungrounded += got.dropped.Ungrounded
	r.Dropped.Foreign += got.dropped.Foreign
	r.Dropped.Crowded += got.dropped.Crowded
	r.Dropped.Unplaced += got.dropped.Unplaced
	r.Dropped.Summary += got.dropped.Summary
}

// Statements is how many statements were dropped.
func (d Dropped) Statements() int {
	return d.Uncited + d.Missing + d.Ungrounded + d.Foreign + d.Crowded + d.Unplaced
}

const (
	minBudget   = 200      // tokens of a session that are shown at least
	answerRoom  = 4096     // tokens of the window that are left to an answer whose cap is unknown
	maxShownBad = 16 << 10 // bytes of a bad answer that its model is shown again
	maxKeptBad  = 64 << 10 // bytes of it that are kept for a person
)

type llm struct{ LLM }

var _ Extractor = llm{}

// NewLLM returns an extractor that asks a language model.
//
// A session costs one call as a rule. One more is made, each once, where the model says that
// the input is too long (half of it is shown), where the cap on its output cut the answer
// (the cap is doubled, else half of the session is shown), and where the answer can't be
// used (the model is shown its answer and what is wrong with it). The usage is that of all
// calls, also beside an error. An answer that is of no use leads to a *memoir.AnswerError,
// a call that failed to an error with the code CodeModel, which wraps the *model.Error.
func NewLLM(o LLM) Extractor { return llm{o} }

// Name is the model's.
func (x llm) Name() string { return x.Model.Name() }

// answerSchema is the JSON Schema of an answer.
var answerSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"raw_memory":{"type":"string"},"rollout_summary":{"type":"string"},"rollout_slug":{"type":"string"}},` +
	`"required":["raw_memory","rollout_summary","rollout_slug"],"additionalProperties":false}`)

// inquiry is the state of one reading of a session.
type inquiry struct {
	in       Input         // with cleaned texts
	known    *earlier      // of the items before; nil: nothing
	context  []memoir.Item // of those, shown again
	items    []memoir.Item // that are read
	budget   int           // tokens of the session that are shown; 0: all
	output   int           // cap on the answer
	earlier  []model.Exchange
	used     memoir.Usage
	calls    int
	shrunk   int  // times that less was shown because the input was too long
	extended bool // more output, or less input, because an answer was cut
	raised   bool // it was more output
	objected bool // the model was shown its error
}

// ask asks the model, and once more for each thing that can be mended.
func (x llm) ask(ctx context.Context, a *inquiry) (shown, used, error) {
	for {
		if err := ctx.Err(); err != nil {
			return shown{}, used{}, err
		}
		s := a.show()
		q, err := x.request(a, s)
		if err != nil {
			return s, used{}, err
		}
		answer, err := x.Model.Call(ctx, q)
		a.calls++
		if err != nil {
			var failed *model.Error
			if errors.As(err, &failed) {
				a.used = a.used.Add(failed.Usage)
			}
			if a.mend(err, s, x.MaxOutput) {
				continue
			}
			return s, used{}, x.failure(err)
		}
		a.used = a.used.Add(answer.Usage)
		if answer.Stop == model.StopLength {
			if a.extended {
				return s, used{}, x.unusable(answer, memoir.CodeModel,
					"raise the model's maxOutputTokens, or lower memories.phase1InputTokenLimit",
					"its answer was cut by the cap on output, twice")
			}
			a.extend(answer, q, s, x.Model.Window())
			continue
		}
		if err := x.declined(answer); err != nil {
			return s, used{}, err
		}
		got, bad := readAnswer(answer.Text, a.in, s, a.known)
		switch {
		case bad == nil:
			answer.Accept()
			return s, got, nil
		case a.objected && bad.mended != nil:
			answer.Accept()
			return s, *bad.mended, nil
		case a.objected:
			return s, used{}, x.unusable(answer, memoir.CodeInvalid,
				"another model may do better; memoir retry tries it again", "its answer can't be used: "+bad.reason)
		}
		a.objected = true
		a.earlier = []model.Exchange{{Answer: cutText(answer.Text, maxShownBad), Objection: bad.objection}}
	}
}

// budget is how many tokens of a session are shown beside what is known of it; 0 if nothing
// limits them.
func (x llm) budget(s memoir.Session, known *earlier) (int, error) {
	most := x.InputTokens
	taken := 0
	if known != nil {
		taken = known.tokens()
	}
	window := x.Model.Window()
	if window <= 0 {
		if most > 0 {
			most = max(most-taken, minBudget)
		}
		return most, nil
	}
	system, frame, err := x.Prompts.StageOne(vars(s, shown{text: "[]"}, known))
	if err != nil {
		return 0, err
	}
	share := x.Payload
	if share <= 0 || share > 1 {
		share = DefaultPayload
	}
	answer := x.answerRoom(window)
	room := min(int(share*float64(window))-taken, window-memoir.Tokens(system)-memoir.Tokens(frame)-answer)
	if most > 0 {
		room = min(room, most-taken)
	}
	return max(room, minBudget), nil
}

// request puts a session as it is shown into a question.
func (x llm) request(a *inquiry, s shown) (model.Request, error) {
	system, input, err := x.Prompts.StageOne(vars(a.in.Session, s, a.known))
	return model.Request{
		System: system, Input: input, Earlier: a.earlier,
		Schema: answerSchema, SchemaName: "extraction", MaxOutput: a.output,
	}, err
}

func vars(s memoir.Session, shown shown, known *earlier) prompts.StageOneVars {
	v := prompts.StageOneVars{
		ThreadID: s.ID, Agent: string(s.Source), CWD: s.CWD, Branch: s.Branch, StartedAt: s.CreatedAt, EndedAt: s.UpdatedAt,
		ItemCount: len(shown.items) - shown.again + shown.omitted, OmittedCount: shown.omitted, ResponseItemsJSON: shown.text,
	}
	if known != nil {
		v.EarlierItems, v.EarlierMemory, v.EarlierSummary = known.since, known.memory(), known.summary()
	}
	return v
}

// mend changes the question after a call that failed; false if that would not help.
func (a *inquiry) mend(err error, s shown, output int) bool {
	switch class, _ := model.ClassOf(err); {
	case class == model.ClassTooLong && a.shrunk < maxShrinks:
		a.shrunk++
		a.halve(s)
		return true
	case class == model.ClassInvalid && a.raised: // the model has no larger cap
		a.raised = false
		a.output = output
		a.halve(s)
		return true
	}
	return false
}

// extend makes room for an answer that was cut: twice the output where the model is known
// to have it, else half of the session.
func (a *inquiry) extend(answer model.Answer, q model.Request, s shown, window int) {
	a.extended = true
	more := a.moreOutput(answer)
	if window > 0 && memoir.Tokens(q.System)+memoir.Tokens(q.Input)+more > window {
		a.halve(s)
		return
	}
	a.output, a.raised = more, true
}

// halve shows half of what was shown. An objection to an answer that rested on more
// is withdrawn with it.
func (a *inquiry) halve(s shown) {
	a.budget = max(memoir.Tokens(render(s.items[s.again:]))/2, 1)
	a.context, a.earlier = nil, nil
}

// declined is the error of an answer that says nothing.
func (x llm) declined(answer model.Answer) error {
	const hint = "another model may take it; memoir retry tries it again"
	switch {
	case answer.Stop == model.StopRefusal:
		return x.unusable(answer, memoir.CodeModel, hint, "it declined to answer")
	case answer.Stop == model.StopEmpty || strings.TrimSpace(answer.Text) == "":
		return x.unusable(answer, memoir.CodeModel, hint, "its answer was empty")
	}
	return nil
}

func (x llm) unusable(answer model.Answer, code memoir.Code, hint, what string) error {
	return &memoir.AnswerError{
		Answer: cutText(answer.Text, maxKeptBad),
		Err:    memoir.Errorf(code, hint, "%s: %s", x.Name(), what),
	}
}

// failure gives a failed call its code and hint. What is no failure of the model's (a
// spending limit, an interruption) stays as it is.
func (x llm) failure(err error) error {
	var known *memoir.Error
	var failed *model.Error
	if errors.As(err, &known) || !errors.As(err, &failed) {
		return err
	}
	return memoir.Errorf(memoir.CodeModel, failed.Hint(), "%w", err)
}

// finish says what an extraction is of.
func (x llm) finish(e memoir.Extraction, s memoir.Session) memoir.Extraction {
	e.SessionKey, e.ProjectID, e.CWD, e.Branch = s.Key(), s.ProjectID, s.CWD, s.Branch
	e.StartedAt, e.EndedAt = s.CreatedAt, s.UpdatedAt
	e.Model = x.Name()
	return e
}

// cutText cuts a text to a number of bytes, at a character, and says so.
func cutText(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s\n[%d bytes more]", strings.ToValidUTF8(text[:most], ""), len(text)-most)
}

// maxShrinks is how often less of a session is shown after a call that was too long.
const maxShrinks = 3

// answerRoom is what is left of a window to an answer, in tokens: its cap, but never more
// than half.
func (x llm) answerRoom(window int) int {
	if x.MaxOutput > 0 {
		return min(x.MaxOutput, window/2)
	}
	return min(answerRoom, window/4)
}

// moreOutput is a larger cap for an answer that was cut. Where nobody knows the cap that cut it,
// and the answer had to share it with thoughts, what the answer came to says little.
func (a *inquiry) moreOutput(answer model.Answer) int {
	if a.output > 0 {
		return 2 * max(a.output, int(answer.Usage.OutputTokens))
	}
	return 2 * max(answerRoom, int(answer.Usage.OutputTokens))
}
