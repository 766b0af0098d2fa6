package team

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/team/wire"
)

// Waiting is a generation that waits at a hub until this member accepts it. Diffs are unified diffs of MEMORY.md and
// files of skills between what machines get and this one.
type Waiting struct {
	wire.Accept
	Diffs    []string `json:"diffs"`
	Went     []Went   `json:"went"`    // lines of MEMORY.md that machines get, and this one lacks
	Without  []string `json:"without"` // lines of MEMORY.md that were named to be left out
	Accepted bool     `json:"accepted"`
}

// Accept reads the newest generation of a project that waits; if none does, its number is 0. If agree returns true, it
// accepts that, if the hub has it as it was read, and receives it. If shown is not 0, that may also be the generation
// that Accept read here last: then there is no diff. If without names lines of it, each by a text, Accept instead
// removes these for all members, by edits: the hub's next generation comes without them. If none waits, they are lines
// of the published one.
func Accept(
	ctx context.Context, o Options, key string, shown int64, without []string, agree func(Waiting) (bool, error),
) (w Waiting, err error) {
	w.Project, w.Diffs, w.Went, w.Without = key, []string{}, []Went{}, []string{}
	now := cmp.Or(o.Now, time.Now())
	_, c, err := dial(o.Home)
	if err != nil {
		return w, err
	}
	files, of, err := w.read(ctx, o, c, key, len(without) > 0)
	edits, agreed := wire.Push{Project: key}, false
	if err == nil && len(without) > 0 {
		w.Without, edits.Edits, err = removing(string(files[memoir.MemoryFile]), of, without, now)
	}
	if err == nil && len(without) == 0 && of > 0 {
		err = w.recall(o.Home, shown)
	}
	if err == nil && of > 0 {
		agreed, err = agree(w)
	}
	switch w.Accepted = agreed && len(without) == 0; {
	case err != nil || !agreed:
		return w, err
	case w.Accepted:
		err = c.call(ctx, http.MethodPost, "/v1/accept", w.Accept, nil)
	default:
		err = c.call(ctx, http.MethodPost, "/v1/edits", edits, nil)
	}
	if err == nil {
		_, err = Sync(ctx, o, Pull)
	}
	return w, err
}

// recall makes w the generation n, if it was the last one of the project that was read here before. Unless another
// number is wanted, w is the last one from now on.
func (w *Waiting) recall(home string, n int64) error {
	last := map[string]wire.Accept{}
	err := read(home, "shown", &last)
	switch was := last[w.Project]; {
	case err != nil:
	case n == 0 || n == w.Generation:
		last[w.Project] = w.Accept
		err = write(home, "shown", last)
	case n == was.Generation:
		w.Accept, w.Diffs, w.Went = was, []string{}, []Went{}
	}
	return err
}

// read reads what waits, or with live what machines get if nothing does, and how it differs. It returns its files and
// number; that is 0 if there is none.
func (w *Waiting) read(
	ctx context.Context, o Options, c *client, key string, live bool,
) (shown memory.Files, of int64, err error) {
	var files [2]memory.Files
	var made [2]memory.Manifest
	for i, number := range []*int64{&w.Generation, &w.Published} {
		if err != nil {
			return nil, 0, err
		}
		found, failed := c.archive(ctx, key, "", i == 0)
		if refused(failed) == wire.CodeNotFound || failed == nil && i == 0 && found.waits == 0 {
			if live && i == 0 {
				continue
			}
			break // none, or a hub of the release before
		}
		if err = failed; err == nil {
			files[i], made[i], err = cleaned(found, o.Scanner)
			*number, w.Hash = int64(made[i].Generation), cmp.Or(w.Hash, strings.Trim(found.etag, `"`))
		}
	}
	if err == nil && w.Generation > 0 && w.Published > 0 {
		w.Went, err = went(files[1], files[0], made[1], made[0])
	}
	for _, f := range files {
		delete(f, memory.StatementsFile)
	}
	if of, shown = w.Generation, files[0]; of == 0 {
		of, shown = w.Published, files[1]
	}
	w.Diffs = memoir.Map(memory.Changes(files[1], shown), func(c memory.Change) string { return c.Diff })
	return shown, of, err
}

