package main

import (
	"slices"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/store"
)

// giveUpForgetting ends forgetting that no run can finish: something of what was
// forgotten is left in the live memory, or it cannot be read. The tombstones stay, and
// what was extracted goes; whether the live files still tell of it, nobody looks any more.
func (p *program) giveUpForgetting(c *cli.Context, st *store.Store, home, ref string) error {
	project, err := p.projectNamed(c, st, ref)
	if err != nil {
		return err
	}
	all, err := st.Withdrawals(c.Context)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(w store.Withdrawal) bool { return w.ProjectID == project.ID })
	if i < 0 {
		p.ui.say("%s has nothing left to forget", project.ID)
		return nil
	}
	if why := all[i].Error; why != "" {
		p.ui.say("%s", p.redact(why))
	}
	if err := p.confirm(c, "what is stored to tell what "+project.ID+" must forget, though its memory may still tell of it", home); err != nil {
		return err
	}
	if err := st.FinishForgetting(c.Context, project.ID, all[i].Seq, []string{}, func(n memoir.Note) (memoir.Note, bool) { return n, true }); err != nil {
		return err
	}
	p.ui.say("%s: no run tries again; what was forgotten stays out of what is extracted", project.ID)
	p.ui.sayHint("`memoir view --project " + project.ID + "` shows what its memory says; take out by hand what should go")
	return nil
}
