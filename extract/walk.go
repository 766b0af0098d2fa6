package extract

import (
	"context"
	"slices"

	"memoir"
)

// Extract reads what is to be read of the session, pass by pass. One that fails fails all:
// a session is not half read.
func (x llm) Extract(ctx context.Context, in Input) (memoir.Extraction, memoir.Usage, error) {
	w := x.walk(&in)
	told := Report{Session: in.Session.Key(), Grown: w.known != nil}
	var used memoir.Usage
	var out memoir.Extraction
	for {
		a, err := x.begin(&w, in)
		if err != nil {
			return memoir.Extraction{}, used, err
		}
		shown, got, err := x.ask(ctx, a)
		used = used.Add(a.used)
		told.Calls += a.calls
		if err != nil {
			return memoir.Extraction{}, used, err
		}
		told.count(shown, got)
		w.passed(a, got.Extraction)
		if !got.Empty() {
			out = got.Extraction
		}
		if len(w.rest) == 0 {
			break
		}
	}
	told.Grown = told.Grown && !w.afresh
	if out.Empty() && w.known != nil && w.known.less {
		out = w.known.rest(in)
	}
	if x.Report != nil {
		x.Report(told)
	}
	return x.finish(out, in.Session), used, nil
}

// A walk is the way through a session.
type walk struct {
	known  *earlier      // of the items that were read; nil: nothing
	rest   []memoir.Item // that are to be read
	passes int           // that may still be made
	afresh bool          // what was known left no room, and all is read in one pass
}

// walk begins a way through a session, whose texts it cleans.
func (x llm) walk(in *Input) walk {
	in.Items = readable(in.Items)
	w := walk{rest: in.Items, passes: max(x.Passes, 1)}
	if in.Earlier == nil || in.Earlier.Model == BuiltinName { // which finds less than a reader would
		return w
	}
	if rest := after(in.Items, in.Since); len(rest) > 0 {
		if w.known = newEarlier(*in.Earlier, in.Since, in.Items); w.known != nil {
			w.rest = rest
		}
	}
	return w
}

// begin is the next pass. Where what is known would take too much of its budget, and of
// every later one, the session is read in one pass from the start.
func (x llm) begin(w *walk, in Input) (*inquiry, error) {
	a := &inquiry{in: in, output: x.MaxOutput, known: w.known}
	var err error
	if a.budget, err = x.budget(in.Session, nil); err != nil {
		return nil, err
	}
	if w.known != nil && a.budget > 0 && !w.known.fit(a.budget/knownMost) {
		w.known, a.known, w.rest, w.passes, w.afresh = nil, nil, in.Items, 1, true
	}
	if w.known != nil {
		if a.budget, err = x.budget(in.Session, w.known); err != nil {
			return nil, err
		}
		a.context = contextOf(in.Items[:len(in.Items)-len(after(in.Items, w.known.since))], a.budget)
	}
	room := a.budget
	if room > 0 && len(a.context) > 0 {
		room = max(room-memoir.Tokens(render(a.context))-passMargin, 1)
	}
	a.items = w.rest[:nextPass(w.rest, room, w.passes)]
	return a, nil
}

// passed goes on behind a pass.
func (w *walk) passed(a *inquiry, got memoir.Extraction) {
	w.rest = w.rest[len(a.items):]
	w.passes--
	if len(a.items) == 0 || len(w.rest) == 0 {
		return
	}
	last := a.items[len(a.items)-1].N
	if !got.Empty() {
		w.known = newEarlier(got, last, a.in.Items)
	} else if w.known != nil {
		w.known.since = last
	}
}

// show is what the model sees.
func (a *inquiry) show() shown {
	tokens := a.budget
	if tokens > 0 && len(a.context) > 0 {
		tokens = max(tokens-memoir.Tokens(render(a.context)), 1)
	}
	s := fitShown(a.items, tokens)
	if len(a.context) > 0 {
		s.again = len(a.context)
		s.items = slices.Concat(a.context, s.items)
		s.text = render(s.items)
	}
	return s
}
