package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/integrate"
	"memoir/memory"
	"memoir/search"
	"memoir/store"
)

// database checks the database and returns whether it can be read. Damaged copies that were moved aside
// are reported; a person removes them.
func (d *doctor) database(ctx context.Context, home string, st *store.Store) bool {
	aside, _ := filepath.Glob(filepath.Join(home, databaseName+".damaged*")) // the pattern is valid
	if len(aside) > 0 {
		command := "rm"
		for _, path := range aside {
			command += " " + shellWord(path)
		}
		d.warn("database", command+", if you do not need its data", "a damaged copy is kept: %s", aside[0])
	}
	damage, err := st.Check(ctx)
	if err != nil {
		d.verify("database", "", err)
		return false
	}
	const most = 10
	for i, line := range damage[:min(len(damage), most)] {
		if i == most-1 && len(damage) > most {
			line = fmt.Sprintf("%d more faults, such as: %s", len(damage)-i, line)
		}
		d.fail("database", "move "+st.Path()+" aside: the next run opens the backup, or without one "+
			"makes a new database from memories and sessions", "%s", line)
	}
	if len(damage) == 0 {
		d.ok("database", "%s is intact", st.Path())
	}
	d.ok("search", "the index has %s", megabytes(search.Size(home)))
	return true
}

// unread reports records that were skipped. An unknown type means that an agent's format has changed.
func (d *doctor) unread(ctx context.Context, st *store.Store) {
	rows, err := st.SkippedRecords(ctx)
	if err != nil {
		d.verify("records", "", err)
		return
	}
	unknown, parts := map[string]bool{}, map[string][]string{}
	for _, r := range rows {
		source, kind := string(r.Source), r.Why
		if r.Why == store.SkippedUnknown {
			kind, unknown[source] = "unknown type "+d.redact(r.Type), true
		}
		parts[source] = append(parts[source], fmt.Sprintf("%s ×%d in %s", kind, r.N, count(r.Sessions, "session")))
	}
	for _, source := range slices.Sorted(maps.Keys(parts)) {
		name, detail := "records of "+source, "skipped records: "+shortened(parts[source])
		if unknown[source] {
			d.warn(name, "the agent's format has changed: check for a newer memoir; all other records were read", "%s", detail)
		} else {
			d.ok(name, "%s", detail)
		}
	}
}

type projectCheck struct {
	*doctor
	name string
	root memory.Root
	row  store.ProjectRow
}

// rebuild returns the beginning of hints that publish the memory again.
func (p projectCheck) rebuild() string {
	return "`memoir rebuild --project " + p.row.ID + "` and `memoir run`"
}

func (p projectCheck) run() {
	recorded := int(p.row.Generation)
	beside, _ := p.root.Beside() // another check reports unreadable files
	for _, name := range beside.Paths() {
		if strings.HasPrefix(name, "unmerged/") {
			p.warn(p.name, "copy what you need into the live memory, then remove it",
				"%s was saved after a newer generation was published, so it was not merged", filepath.Join(p.root.Dir(), name))
			break
		}
	}
	p.archives()
	snap, err := p.root.Current()
	switch {
	case err != nil:
		option := " --project " + p.row.ID + "`"
		named := strings.NewReplacer("`memoir rebuild`", "`memoir rebuild"+option, "`memoir clear`", "`memoir clear"+option)
		p.fail(p.name, named.Replace(memoir.HintOf(err)), "%v", err)
	case snap.Generation == 0 && recorded > 0:
		p.fail(p.name, p.rebuild()+" rebuild it", "generation %d is recorded, but has no live files", recorded)
	case snap.Generation != recorded:
		p.warn(p.name, p.rebuild()+" record it", "generation %d is live, %d is recorded", snap.Generation, recorded)
	case snap.Generation == 0:
		p.ok(p.name, "nothing published yet")
	default:
		p.live(snap)
	}
}

func (p projectCheck) live(snap memory.Snapshot) {
	n := snap.Generation
	var damaged []string
	for _, edit := range snap.Edited {
		if looksDamaged(edit) {
			damaged = append(damaged, edit.Path)
		}
	}
	refused := p.root.Refused(snap)
	switch {
	case refused != nil:
		p.verify(p.name, "", refused)
	case len(damaged) > 0:
		p.fail(p.name, fmt.Sprintf("`memoir restore %d --project %s`", n, p.row.ID)+
			" restores the published files and keeps hand edits as a generation",
			"generation %d: deleted, empty or not text: %s", n, strings.Join(damaged, ", "))
	case len(snap.Edited) > 0:
		p.ok(p.name, "generation %d, %s edited by hand; the next run publishes the edits", n, count(len(snap.Edited), "file"))
	default:
		p.ok(p.name, "generation %d, %s as published", n, count(len(snap.Files), "file"))
	}
}

// looksDamaged reports whether an edit looks like damage by a disk or crash: a page that is gone, an empty
// file, or one that is not text.
func looksDamaged(e memory.Edit) bool {
	if e.Now == nil {
		return e.Path == memoir.MemoryFile || e.Path == memoir.SummaryFile
	}
	if len(e.Published) == 0 || !utf8.Valid(e.Published) {
		return false
	}
	return len(e.Now) == 0 || !utf8.Valid(e.Now) || bytes.IndexByte(e.Now, 0) >= 0
}

// archives reads each archive completely, which checks the hashes of its files.
func (p projectCheck) archives() {
	kept, err := p.root.Generations()
	if err != nil {
		p.verify(p.name, "", err)
		return
	}
	linked, _ := p.root.Linked() // Current reports an error
	found := linked == 0
	for _, g := range kept {
		found = found || g.Number == linked
		if _, err := p.root.ReadArchive(g.Number); err != nil {
			hint := "restore it from a backup, or rm " + shellWord(p.root.Archive(g.Number)) + ": no other generation needs it"
			if g.Number == linked {
				hint += "; " + p.rebuild() + " publish another one"
			}
			p.fail(p.name, hint, "%v", err)
		}
	}
	if !found {
		p.warn(p.name, "restore it from a backup, or "+p.rebuild()+" publish another one",
			"the archive of the live generation %d is missing", linked)
	}
}

func (d *doctor) integrations(c *cli.Context) {
	home, err := d.home(c)
	if err != nil {
		return // another check reports it
	}
	record, err := integrate.Load(home)
	env, errEnv := d.agentEnv()
	if err = cmp.Or(err, errEnv); err != nil {
		d.verify("integrations", "", err)
		return
	}
	names := record.Agents()
	if len(names) == 0 {
		d.warn("integrations", "`memoir install`", "none: agents get the memory only by a plugin, or a repository's hook")
		return
	}
	for _, name := range names {
		agent, ok := integrate.Named(name)
		if !ok {
			continue // memoir's own settings: another check reports them
		}
		findings := record.Check(env, agent)
		for _, f := range findings {
			say := d.warn
			if f.Fails {
				say = d.fail
			}
			say("integration "+name, f.Hint, "%s", f.Text)
		}
		if len(findings) == 0 {
			d.ok("integration "+name, "%s", agent.Channel)
		}
	}
}
