package main

import (
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/entry"
	"memoir/internal/disk"
	"memoir/pipeline"
)

func patchCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "patch", Category: groupMemory, ArgsUsage: "FILE|-",
		Usage: "change lines of MEMORY.md by a JSON patch",
		Description: help(`Applies {"ops": [{"op": "insert", "line": 3, "content": "…"}, {"op": "update", "line": 7,
"content": "…"}, {"op": "remove", "line": 12}]} in order, all or nothing, and prints the new content.
Lines count from 1, as the operations before left them; insert puts content before a line. A result
over memories.maxMemorySize is refused. Later consolidations keep the change like an edit by hand. A
project without a memory gets one with four sections: user, feedback, project, reference.`,
			"memoir cat MEMORY.md | nl -ba", "memoir patch changes.json", "memoir patch - --json < changes.json"),
		Flags:  []cli.Flag{projectRefFlag(), waitFlag(), jsonFlag()},
		Action: p.patch,
	}
}

func (p *program) patch(c *cli.Context) error {
	path, err := argument(c, "file, or -")
	if err != nil {
		return err
	}
	var patch []byte
	if path == "-" {
		patch, err = io.ReadAll(io.LimitReader(os.Stdin, entry.MaxPatch+1))
	} else {
		patch, err = disk.ReadFile(path, entry.MaxPatch)
	}
	if err != nil {
		return notFoundf("", "read the patch: %w", err)
	}
	if len(patch) > entry.MaxPatch {
		return usagef("", "the patch has more than %s", size(entry.MaxPatch))
	}
	opts, err := p.options(c, nil)
	if err != nil {
		return err
	}
	b, id, err := p.bookToWrite(c)
	if err != nil {
		return err
	}
	defer b.Store.Close()
	project, err := b.Store.FindProject(c.Context, id)
	if err != nil {
		return err
	}
	out, err := pipeline.Patch(c.Context, b.Store, opts, project.Project, memoir.AuthorUser, patch)
	if err != nil {
		return err
	}
	return p.result(c, out, func() {
		p.ui.write(out.Content)
		p.ui.say("%s: published generation %d, %s", project.Name, out.Generation, count(out.Lines, "line"))
	})
}