// removing returns the edits that remove lines of a MEMORY.md for all, each named by a text that it alone has.
// They are of no machine, so none takes them back.
func removing(text string, n int64, named []string, now time.Time) (lines []string, edits []wire.Edit, err error) {
	for _, name := range named {
		found := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
			return !consolidate.IsEntry(line) || !strings.Contains(line, name)
		})
		if len(found) != 1 {
			return nil, nil, memoir.Errorf(memoir.CodeUsage, "name a line by words that it alone has",
				"%d lines of generation %d have %q", len(found), n, name)
		}
		e := wire.Edit{Generation: int(n), Before: memoir.WithoutTeam(memoir.LineText(found[0])),
			Day: now.UTC().Format(time.DateOnly)}
		e.Hash = e.Of()
		if err := e.Check(); err != nil {
			return nil, nil, err
		}
		lines, edits = append(lines, found[0]), append(edits, e)
	}
	return lines, edits, nil
}

// Went is a line that a generation lacks, without its citation, and what the generations say of the reason.
type Went struct {
	Line string `json:"line"`
	Why  string `json:"why"`
}

// went returns the lines of MEMORY.md that the later one of two generations lacks.
func went(before, after memory.Files, was, is memory.Manifest) ([]Went, error) {
	had, err1 := memory.DecodeStatements(before[memory.StatementsFile])
	has, err2 := memory.DecodeStatements(after[memory.StatementsFile])
	words := func(line string) string { return memoir.WithoutTeam(memoir.LineText(line)) }
	out, stays := []Went{}, map[string]bool{}
	for line := range strings.Lines(string(after[memoir.MemoryFile])) {
		stays[words(line)] = true
	}
	for line := range strings.Lines(string(before[memoir.MemoryFile])) {
		text := words(line)
		if !consolidate.IsEntry(line) || stays[text] {
			continue
		}
		one := Went{text, whyWent(was.Lines[memoir.LineKey(line)].Statements, had, has)}
		if edit, edited := is.Edited[memoir.LineKey(text)]; edited {
			one.Why = fmt.Sprintf("%s %s it for all on %s", edit.By,
				map[bool]string{true: "removed", false: "changed"}[edit.Became == ""], edit.Day)
		}
		out = append(out, one)
	}
	return out, cmp.Or(err1, err2)
}

// whyWent says what became of the statements, by their ids, of a line that no member changed or removed.
func whyWent(ids []string, had, has []memoir.Extraction) string {
	is, members := map[string]memoir.Statement{}, map[string]bool{} // by session and id; true: something of theirs is left
	for _, e := range has {
		members[memoir.MemberOf(e.SessionKey)] = true
		base, _ := memoir.ReceivedGroup(e.SessionKey)
		for _, st := range e.Statements {
			is[base+st.ID] = st
		}
	}
	all, left, overturned, gone := 0, 0, "", []string{}
	for _, e := range had {
		base, _ := memoir.ReceivedGroup(e.SessionKey)
		for _, st := range e.Statements {
			if !slices.Contains(ids, st.ID) {
				continue
			}
			all++
			if now, there := is[base+st.ID]; there {
				left++
				if now.Kind == memoir.StatementRefuted && now.Kind != st.Kind {
					overturned = now.Outcome
				}
			} else if member := memoir.MemberOf(e.SessionKey); !members[member] {
				gone = append(gone, member)
			}
		}
	}
	switch {
	case all == 0:
		return "the hub does not say why"
	case overturned != "":
		return "a later word overturned it on " + overturned
	case left == all:
		return "what says it is still at the hub: other lines have its place"
	case len(gone) > 0:
		return "nothing of " + strings.Join(slices.Compact(gone), ", ") + " is left: erased, or withdrawn"
	}
	return fmt.Sprintf("of %s that said it %d left: the others were forgotten or replaced",
		memoir.Count(all, "session"), left)
}
