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
	Model model.Model // tries again and counts by itself

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

// Statements is how many statements were dropped.
func (d Dropped) Statements() int {
	return d.Uncited + d.Missing + d.Ungrounded + d.Foreign + d.Crowded + d.Unplaced
}

const (
	minBudget   = 200      // tokens of a session that are shown at least
	answerRoom  = 4096     // tokens of the window that are left to an answer whose cap is unknown
	maxShrinks  = 3        // times that less of a session is shown after a call that was too long
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
	session  memoir.Session
	items    []reading // cleaned, without noise
	budget   int       // tokens of the session that are shown; 0: all
	output   int       // cap on the answer
	earlier  []model.Exchange
	used     memoir.Usage
	calls    int
	shrunk   int  // times that less was shown because the input was too long
	extended bool // more output, or less input, because an answer was cut
	objected bool // the model was shown its error
}

// Extract asks about the session.
func (x llm) Extract(ctx context.Context, in Input) (memoir.Extraction, memoir.Usage, error) {
	a := x.begin(in)
	told := Report{Session: in.Session.Key()}
	var out memoir.Extraction
	if len(a.items) > 0 {
		shown, got, err := x.ask(ctx, a)
		if err != nil {
			return memoir.Extraction{}, a.used, err
		}
		out = got.Extraction
		told.Shown, told.Omitted, told.Calls = len(shown.items), shown.omitted, a.calls
		told.Kept, told.Dropped = got.kept, got.dropped
	}
	if x.Report != nil {
		x.Report(told)
	}
	s := in.Session
	out.SessionKey, out.ProjectID, out.CWD, out.Branch = s.Key(), s.ProjectID, s.CWD, s.Branch
	out.StartedAt, out.EndedAt = s.CreatedAt, s.UpdatedAt
	out.Model = x.Name()
	return out, a.used, nil
}

// Estimator is an Extractor that can say what it would ask.
type Estimator interface {
	// Estimate returns how many calls a session takes if each is answered well, and
	// the bytes that are asked in all of them.
	Estimate(in Input) (calls int, bytes int64)
}

var _ Estimator = llm{}

// Estimate makes the question without asking it.
func (x llm) Estimate(in Input) (calls int, bytes int64) {
	a := x.begin(in)
	if len(a.items) == 0 {
		return 0, 0
	}
	q := x.request(a, fitShown(a.items, a.budget))
	return 1, int64(len(q.System) + len(q.Input) + len(q.Schema))
}

// begin tells what is to be read of a session.
func (x llm) begin(in Input) *inquiry {
	return &inquiry{
		session: in.Session, items: quiet(readable(in.Items)), budget: x.budget(in.Session), output: x.MaxOutput,
	}
}

// ask asks the model, and once more for each thing that can be mended.
func (x llm) ask(ctx context.Context, a *inquiry) (shown, used, error) {
	for {
		if err := ctx.Err(); err != nil {
			return shown{}, used{}, err
		}
		s := fitShown(a.items, a.budget)
		q := x.request(a, s)
		answer, err := x.Model.Call(ctx, q)
		a.calls++
		if err != nil {
			var failed *model.Error
			if errors.As(err, &failed) {
				a.used = a.used.Add(failed.Usage)
			}
			switch class, _ := model.ClassOf(err); {
			case class == model.ClassTooLong && a.shrunk < maxShrinks:
				a.halve(s)
				continue
			case class == model.ClassInvalid && a.output != x.MaxOutput: // the model has no larger cap
				a.output = x.MaxOutput
				a.halve(s)
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
		got, bad := readAnswer(answer.Text, a.session, s.items)
		if bad == nil {
			answer.Accept()
			return s, got, nil
		}
		if a.objected {
			return s, used{}, x.unusable(answer, memoir.CodeInvalid,
				"another model may do better; memoir retry tries it again", "its answer can't be used: "+bad.reason)
		}
		a.objected = true
		a.earlier = []model.Exchange{{Answer: cutText(answer.Text, maxShownBad), Objection: bad.objection}}
	}
}

// extend makes room for an answer that was cut: twice the output where the model is known
// to have it, else half of the session. Where nobody knows the cap that cut the answer, and it
// had to share that with thoughts, what the answer came to says little.
func (a *inquiry) extend(answer model.Answer, q model.Request, s shown, window int) {
	a.extended = true
	cap := a.output
	if cap == 0 {
		cap = answerRoom
	}
	more := 2 * max(cap, int(answer.Usage.OutputTokens))
	if window > 0 && memoir.Tokens(q.System)+memoir.Tokens(q.Input)+more > window {
		a.halve(s)
		return
	}
	a.output = more
}

// halve shows half of what was shown. An objection to an answer that rested on more
// is withdrawn with it.
func (a *inquiry) halve(s shown) {
	a.shrunk++
	a.budget = max(memoir.Tokens(s.text)/2, 1)
	a.earlier = nil
}

// budget is how many tokens of a session are shown; 0 if nothing limits them.
func (x llm) budget(s memoir.Session) int {
	window := x.Model.Window()
	if window <= 0 {
		return x.InputTokens
	}
	system, frame := prompts.StageOne(vars(s, shown{text: "[]"}))
	share := x.Payload
	if share <= 0 || share > 1 {
		share = DefaultPayload
	}
	answer := min(answerRoom, window/4)
	if x.MaxOutput > 0 {
		answer = min(x.MaxOutput, window/2)
	}
	room := min(int(share*float64(window)), window-memoir.Tokens(system)-memoir.Tokens(frame)-answer)
	if x.InputTokens > 0 {
		room = min(room, x.InputTokens)
	}
	return max(room, minBudget)
}

// request puts a session as it is shown into a question.
func (x llm) request(a *inquiry, s shown) model.Request {
	system, input := prompts.StageOne(vars(a.session, s))
	return model.Request{
		System: system, Input: input, Earlier: a.earlier,
		Schema: answerSchema, SchemaName: "extraction", MaxOutput: a.output,
	}
}

func vars(s memoir.Session, shown shown) prompts.StageOneVars {
	return prompts.StageOneVars{
		ThreadID: s.ID, Agent: string(s.Source), CWD: s.CWD, Branch: s.Branch, StartedAt: s.CreatedAt, EndedAt: s.UpdatedAt,
		ItemCount: len(shown.items) + shown.omitted, OmittedCount: shown.omitted, ResponseItemsJSON: shown.text,
	}
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

// cutText cuts a text to a number of bytes, at a character, and says so.
func cutText(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s\n[%d bytes more]", strings.ToValidUTF8(text[:most], ""), len(text)-most)
}
