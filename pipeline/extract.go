package pipeline

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"memoir"
	"memoir/extract"
	"memoir/rollout"
	"memoir/store"
)

// extracted is what extractOne hands to work.
type extracted struct {
	store.Result
	unchanged bool // the content is the one that was extracted before
}

// extractOne reads, redacts and extracts one session.
func (r *run) extractOne(ctx context.Context, claim store.Claim) (extracted, error) {
	parts, err := partsOf(ctx, claim.Session, r.heads)
	if err != nil {
		return extracted{}, err
	}
	scanner := r.scannerOf(claim.Session.CWD)
	accountOf(ctx).redactBy(scanner)
	before := lookAt(claim.Session.Files)
	earlier := ""
	if claim.Prior != nil && claim.Prior.FilterVersion == rollout.FilterVersion {
		earlier = claim.Prior.ContentHash
	}
	loaded, err := Load(ctx, scanner, parts, earlier)
	if err == nil {
		err = before.whole()
	}
	if err != nil {
		return extracted{}, err
	}
	out := extracted{Result: store.Result{Redactions: loaded.Redactions}}
	out.Extraction.ContentHash = loaded.Hash
	out.Skipped = r.skipped(loaded.Stats)
	if loaded.Hash == claim.DoneHash && claim.DoneFilterVersion == rollout.FilterVersion {
		out.unchanged = true
		return out, nil
	}
	session := claim.Session
	session.Title, _ = scanner.Redact(session.Title)
	in := extract.Input{Session: session, Items: loaded.Items}
	extraction, _, err := r.extractor.Extract(ctx, in) // what it spent is in the ledger
	loaded.Redactions.Merge(accountOf(ctx).redactions())
	if err != nil {
		return out, err
	}
	if err := r.seal(&extraction, session, loaded); err != nil {
		return out, &memoir.AnswerError{Answer: extraction.RawMemory + "\n\n" + extraction.RolloutSummary, Err: err}
	}
	out.Extraction = extraction
	// What an earlier extraction rested on may have been undone since.
	out.Withdraw = extraction.Empty() && loaded.Stats.Undone > 0 && !loaded.Grown
	return out, nil
}

// seal redacts what the extractor wrote, checks it, and fills in what it rests on.
func (r *run) seal(e *memoir.Extraction, s memoir.Session, loaded Loaded) error {
	redacted, counts := r.scannerOf(s.CWD).Extraction(*e)
	loaded.Redactions.Merge(counts)
	*e = redacted
	if err := extract.Check(*e, loaded.Items); err != nil {
		return err
	}
	e.SessionKey = s.Key()
	e.ProjectID = s.ProjectID
	e.CWD, e.Branch = s.CWD, s.Branch
	e.StartedAt, e.EndedAt = s.CreatedAt, lastSaid(loaded.Items, s.UpdatedAt)
	e.ContentHash, e.FilterVersion = loaded.Hash, rollout.FilterVersion
	e.Model = r.extractor.Name()
	return nil
}

// lastSaid is when the session's last item was: agents go on writing records that
// hold nothing, and the date that memory cites must not move with them.
func lastSaid(items []memoir.Item, otherwise time.Time) time.Time {
	for _, it := range slices.Backward(items) {
		if !it.At.IsZero() {
			return it.At
		}
	}
	return otherwise
}

// skipped says what a reading did not understand, so that a format's drift shows.
// The types of records are words of the transcript: they are redacted, and printed
// in one line.
func (r *run) skipped(stats rollout.Stats) []store.Skipped {
	var out []store.Skipped
	for _, count := range []store.Skipped{
		{Why: store.SkippedMalformed, N: stats.Malformed},
		{Why: store.SkippedOversized, N: stats.Oversized},
	} {
		if count.N > 0 {
			out = append(out, count)
		}
	}
	if stats.CutTail {
		out = append(out, store.Skipped{Why: store.SkippedCut, N: 1})
	}
	for _, kind := range slices.Sorted(maps.Keys(stats.Unknown)) {
		out = append(out, store.Skipped{Why: store.SkippedUnknown, Type: r.typeName(kind), N: stats.Unknown[kind]})
	}
	return out
}

// typeName makes a record's type fit to be stored.
func (r *run) typeName(kind string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, r.redact(kind))
}
