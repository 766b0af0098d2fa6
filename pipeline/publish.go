package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/secrets"
	"memoir/store"
)

// current recovers the memory after a crash, reads it, and records its hand edits before it is replaced.
func (c *consolidation) current(ctx context.Context) (memory.Snapshot, error) {
	if err := c.recoverRoot(ctx); err != nil {
		return memory.Snapshot{}, err
	}
	live, err := c.root.Current()
	if err != nil {
		return live, fmt.Errorf("read the live memory: %w", err)
	}
	if err := c.root.Refused(live); err != nil || live.Generation == 0 {
		return live, err
	}
	// A file that an editor is writing could seem to have lost lines.
	if same, err := c.root.Unchanged(live); err != nil || !same {
		return live, errors.Join(err, errChanged())
	}
	if live.Lost != nil {
		c.warn(fmt.Sprintf("project %s: files that people changed count as written by hand from the first line: %v",
			c.project.Name, live.Lost), "the next generation keeps them; remove lines in it that are not yours")
	}
	return live, c.record(ctx, live, c.editsOf(live))
}

// recoverRoot removes unfinished files of a killed run, and records a generation that it linked but did not
// record.
func (c *consolidation) recoverRoot(ctx context.Context) error {
	recovered, err := c.root.Recover(int(c.claim.Generation))
	c.warnOfLate(recovered.Late)
	if err != nil {
		return fmt.Errorf("recover the memory after a crash: %w", err)
	}
	m := recovered.Ahead
	if m == nil {
		return nil
	}
	err = c.store.RecordGeneration(ctx, c.project.ID, store.GenerationRecord{
		N: int64(m.Generation), ManifestHash: m.Hash(), Inputs: inputsByKey(m.Inputs), At: c.now(),
		Fence: c.claim.Fence, Redactions: m.Redactions,
	})
	if err != nil {
		return err
	}
	c.claim.Generation = int64(m.Generation)
	return nil
}

// editsOf returns the hand edits of the live files. Files are redacted as a whole, since a single line of a
// key does not show that it is one.
func (c *consolidation) editsOf(live memory.Snapshot) []memoir.HandEdit {
	edits := slices.Clone(live.Edited)
	for i := range edits { // a line of which only the redaction is new is no edit
		for _, text := range []*[]byte{&edits[i].Published, &edits[i].Now} {
			if *text != nil {
				*text = []byte(c.clean(string(*text)))
			}
		}
	}
	return memory.HandEdits(c.project.ID, edits, c.now())
}

// record stores the hand edits of the live generation, and replaces earlier records of them.
func (c *consolidation) record(ctx context.Context, live memory.Snapshot, edits []memoir.HandEdit) error {
	for i := range edits {
		n := &edits[i] // redacted as in the published files, so that their positions are found there
		for _, text := range []*string{&n.Text, &n.After, &n.Section} {
			*text = c.clean(*text)
		}
		n.File = c.scanner.Session().Name(n.File)
	}
	return c.store.RecordHandEdits(ctx, c.project.ID, int64(live.Generation), edits)
}

func errChanged() error {
	return memoir.Errorf(
		memoir.CodeChanged,
		"the next run tries again",
		"the live memory was edited while it was consolidated",
	)
}

// publishDraft adds the hand edits to a draft and publishes it, unless it equals the live memory. If it leaves
// sessions open, they stay new or changed for the next consolidation, and the claim stays.
func (c *consolidation) publishDraft(ctx context.Context, d draft, how store.Publication) (same bool, err error) {
	in, live, open := d.in, d.live, d.made.Open
	result := consolidate.ApplyHandEdits(*d.made, consolidate.LiveHandEdits(in.HandEdits, in))
	if err := consolidate.Verify(result, in); err != nil {
		return false, fmt.Errorf("check the consolidation: %w", &memoir.AnswerError{Err: err})
	}
	files, err := memory.Layout(result, c.beside(in, live))
	if err != nil {
		return false, fmt.Errorf("lay out the memory: %w", err)
	}
	files, counts, err := c.cleanFiles(files)
	if err != nil {
		return false, err
	}
	counts.Merge(workOf(ctx).taken)
	result = consolidate.WithOrigins(result, in)
	deferred, edited := stillDeferred(live.Manifest.Deferred, in), in.Edited()
	if live.Generation > 0 && len(live.Edited)+len(open) == 0 && len(deferred) == len(live.Manifest.Deferred) &&
		files.Equal(live.Files) && maps.EqualFunc(result.Anchors, live.Manifest.Anchors, slices.Equal) &&
		maps.Equal(edited, live.Manifest.Edited) && c.archived(live.Generation) {
		c.report.Outcome = cmp.Or(c.report.Outcome, OutcomeUnchanged)
		return true, nil
	}
	if len(open) > 0 {
		how = store.PublishOpen
	}
	return false, c.publish(ctx, live, files, memory.Manifest{
		Inputs: inputsOf(in, open, live.Manifest.Inputs), Redactions: counts, Deferred: deferred, Citations: result.Citations,
		Anchors: result.Anchors, Lines: result.Lines, Edited: edited,
	}, how)
}

