package extract

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/model"
	"memoir/prompts"
)

// LLM calls a language model to extract.
//
// A session normally needs one call. If the input is too long for the model, half of it is shown in another call, at
// most three times. If the answer was cut or is invalid, the model gets it back once, with an objection. A second
// invalid answer, a refusal and an empty answer are a *memoir.AnswerError. A failed call is an error with the code
// CodeModel, which wraps the *model.Error.
type LLM struct {
	Model model.Model // must retry, and record its usage

	InputTokens int     // maximum tokens of a session that are shown; 0: limited by the window only
	Payload     float64 // share of the model's window that a session may fill, above 0 to 1; 0: DefaultPayload
	MaxOutput   int     // maximum tokens of an answer; 0: as the model is configured

	// Report is called, if it is not nil, after each successful extraction. It must be safe for concurrent use.
	Report func(Report)
}

// DefaultPayload is the default share of a window that a session may fill.
const DefaultPayload = 0.7

// Report counts the kept and the dropped parts of a model's answer.
type Report struct {
	Shown   int // items that the model saw
	Omitted int // items left out for length
	Kept    int // statements
	Dropped Dropped
}

// Dropped counts the parts of an answer that the session does not support.
type Dropped struct {
	Uncited    int // statements without a citation
	Missing    int // statements that cite an item which was not shown
	Ungrounded int // statements with a command, path, flag or quotation that is not in or next to the items they cite
	Foreign    int // statements that turn text of a tool, a file or a page into a preference, a rule or a step
	Unplaced   int // statements under an unknown heading
	Summary    int // unsupported lines of the summary, and history entries
}

const (
	minBudget   = 200      // least tokens of a session that are shown
	answerRoom  = 4096     // tokens of the window that are reserved for an answer without a known cap
	maxShrinks  = 3        // times that a session is halved after a call that was too long
	maxShownBad = 16 << 10 // bytes of a bad answer that its model is shown again
)

var _ Extractor = LLM{}

// Name returns the model's name.
func (x LLM) Name() string { return x.Model.Name() }

var answerSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"raw_memory":{"type":"string"},"rollout_summary":{"type":"string"},"rollout_slug":{"type":"string"},` +
	`"history_entry":{"type":"string"}},` +
	`"required":["raw_memory","rollout_summary","rollout_slug","history_entry"],"additionalProperties":false}`)

// inquiry is the state of one reading of a session.
type inquiry struct {
	session  memoir.Session
	all      []memoir.Item // cleaned
	items    []reading     // of them without noise
	budget   int           // tokens of the session that are shown; 0: all
	earlier  []model.Exchange
	shrunk   int  // times that the input was halved because it was too long
	objected bool // the model was shown its error
}

// Extract asks about the session.
func (x LLM) Extract(ctx context.Context, in Input) (memoir.Extraction, error) {
	a := x.begin(in)
	var report Report
	var out memoir.Extraction
	if len(a.items) > 0 {
		shown, got, err := x.ask(ctx, a)
		if err != nil {
			return memoir.Extraction{}, err
		}
		out = got.Extraction
		report = Report{Shown: len(shown.items), Omitted: shown.omitted, Kept: len(got.Statements), Dropped: got.dropped}
	}
	if x.Report != nil {
		x.Report(report)
	}
	return describe(out, in.Session, x.Name()), nil
}

// begin prepares the reading of a session, without invisible characters and comments: they could hide text from people.
func (x LLM) begin(in Input) *inquiry {
	all := cleaned(in.Items)
	system, frame := prompts.StageOne(vars(in.Session, shown{text: "[]"}))
	return &inquiry{session: in.Session, all: all, items: quiet(all),
		budget: x.Budget(memoir.Tokens(system) + memoir.Tokens(frame))}
}

// Shown returns the part of items that a language model reads within a budget of tokens, as a JSON array.
func Shown(items []memoir.Item, tokens int) string {
	return fitShown(quiet(cleaned(items)), tokens).text
}

func cleaned(items []memoir.Item) []memoir.Item {
	readable := slices.Clone(items)
	for i := range readable {
		it := &readable[i]
		it.Text, it.Input, it.Output = clean(it.Text), clean(it.Input), clean(it.Output)
	}
	return readable
}

// ask calls the model, with fewer items after an input that was too long, and again after the first invalid answer.
func (x LLM) ask(ctx context.Context, a *inquiry) (shown, used, error) {
	for {
		if err := ctx.Err(); err != nil {
			return shown{}, used{}, err
		}
		s := fitShown(a.items, a.budget)
		answer, err := x.Model.Call(ctx, x.request(a, s))
		if err != nil {
			var failed *model.Error
			if !errors.As(err, &failed) || failed.Class != model.ClassTooLong || a.shrunk == maxShrinks {
				return s, used{}, x.failure(err)
			}
			// An earlier objection concerns an answer to a longer input, so it is dropped.
			a.shrunk, a.budget, a.earlier = a.shrunk+1, max(memoir.Tokens(s.text)/2, 1), nil
			continue
		}
		const retry = "another model may do better; `memoir retry --all` makes the next run try again"
		if answer.Stop == model.StopRefusal {
			return s, used{}, x.unusable(memoir.CodeModel, retry, "it declined to answer")
		}
		if answer.Stop != model.StopLength && strings.TrimSpace(answer.Text) == "" {
			return s, used{}, x.unusable(memoir.CodeModel, retry, "its answer was empty")
		}
		got, bad := readAnswer(answer.Text, a, s)
		hint, code := retry, memoir.CodeInvalid
		if answer.Stop == model.StopLength {
			hint, code = "raise the model's maxOutputTokens, or lower memories.phase1InputTokenLimit", memoir.CodeModel
			bad = object("it was cut by the cap on output; write half as much at most")
		}
		if bad == nil {
			return s, got, nil
		}
		if a.objected {
			return s, used{}, x.unusable(code, hint, "its answer can't be used: "+bad.reason)
		}
		a.objected = true
		a.earlier = []model.Exchange{{Answer: memoir.CutBytes(answer.Text, maxShownBad, "\n[cut]"), Objection: bad.objection}}
	}
}

// Budget returns the tokens that remain for a session beside a frame of so many tokens; 0 if they are unlimited.
func (x LLM) Budget(frame int) int {
	window := x.Model.Window()
	if window <= 0 {
		return x.InputTokens
	}
	share := x.Payload
	if share <= 0 || share > 1 {
		share = DefaultPayload
	}
	answer := min(answerRoom, window/4)
	if x.MaxOutput > 0 {
		answer = min(x.MaxOutput, window/2)
	}
	room := min(int(share*float64(window)), window-frame-answer)
	if x.InputTokens > 0 {
		room = min(room, x.InputTokens)
	}
	return max(room, minBudget)
}

func (x LLM) request(a *inquiry, s shown) model.Request {
	system, input := prompts.StageOne(vars(a.session, s))
	return model.Request{
		System: system, Input: input, Earlier: a.earlier,
		Schema: answerSchema, MaxOutput: x.MaxOutput,
	}
}

func vars(s memoir.Session, shown shown) prompts.StageOneVars {
	return prompts.StageOneVars{
		ThreadID: s.ID, Agent: string(s.Source), CWD: s.CWD, Branch: s.Branch, StartedAt: s.CreatedAt, EndedAt: s.UpdatedAt,
		ItemCount: len(shown.items) + shown.omitted, OmittedCount: shown.omitted, BehindCount: shown.behind,
		ResponseItemsJSON: shown.text,
	}
}

func (x LLM) unusable(code memoir.Code, hint, what string) error {
	return &memoir.AnswerError{Err: memoir.Errorf(code, hint, "%s: %s", x.Name(), what)}
}

// failure adds code and hint to the error of a failed call. Other errors (a spending limit, an
// interruption) are returned unchanged.
func (x LLM) failure(err error) error {
	var known *memoir.Error
	var failed *model.Error
	if errors.As(err, &known) || !errors.As(err, &failed) {
		return err
	}
	return memoir.Errorf(memoir.CodeModel, failed.Hint(), "%w", err)
}

// shown is the part of a session that a language model reads.
type shown struct {
	items   []reading
	omitted int    // items that were left out for length
	behind  int    // of these after the last one shown
	text    string // the items as a JSON array
}

// shownItem is an item in the input of a language model: a message has an origin, a call has a tool. Day, directory and
// branch are written when they change.
type shownItem struct {
	N      int    `json:"n"`
	Same   []int  `json:"same,omitempty"`
	Origin string `json:"origin,omitempty"`
	Final  bool   `json:"final,omitempty"`
	Day    string `json:"day,omitempty"`    // from here on
	CWD    string `json:"cwd,omitempty"`    // from here on
	Branch string `json:"branch,omitempty"` // from here on
	Text   string `json:"text,omitempty"`
	Tool   string `json:"tool,omitempty"`
	Input  string `json:"input,omitempty"`
	Output string `json:"output,omitempty"`
	Exit   *int   `json:"exit,omitempty"`
	Failed bool   `json:"failed,omitempty"`
}

// fitShown renders the part of a session that fits into a number of tokens, all of it if that
// is 0. Since JSON adds names and escapes, it selects less until the rendering fits, too.
func fitShown(read []reading, tokens int) (s shown) {
	goal := 0
	for {
		s.items, s.omitted, s.behind = choose(read, goal)
		s.text = render(s.items)
		size := memoir.Tokens(s.text)
		if tokens <= 0 || size <= tokens || goal == 1 {
			return s
		}
		if goal == 0 {
			goal = tokens
		} else {
			goal = max(goal*tokens/size*99/100, 1)
		}
	}
}

func render(items []reading) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	var day, cwd, branch string
	b.WriteString("[\n")
	for i, it := range items {
		if i > 0 {
			b.WriteString(",")
		}
		one := shownItem{
			N: it.N, Same: it.same, Final: it.Final, Text: it.Text,
			Tool: it.Tool, Input: it.Input, Output: it.Output, Exit: it.Exit, Failed: it.Failed,
			CWD: changed(&cwd, it.CWD), Branch: changed(&branch, it.Branch),
		}
		if it.Origin != memoir.OriginTool {
			one.Origin = string(it.Origin)
		}
		if !it.At.IsZero() {
			one.Day = changed(&day, it.At.UTC().Format(time.DateOnly))
		}
		if err := encoder.Encode(one); err != nil {
			panic(err) // strings and numbers have a JSON form
		}
	}
	b.WriteString("]")
	return b.String()
}

// changed returns a value that differs from the last one, else nothing.
func changed(last *string, value string) string {
	if value == "" || value == *last {
		return ""
	}
	*last = value
	return value
}
