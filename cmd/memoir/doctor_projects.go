package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"memoir"
	"memoir/memory"
	"memoir/store"
)

// projects compares each project's files with what was published and recorded.
func (d *doctor) projects(ctx context.Context, home string, st *store.Store, rows []store.ProjectRow) {
	for _, row := range rows {
		if ctx.Err() != nil {
			return
		}
		d.project(ctx, memory.At(home, row.ID), st, row)
	}
}

func (d *doctor) project(ctx context.Context, root memory.Root, st *store.Store, row store.ProjectRow) {
	name := "project " + row.ID
	again := "`memoir rebuild --project " + row.ID + "` and `memoir run`"
	if paths, err := root.Unmerged(); err == nil && len(paths) > 0 {
		d.add(checkWarn, name, "copy what you need from it into the live memory, then remove it",
			fmt.Sprintf("%s was saved after a newer generation was published, so it was not merged", paths[0]))
	}
	debris, err := root.Debris(int(row.Generation))
	if err == nil && len(debris) > 0 {
		d.add(checkWarn, name, again+" remove them", fmt.Sprintf("%s of a run that was killed: %s", count(len(debris), "leftover"), strings.Join(debris, ", ")))
	}
	d.archives(ctx, root, st, row, again)
	if n, lost, err := root.LinkLost(int(row.Generation)); err == nil && lost {
		d.add(checkFail, name, again+" link it again; leave the files where they are until then",
			fmt.Sprintf("the link %s is lost, so agents see no memory; the files of generation %d are in %s", root.Link(), n, root.Live(n)))
		return
	}
	snap, err := root.Current()
	if err != nil {
		hint := strings.ReplaceAll(memoir.HintOf(err), "`memoir rebuild`", "`memoir rebuild --project "+row.ID+"`")
		d.add(checkFail, name, strings.ReplaceAll(hint, "`memoir clear`", "`memoir clear --project "+row.ID+"`"), err.Error())
		return
	}
	switch recorded := int(row.Generation); {
	case snap.Generation == 0 && recorded > 0:
		d.add(checkFail, name, again+" make it again", fmt.Sprintf("generation %d is recorded, but there is no live memory", recorded))
	case snap.Generation > recorded:
		d.add(checkWarn, name, "`memoir run` records it, and takes over from its files what the database lost", fmt.Sprintf("generation %d is live, and the database knows %d at most%s", snap.Generation, recorded, d.unknownInputs(ctx, st, row, snap)))
	case snap.Generation != recorded:
		d.add(checkWarn, name, again+" record it", fmt.Sprintf("generation %d is live, %d is recorded", snap.Generation, recorded))
	case snap.Generation == 0:
		d.add(checkOK, name, "", "nothing published yet")
	default:
		d.live(ctx, root, st, row, snap)
	}
}

// unknownInputs says how many sessions a memory rests on that the database has nothing of.
func (d *doctor) unknownInputs(ctx context.Context, st *store.Store, row store.ProjectRow, snap memory.Snapshot) string {
	stored, err := st.Extractions(ctx, row.ID)
	if err != nil {
		return ""
	}
	known := map[string]bool{}
	for _, e := range stored {
		known[e.SessionKey] = true
	}
	unknown := 0
	for _, in := range snap.Manifest.Inputs {
		if !known[in.Session] {
			unknown++
		}
	}
	if unknown == 0 {
		return ""
	}
	return fmt.Sprintf(": it lost what was written last, with %s of %d that the memory rests on", count(unknown, "session"), len(snap.Manifest.Inputs))
}

