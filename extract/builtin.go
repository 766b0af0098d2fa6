package extract

import (
	"context"
	"slices"
	"strings"

	"memoir"
)

// BuiltinName is the name of the model that needs no network.
const BuiltinName = "builtin"

// maxRawTokens bounds the raw memory of one session.
const maxRawTokens = 2000

type builtin struct{}

var _ Extractor = builtin{}

// NewBuiltin returns the built-in model: rules by form, deterministic, offline,
// milliseconds a session.
func NewBuiltin() Extractor { return builtin{} }

func (builtin) Name() string { return BuiltinName }

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
	failed := failures(r)
	all := slices.Concat(
		tasks(r), r.distinct(outcomes(r, posts, done), known), preferences(r), failed, retries(r), reported(r), worked(r), occasional(r), prompted(r),
		known, files(r), hooks(r), unsaid(surroundings(r), failed), procedures(r),
	)
	if !worthKeeping(all) {
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
// finding, a failure, a command, an edit, or a request with an outcome that says
// something. A greeting, an aside or an ask that nobody answered does not.
func worthKeeping(all []found) bool {
	asked, came := false, false
	for _, f := range all {
		switch f.Kind {
		case memoir.StatementPreference, memoir.StatementDecision, memoir.StatementFailure, memoir.StatementCommand:
			return true
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
	return asked && came
}

// minOutcomeWords is how many words say something of what came of a request.
const minOutcomeWords = 6
