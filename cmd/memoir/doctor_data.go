package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/secrets"
	"memoir/store"
)

// recordsJSON is how often the sessions of one agent have one kind of record that its reader
// skipped.
type recordsJSON struct {
	Source   string     `json:"source"`
	Why      string     `json:"why"`  // unknown, malformed, oversized or cut
	Type     string     `json:"type"` // of unknown ones
	N        int        `json:"n"`
	Sessions int        `json:"sessions"`
	Newest   string     `json:"newest"` // key of the session that was active last
	At       *time.Time `json:"at"`     // of its last record
}

// unread reports records that no reader understood. Unknown types mean that an agent's
// format has changed; that is no fault of the installation.
func (d *doctor) unread(ctx context.Context, st *store.Store) {
	rows, err := st.SkippedRecords(ctx)
	if err != nil {
		d.check("records", "", err)
		return
	}
	status, parts := map[string]string{}, map[string][]string{}
	var sources []string
	for _, r := range rows {
		source, kind := string(r.Source), r.Why
		if parts[source] == nil {
			sources, status[source] = append(sources, source), checkOK
		}
		if r.Why == store.SkippedUnknown {
			kind, status[source] = "unknown type "+d.redact(r.Type), checkWarn
		}
		parts[source] = append(parts[source], fmt.Sprintf("%s ×%d in %s", kind, r.N, count(r.Sessions, "session")))
		d.records = append(d.records, recordsJSON{source, r.Why, d.redact(r.Type), r.N, r.Sessions, d.redact(r.Newest), moments(r.At)})
	}
	for _, source := range sources {
		d.add(status[source], "records of "+source, "the agent's format has changed: look for a newer memoir; all other records were read",
			"skipped records: "+shortened(parts[source]))
	}
}

// jobs reports what a dead process holds, and what a killed one left for the next run.
func (d *doctor) jobs(ctx context.Context, home string, st *store.Store) {
	now, err := st.Status(ctx)
	unfinished := emptyStatus(time.Now())
	if err == nil {
		err = d.addUnfinished(ctx, &unfinished, st, home)
	}
	if err != nil {
		d.check("jobs", "", err)
		return
	}
	var stale []string
	for _, j := range now.Running {
		if j.Stale {
			stale = append(stale, j.Key+" ("+j.Holder.Describe()+")")
		}
	}
	if len(stale) > 0 {
		d.add(checkWarn, "jobs", "the next run takes them over", fmt.Sprintf("%s held by a dead process or one whose lease ended: %s", countAre(len(stale), "job"), shortened(stale)))
	}
	for _, u := range unfinished.Unfinished {
		d.add(checkWarn, "unfinished", u.Hint, strings.TrimSpace(u.What+" "+u.Project)+": "+d.redact(u.Detail))
	}
	if len(stale)+len(unfinished.Unfinished) == 0 {
		d.add(checkOK, "jobs", "", "nothing is stale or unfinished")
	}
}

// projectRules checks the rules for secrets that projects add.
func (d *doctor) projectRules(c *cli.Context, home string, rows []store.ProjectRow) {
	dir, err := d.configDir(c)
	if err != nil || secrets.Check(secrets.Options{ConfigPath: config.RulesFile(dir)}) != nil {
		return // configuration reports it
	}
	trusted, err := config.LoadTrust(home)
	if err != nil {
		d.check("projects' rules", "", err)
		return
	}
	for _, m := range pipeline.FindMisruled(rows, dir, trusted) {
		d.add(checkFail, "rules of project "+m.Project, m.Hint, m.Error)
	}
}