// live holds the live files against their manifest, and that against the database.
func (d *doctor) live(ctx context.Context, root memory.Root, st *store.Store, row store.ProjectRow, snap memory.Snapshot) {
	name := "project " + row.ID
	recorded, err := st.Generations(ctx, row.ID)
	if err != nil {
		d.check(name, "", err)
		return
	}
	i := slices.IndexFunc(recorded, func(g store.GenerationRecord) bool { return int(g.N) == snap.Generation })
	if i >= 0 && recorded[i].ManifestHash != "" && recorded[i].ManifestHash != snap.Manifest.Hash() {
		if _, m, err := root.ReadGeneration(snap.Generation); err == nil && m.Hash() == snap.Manifest.Hash() {
			d.add(checkFail, name, recordAgain, fmt.Sprintf("the record of generation %d in the database is damaged", snap.Generation))
			return
		}
		d.add(checkFail, name, fmt.Sprintf("rm -r %s, keeping a copy of what you edited there, then `memoir rebuild --project %s` and `memoir run` put back what was published", shellWord(root.Live(snap.Generation)), row.ID),
			fmt.Sprintf("the manifest of generation %d is not the one that was recorded", snap.Generation))
		return
	}
	var damaged []string
	for _, edit := range snap.Edited {
		if looksDamaged(edit) {
			damaged = append(damaged, edit.Path)
		}
	}
	switch {
	case len(damaged) > 0:
		d.add(checkFail, name, fmt.Sprintf("`memoir restore %d --project %s` puts back what was published; edits by hand are in a generation of their own then", snap.Generation, row.ID),
			fmt.Sprintf("generation %d: %s, which no edit by hand leaves so: empty, or no text any more", snap.Generation, strings.Join(damaged, ", ")))
	case len(snap.Edited) > 0:
		d.add(checkOK, name, "", fmt.Sprintf("generation %d, %s edited by hand: the next run keeps that", snap.Generation, count(len(snap.Edited), "file")))
	default:
		d.add(checkOK, name, "", fmt.Sprintf("generation %d, %s as published", snap.Generation, count(len(snap.Files), "file")))
	}
}

// looksDamaged tells a file that a disk or a crash spoilt from one that a person changed.
func looksDamaged(e memory.Edit) bool {
	if e.Now == nil || len(e.Published) == 0 || !utf8.Valid(e.Published) {
		return false
	}
	return len(e.Now) == 0 || !utf8.Valid(e.Now) || bytes.IndexByte(e.Now, 0) >= 0
}

const recordAgain = "`memoir doctor --repair` records it as its archive says"

// archives reads every archive whole: each holds the sums of its own files.
func (d *doctor) archives(ctx context.Context, root memory.Root, st *store.Store, row store.ProjectRow, again string) {
	name := "project " + row.ID
	records, err := st.Generations(ctx, row.ID)
	if err != nil {
		d.check(name, "", err)
		return
	}
	recorded := map[int]string{}
	for _, g := range records {
		recorded[int(g.N)] = g.ManifestHash
	}
	kept, err := root.Generations()
	if err != nil {
		d.check(name, "", err)
		return
	}
	linked, _ := root.Linked() // if it cannot be told, Current says why
	has := linked == 0
	for _, g := range kept {
		has = has || g.Number == linked
		if _, m, err := root.ReadGeneration(g.Number); err == nil {
			if hash := recorded[g.Number]; g.Number != linked && hash != "" && hash != m.Hash() {
				d.add(checkWarn, name, recordAgain, fmt.Sprintf("the database says another thing of generation %d than its archive", g.Number))
			}
			continue
		} else if g.Number == linked {
			d.add(checkFail, name, again+" make it again, if nobody changed the live files", fmt.Sprintf("the archive of generation %d, which is live, is damaged: %v", g.Number, err))
		} else {
			d.add(checkFail, name, "restore it from a backup, or rm "+shellWord(root.Archive(g.Number))+": no other generation needs it", err.Error())
		}
	}
	if !has {
		d.add(checkWarn, name, again+" make it again, if nobody changed the live files", fmt.Sprintf("generation %d is live, and its archive is gone", linked))
	}
}

// folders looks for memories of projects that nobody knows.
func (d *doctor) folders(ctx context.Context, home string, st *store.Store, rows []store.ProjectRow) {
	entries, err := os.ReadDir(filepath.Join(home, "projects"))
	if err != nil {
		return
	}
	moves, err := st.FolderMoves(ctx)
	if err != nil {
		d.check("projects", "", err)
		return
	}
	for _, entry := range entries {
		id := entry.Name()
		if id[0] == '.' || slices.ContainsFunc(rows, func(r store.ProjectRow) bool { return r.ID == id }) ||
			slices.ContainsFunc(moves, func(m store.FolderMove) bool { return m.ProjectID == id }) {
			continue
		}
		if !isProjectFolder(home, id) {
			path := filepath.Join(home, "projects", id)
			d.add(checkWarn, "folder "+id, "rm -r "+shellWord(path)+", once nothing in it is missed", path+" is no memory of a project")
			continue
		}
		d.add(checkWarn, "folder "+id, "a run over its sessions takes it up again; `memoir clear --project "+shellWord(id)+"` removes it", "no registered project has it")
	}
}
