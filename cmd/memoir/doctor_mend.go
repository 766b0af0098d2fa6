package main

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"memoir/pipeline"
)

// mendSound mends what SQLite cannot tell to be damaged in a sound database: what it
// says of generations, and texts of extractions. Where that is right, nothing is opened
// for writing.
func (p *program) mendSound(c *cli.Context, home string, out repairJSON) error {
	st, err := p.openForReading(c)
	if err != nil {
		return err
	}
	changed, err := pipeline.UnlikeArchives(c.Context, st, home)
	garbled, looked := st.GarbledExtractions(c.Context)
	if err = errors.Join(err, looked, st.Close()); err != nil {
		return err
	}
	mended := map[string]pipeline.Mended{}
	if len(changed)+len(garbled) > 0 && !c.Bool("dry-run") {
		if st, err = p.openForWriting(c); err != nil {
			return err
		}
		defer st.Close()
		if changed, err = pipeline.RecordArchived(c.Context, st, home); err != nil {
			return err
		}
		if mended, err = pipeline.MendExtractions(c.Context, st, home); err != nil {
			return err
		}
	}
	out.addMended(changed, mended)
	if c.Bool("json") {
		return p.ui.json(out)
	}
	if len(changed)+len(garbled) == 0 {
		p.ui.say("the database is sound: there is nothing to repair")
	}
	p.sayGenerations(out)
	p.sayMended(out)
	if c.Bool("dry-run") {
		if n := len(garbled); n > 0 {
			p.ui.printf("%s not what was stored: the disk, or another program, changed them\n", countAre(n, "extraction"))
		}
		p.ui.say("nothing was changed")
	}
	return nil
}

// mendRepaired does the same with the texts that were read of a damaged database.
func (p *program) mendRepaired(c *cli.Context, home string, out *repairJSON) error {
	st, err := p.openForWriting(c)
	if err != nil {
		return err
	}
	mended, err := pipeline.MendExtractions(c.Context, st, home)
	out.addMended(nil, mended)
	return errors.Join(err, st.Close())
}

// addMended enters what was mended, by project.
func (out *repairJSON) addMended(recorded map[string]int, mended map[string]pipeline.Mended) {
	at := func(id string) *adoptedJSON {
		i := slices.IndexFunc(out.Projects, func(a adoptedJSON) bool { return a.Project == id })
		if i < 0 {
			i = len(out.Projects)
			out.Projects = append(out.Projects, adoptedJSON{Project: id, Lost: []string{}})
		}
		return &out.Projects[i]
	}
	for _, id := range slices.Sorted(maps.Keys(recorded)) {
		at(id).Generations = recorded[id]
	}
	for _, id := range slices.Sorted(maps.Keys(mended)) {
		a, m := at(id), mended[id]
		a.Mended, a.Again, a.Stay = m.FromMemory, m.Again, m.Stay
	}
}

// sayMended tells what became of extractions that were changed.
func (p *program) sayMended(out repairJSON) {
	for _, a := range out.Projects {
		name := cmp.Or(a.Project, "of no project")
		if a.Mended > 0 {
			p.ui.printf("%s: %s that had been changed taken from its memory\n", name, count(a.Mended, "extraction"))
		}
		if a.Again > 0 {
			p.ui.printf("%s: %s of which the extraction had been changed read again by the next run\n", name, countAre(a.Again, "session"))
		}
		if a.Stay > 0 {
			p.ui.warn("`memoir show` what it says, and `memoir forget` it if it is of no use", "%s: %s changed, and nothing is left to make it anew of", name, countAre(a.Stay, "extraction"))
		}
	}
}

// sayGenerations tells of which generations archives told.
func (p *program) sayGenerations(out repairJSON) {
	for _, a := range out.Projects {
		if a.Generations > 0 {
			p.ui.printf("%s: %s recorded as its archives say\n", a.Project, count(a.Generations, "generation"))
		}
	}
}