// project compares a project's files with what was published and recorded.
func (d *doctor) project(ctx context.Context, root memory.Root, st *store.Store, row store.ProjectRow) {
	name := "project " + row.ID
	again := "`memoir rebuild --project " + row.ID + "` and `memoir run`"
	if paths, err := root.Unmerged(); err == nil && len(paths) > 0 {
		d.add(checkWarn, name, "copy what you need from it into the live memory, then remove it",
			paths[0]+" was saved after a newer generation was published, so it was not merged")
	}
	if debris, err := root.Debris(int(row.Generation)); err == nil && len(debris) > 0 {
		d.add(checkWarn, name, again+" remove them", fmt.Sprintf("%s of a run that was killed: %s", count(len(debris), "leftover"), shortened(debris)))
	}
	d.archives(root, name, again)
	if n, lost, err := root.LinkLost(int(row.Generation)); err == nil && lost {
		d.add(checkFail, name, again+" link it again; leave the files where they are until then",
			fmt.Sprintf("the link %s is missing, so agents see no memory; the files of generation %d are in %s", root.Link(), n, root.Live(n)))
		return
	}
	snap, err := root.Current()
	if err != nil {
		hint := strings.NewReplacer("`memoir rebuild`", "`memoir rebuild --project "+row.ID+"`",
			"`memoir clear`", "`memoir clear --project "+row.ID+"`").Replace(memoir.HintOf(err))
		d.add(checkFail, name, hint, err.Error())
		return
	}
	switch recorded := int(row.Generation); {
	case snap.Generation == 0 && recorded > 0:
		d.add(checkFail, name, again+" make it again", fmt.Sprintf("generation %d is recorded, but there is no live memory", recorded))
	case snap.Generation != recorded:
		d.add(checkWarn, name, again+" record it", fmt.Sprintf("generation %d is live, %d is recorded", snap.Generation, recorded))
	case snap.Generation == 0:
		d.add(checkOK, name, "", "nothing published yet")
	default:
		d.live(ctx, st, root, row, snap)
	}
}

// live compares the live files with their manifest, and that with the database.
func (d *doctor) live(ctx context.Context, st *store.Store, root memory.Root, row store.ProjectRow, snap memory.Snapshot) {
	name := "project " + row.ID
	recorded, err := st.Generations(ctx, row.ID)
	if err != nil {
		d.check(name, "", err)
		return
	}
	another := slices.ContainsFunc(recorded, func(g store.GenerationRecord) bool {
		return int(g.N) == snap.Generation && g.ManifestHash != "" && g.ManifestHash != snap.Manifest.Hash()
	})
	var damaged []string
	for _, edit := range snap.Edited {
		if looksDamaged(edit) {
			damaged = append(damaged, edit.Path)
		}
	}
	switch {
	case another:
		d.add(checkFail, name, fmt.Sprintf("rm -r %s, keeping a copy of what you edited there, then `memoir rebuild --project %s` and `memoir run` put back what was published",
			shellWord(root.Live(snap.Generation)), row.ID), fmt.Sprintf("the manifest of generation %d is not the one that was recorded", snap.Generation))
	case len(damaged) > 0:
		d.add(checkFail, name, fmt.Sprintf("`memoir restore %d --project %s` puts back what was published; hand edits are kept in a generation of their own", snap.Generation, row.ID),
			fmt.Sprintf("generation %d: empty or not text: %s", snap.Generation, strings.Join(damaged, ", ")))
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

// archives reads every archive whole: each holds the hashes of its own files.
func (d *doctor) archives(root memory.Root, name, again string) {
	kept, err := root.Generations()
	if err != nil {
		d.check(name, "", err)
		return
	}
	linked, _ := root.Linked() // Current reports an error
	for _, g := range kept {
		if _, err := root.ReadArchive(g.Number); err == nil {
			continue
		} else if g.Number == linked {
			d.add(checkFail, name, again+" make it again, if nobody changed the live files", fmt.Sprintf("the archive of the live generation %d is damaged: %v", g.Number, err))
		} else {
			d.add(checkFail, name, "restore it from a backup, or rm "+shellWord(root.Archive(g.Number))+": no other generation needs it", err.Error())
		}
	}
	if linked > 0 && !slices.ContainsFunc(kept, func(g memory.Generation) bool { return g.Number == linked }) {
		d.add(checkWarn, name, again+" make it again, if nobody changed the live files", fmt.Sprintf("the archive of the live generation %d is missing", linked))
	}
}

// folders looks for directories of no registered project.
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
		known := slices.ContainsFunc(rows, func(r store.ProjectRow) bool { return r.ID == id }) ||
			slices.ContainsFunc(moves, func(m store.FolderMove) bool { return m.ProjectID == id })
		switch path := filepath.Join(home, "projects", id); {
		case known || id[0] == '.':
		case isProjectFolder(home, id):
			d.add(checkWarn, "folder "+id, "a run over its sessions takes it up again; `memoir clear --project "+shellWord(id)+"` removes it", "no registered project has it")
		default:
			d.add(checkWarn, "folder "+id, "rm -r "+shellWord(path)+", once nothing in it is missed", path+" is not a memory of a project")
		}
	}
}