// archived reports whether the archive of a generation is sound. If it is not, another generation gets one.
func (c *consolidation) archived(n int) bool {
	_, err := c.root.ReadArchive(n)
	return err == nil
}

// publish replaces the live generation, read as a snapshot, by files. Hand edits of the snapshot become a
// separate generation before it, in the same step. publish completes the manifest, which needs inputs and
// redactions. The error has the code CodeChanged if the live files have changed since.
func (c *consolidation) publish(
	ctx context.Context,
	live memory.Snapshot,
	files memory.Files,
	manifest memory.Manifest,
	how store.Publication,
) (err error) {
	next, err := c.root.Next(int(c.claim.Generation))
	if err != nil {
		return err
	}
	byHand, gone, err := c.stageEdits(ctx, live, next)
	defer func() {
		if err != nil {
			for n := next; n <= next+len(byHand); n++ {
				err = errors.Join(err, c.root.Discard(n))
			}
		}
	}()
	if err != nil {
		return err
	}
	n := next + len(byHand)
	manifest = manifest.Describing(n, files)
	if err := c.root.Stage(ctx, n, files, manifest); err != nil {
		return err
	}
	record := store.GenerationRecord{N: int64(n), ManifestHash: manifest.Hash(), Inputs: inputsByKey(manifest.Inputs),
		At: c.now(), Redactions: manifest.Redactions}
	err = c.store.Publish(ctx, *c.claim, how, record, func() error {
		if same, err := c.root.Unchanged(live); err != nil || !same {
			return errors.Join(err, errChanged())
		}
		return c.root.Swap(n, byHand...)
	})
	if err != nil {
		return err
	}
	c.addRedactions(manifest.Redactions)
	if gone.Total() > 0 {
		c.dropEdited(live)
	}
	c.claim.Generation = int64(n)
	c.report.Outcome, c.report.Generation, c.report.Root = OutcomePublished, n, c.root.Link()
	c.report.ByHand = append(c.report.ByHand, byHand...)
	lines := strings.Split(string(files[memoir.MemoryFile]), "\n")
	if c.report.Detail = ""; !slices.ContainsFunc(lines, consolidate.IsEntry) {
		c.report.Detail = "nothing was worth keeping in " + memoir.MemoryFile
	}
	c.dropOld()
	return nil
}

// dropEdited removes the earlier live directory because its hand edits have secrets. Otherwise it would stay
// until the next publication.
func (c *consolidation) dropEdited(live memory.Snapshot) {
	late, err := c.root.RemovePrevious()
	c.warnOfLate(late)
	if err != nil {
		c.warn(fmt.Sprintf("cannot remove hand edits with secrets from %s: %v",
			c.root.Live(live.Generation), err), "remove that directory")
	}
}

// stageEdits stages the live files with their hand edits, redacted, as generation n. It returns n, or nothing
// if there are no hand edits.
func (c *consolidation) stageEdits(
	ctx context.Context, live memory.Snapshot, n int,
) (numbers []int, gone secrets.Counts, err error) {
	if len(live.Edited) == 0 {
		return nil, nil, nil
	}
	files, gone, err := c.cleanFiles(live.Files)
	if err != nil {
		return nil, gone, fmt.Errorf("keep the edits of generation %d: %w", live.Generation, err)
	}
	m := memory.Manifest{EditedFrom: live.Generation, Inputs: live.Manifest.Inputs, Redactions: gone}
	if err := c.root.Stage(ctx, n, files, m); err != nil {
		return nil, gone, err
	}
	return []int{n}, gone, nil
}

// dropOld removes the archives that the settings do not keep. Ages are those of files, so they are measured
// with the clock and not with Options.Now.
func (c *consolidation) dropOld() {
	memories := c.opts.Settings.Memories
	var before time.Time
	if days := memories.GenerationsMaxAgeDays; days > 0 {
		before = time.Now().Add(-time.Duration(days * 24 * float64(time.Hour)))
	}
	kept, err := c.root.Prune(memories.GenerationsKept, before)
	c.warnOfLate(kept)
	if err != nil {
		c.warn(fmt.Sprintf("project %s: cannot remove old generations: %v", c.project.Name, err), memoir.HintOf(err))
	}
}

