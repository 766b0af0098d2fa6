package extract

import (
	"context"
	"slices"
	"strings"

	"memoir"
)

// BuiltinName is the name of the model that needs no network.
const BuiltinName = "builtin"

// maxRawTokens bounds the raw memory of one session. Most need a third of it; what
// a day's work taught does not fit into what an hour's needs.
const maxRawTokens = 3000

type builtin struct{}

var _ Extractor = builtin{}

// NewBuiltin returns the built-in model: rules by form, deterministic, offline,
// milliseconds a session.
func NewBuiltin() Extractor { return builtin{} }

// Name is BuiltinName.
func (builtin) Name() string { return BuiltinName }

// Extract makes the memory of one session, of at most maxRawTokens; the usage is zero. Its
// error is that of the context.
func (builtin) Extract(ctx context.Context, in Input) (memoir.Extraction, memoir.Usage, error) {
	if err := ctx.Err(); err != nil {
		return memoir.Extraction{}, memoir.Usage{}, err
	}
	out := memoir.Extraction{
		SessionKey: in.Session.Key(),
		ProjectID:  in.Session.ProjectID,
		CWD:        in.Session.CWD,
		Branch:     in.Session.Branch,
		StartedAt:  in.Session.CreatedAt,
		EndedAt:    in.Session.UpdatedAt,
		Model:      BuiltinName,
	}
	r := read(in)
	posts := letters(r, in)
	done, why := told(r, posts)
	known := findings(r)
	for _, f := range why {
		known = r.supersede(known, f)
	}
	failed, saw, wanted, changed := failures(r), reported(r), preferences(r), files(r)
	ended := r.withoutAnnounced(r.distinct(outcomes(r, posts, done), slices.Concat(known, r.overtaken)))
	known = r.unrepeated(known, slices.Concat(ended, wanted, failed, saw, changed))
	all := saidOnce(r.withoutMended(r.withoutRetaken(slices.Concat(
		tasks(r), ended, wanted, failed, retries(r), saw, worked(r), occasional(r), prompted(r),
		known, changed, hooks(r), unsaid(surroundings(r), failed), procedures(r),
	))))
	all = withoutOrders(all, in)
	if !worthKeeping(all, r) {
		return out, memoir.Usage{}, nil
	}
	kept := fit(all, maxRawTokens)
	out.RawMemory = memoir.FormatStatements(kept)
	out.Title = title(in.Session, kept)
	out.RolloutSlug = slug(out.Title, in.Session.ID)
	out.RolloutSummary = summary(in, out, kept)
	return out, memoir.Usage{}, nil
}

// distinct drops from a list, its first statement excepted, what another says already.
func (r *reading) distinct(list, other []found) []found {
	var out []found
	for i, f := range list {
		if i > 0 && slices.ContainsFunc(other, func(o found) bool {
			return r.lexicon.of(o.Text).overlap(r.lexicon.of(f.Text)) > 0.8
		}) {
			continue
		}
		out = append(out, f)
	}
	return out
}

// unsaid drops from a list what another holds word for word.
func unsaid(list, other []found) []found {
	return slices.DeleteFunc(list, func(f found) bool {
		return slices.ContainsFunc(other, func(o found) bool { return strings.Contains(o.Text, f.Text) })
	})
}

// worthKeeping reports whether a session taught or changed anything: a rule, a
// finding, a failure, a command, an edit, or work whose outcome says something. A
// greeting, an aside, an ask that nobody answered or a question that was answered
// out of what everybody knows does not.
func worthKeeping(all []found, r *reading) bool {
	asked, came, aside := false, false, r.aside()
	for _, f := range all {
		switch f.Kind {
		case memoir.StatementPreference, memoir.StatementFailure, memoir.StatementCommand:
			return true
		case memoir.StatementDecision:
			if !strings.HasSuffix(f.Text, inPassing) && (!aside || slices.Contains(r.typed(), f.Items[0])) {
				return true
			}
		case memoir.StatementFile:
			if strings.Contains(f.Text, changedMark) {
				return true
			}
		case memoir.StatementTask:
			asked = true
		case memoir.StatementOutcome:
			status, what, _ := strings.Cut(f.Text, " — ")
			came = came || status != outcomeUnknown && len(strings.Fields(what)) >= minOutcomeWords
		}
	}
	return asked && came && r.worked()
}

// minLooks is how many calls make work of looking at things.
const minLooks = 3

// worked reports whether the agent changed something, or looked at a few things.
func (r *reading) worked() bool {
	looks := 0
	for _, t := range r.turns {
		if looks += t.tools; t.acted() {
			return true
		}
	}
	return looks >= minLooks
}

// maxAside is how many asks a session has at most that is an aside.
const maxAside = 2

// aside reports whether a session is a question or two that the agent answered
// almost without looking at anything.
func (r *reading) aside() bool {
	if r.worked() || len(r.reads) > 0 {
		return false
	}
	asks := 0
	for _, t := range r.turns {
		if t.ask != nil && !t.said.trivial {
			asks++
		}
	}
	return asks <= maxAside
}

// typed lists the items in which a person spoke.
func (r *reading) typed() []int {
	var out []int
	for _, t := range r.turns {
		if t.ask != nil {
			out = append(out, t.said.item)
		}
	}
	return out
}

// minOutcomeWords is how many words say something of what came of a request.
const minOutcomeWords = 6