// warnOfLate warns of files that were saved too late to be merged.
func (c *consolidation) warnOfLate(paths []string) {
	for _, path := range paths {
		c.warn(fmt.Sprintf("project %s: %s was saved after a newer generation was published, so it was not merged",
			c.project.Name, path), "copy what you need from it into the live memory, then remove it")
	}
}

// beside returns the files that are published beside a consolidation: the companions, with hand edits, and
// files that people added. Lines that depend only on withdrawn sessions are removed.
func (c *consolidation) beside(in consolidate.Input, live memory.Snapshot) memory.Files {
	shown := in.Extractions
	if c.project.IsUser() { // the projects' companions have the shared rules
		shown = slices.DeleteFunc(slices.Clone(shown),
			func(e memoir.Extraction) bool { return !memoir.IsEntry(e.SessionKey) })
	}
	files := companions(shown)
	if len(in.Extractions) > 0 {
		files[memory.StatementsFile] = memory.EncodeStatements(newestFirst(in.Extractions), memory.Neutralise)
	}
	for path, content := range live.Files.Extra() {
		if !isCompanion(path) {
			files[path] = []byte(c.forgetting.clean(string(content), in))
		}
	}
	for _, edit := range in.HandEdits {
		if _, known := files[edit.File]; known && edit.Action == memoir.EditFile {
			files[edit.File] = []byte(c.forgetting.clean(edit.Text, in))
		}
	}
	return files
}

// companions returns the files that lead from citations back to the sessions: a summary of each session, and
// the raw memories of all, newest first.
func companions(extractions []memoir.Extraction) memory.Files {
	short := consolidate.ShortIDs(extractions)
	files := memory.Files{}
	if len(extractions) == 0 {
		return files
	}
	for _, e := range extractions {
		if memoir.IsEntry(e.SessionKey) || memoir.IsReceived(e.SessionKey) {
			continue // it has no summary
		}
		name := consolidate.SummaryFileName(e, short[e.SessionKey])
		files[name] = []byte(header(e) + passive(e.RolloutSummary) + "\n")
	}

	var raw strings.Builder
	raw.WriteString(
		"# Raw memories\n\nWhat was extracted from each session, newest first; " +
			"numbers in brackets are items of that session.\n",
	)
	for _, e := range newestFirst(extractions) {
		fmt.Fprintf(&raw, "\n# %s %s\n\n%s%s\n", short[e.SessionKey], passive(oneLine(e.Title)), header(e),
			passive(e.RawMemory()))
	}
	files[memoir.RawMemoriesFile] = []byte(raw.String())
	return files
}

func newestFirst(extractions []memoir.Extraction) []memoir.Extraction {
	return slices.SortedStableFunc(slices.Values(extractions),
		func(a, b memoir.Extraction) int { return b.EndedAt.Compare(a.EndedAt) })
}

// header is the header of a session's text.
func header(e memoir.Extraction) string {
	source, id := memoir.SplitKey(e.SessionKey)
	var b strings.Builder
	fmt.Fprintf(&b, "session: %s\nagent: %s\nended: %s\n", oneLine(id), source, e.EndedAt.UTC().Format(time.RFC3339))
	if e.CWD != "" {
		fmt.Fprintf(&b, "cwd: %s\n", passive(oneLine(e.CWD)))
	}
	if e.Branch != "" {
		fmt.Fprintf(&b, "branch: %s\n", passive(oneLine(e.Branch)))
	}
	return b.String() + "\n"
}

// passive makes a text safe for a file of a memory: it can neither control a terminal, nor hide or load anything.
func passive(text string) string {
	return consolidate.Passive(strings.TrimSpace(memory.Neutralise(text)))
}

// isCompanion reports whether companions makes a file.
func isCompanion(path string) bool {
	return path == memoir.RawMemoriesFile || path == memory.StatementsFile ||
		strings.HasPrefix(path, memoir.SummariesDir+"/")
}

// inputsOf returns the inputs of a generation. Open sessions keep the version that the generation before
// has, marked as open; those that it does not have are left out.
func inputsOf(in consolidate.Input, open []string, before []memory.Input) []memory.Input {
	inputs := make([]memory.Input, 0, len(in.Extractions))
	for _, e := range in.Extractions {
		if !slices.Contains(open, e.SessionKey) {
			inputs = append(inputs, memory.Input{Session: e.SessionKey, Hash: e.ContentHash})
			continue
		}
		for _, was := range before {
			if was.Session == e.SessionKey {
				inputs = append(inputs, memory.Input{Session: e.SessionKey, Hash: openMark + adopted(was.Hash)})
			}
		}
	}
	return inputs
}
