package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"memoir/memory"
)

func diffCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "diff", ArgsUsage: "[FROM [TO]]", Category: groupMemory,
		Usage: "show how two generations of a project's memory differ",
		Description: help("Prints the difference between the files of two generations as a unified diff: by default the\n"+
			"last two that are kept; with one number, that generation and the live files, hand edits\n"+
			"included. The exit code is 0 whether or not they differ.",
			"memoir diff", "memoir diff 3", "memoir diff 3 5 --project mise"),
		Flags: []cli.Flag{
			projectRefFlag(),
			jsonFlag(),
		},
		Action: p.diff,
	}
}

// changedJSON is one file as `diff --json` gives it.
type changedJSON struct {
	Path    string `json:"path"`
	Status  string `json:"status"` // added, deleted or changed
	Binary  bool   `json:"binary"`
	Added   int    `json:"added"` // lines
	Removed int    `json:"removed"`
	Diff    string `json:"diff"` // unified
}

// side is one side of the comparison.
type side struct {
	n     int // 0: empty, what the first generation is compared with
	live  bool
	files memory.Files
}

// String names the side in messages.
func (s side) String() string {
	switch {
	case s.live:
		return fmt.Sprintf("the live files (generation %d)", s.n)
	case s.n == 0:
		return "nothing"
	}
	return fmt.Sprintf("generation %d", s.n)
}

func (p *program) diff(c *cli.Context) error {
	id, err := p.projectID(c)
	if err != nil {
		return err
	}
	home, err := p.home(c)
	if err != nil {
		return err
	}
	root := memory.At(home, id)
	from, to, err := p.sides(c, root)
	if err != nil {
		return err
	}
	changes := memory.Changes(from.files, to.files)
	files := []changedJSON{}
	for _, change := range changes {
		files = append(files, changedJSON{change.Path, statusOf(change), change.Binary, change.Added, change.Removed,
			change.Text})
	}
	return p.result(c, struct {
		Project string        `json:"project"`
		From    int           `json:"from"` // 0: nothing
		To      int           `json:"to"`
		Live    bool          `json:"live"` // compared with the live files as they are now
		Files   []changedJSON `json:"files"`
	}{id, from.n, to.n, to.live, files}, func() {
		if len(files) == 0 {
			p.ui.say("%s and %s do not differ", from, to)
			return
		}
		for _, file := range files {
			p.ui.write(file.Diff)
		}
		p.ui.say("%s to %s: %s changed", from, to, count(len(files), "file"))
	})
}

// sides reads the two sides.
func (p *program) sides(c *cli.Context, root memory.Root) (from, to side, err error) {
	if c.NArg() > 2 {
		return from, to, usagef("", "diff takes two generations at most, not also %q", c.Args().Get(2))
	}
	var numbers []int
	for _, text := range c.Args().Slice() {
		n, err := generationNumber(text)
		if err != nil {
			return from, to, err
		}
		numbers = append(numbers, n)
	}
	if len(numbers) == 0 {
		kept, err := root.Kept()
		if err != nil {
			return from, to, err
		}
		if len(kept) == 0 {
			return from, to, notFoundf("`memoir run` publishes the first", "no generation is kept")
		}
		if len(kept) > 1 {
			from.n = kept[len(kept)-2]
		}
		to.n = kept[len(kept)-1]
	} else {
		from.n, to.live = numbers[0], len(numbers) == 1
		to.n = numbers[len(numbers)-1]
	}
	if from.n > 0 {
		if from.files, err = root.ReadArchive(from.n); err != nil {
			return from, to, err
		}
	}
	if !to.live {
		to.files, err = root.ReadArchive(to.n)
		return from, to, err
	}
	live, err := root.Current()
	to.n, to.files = live.Generation, live.Files
	return from, to, err
}

func statusOf(change memory.Change) string {
	switch {
	case change.Created:
		return "added"
	case change.Deleted:
		return "deleted"
	}
	return "changed"
}

func catCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "cat", Category: groupMemory, ArgsUsage: "PATH|memory://…",
		Usage: "print a file of a project's memory",
		Description: help("Prints a file of the live memory of this directory's project, or of another, or lists a\n"+
			"directory of it. memory://root is the summary. Nothing outside the memory can be read.",
			"memoir cat MEMORY.md", "memoir cat memory://root/skills/release/SKILL.md",
			"memoir cat skills", "memoir cat . --project mise"),
		Flags: []cli.Flag{
			projectRefFlag(),
		},
		Action: func(c *cli.Context) error {
			place, err := argument(c, "path")
			if err != nil {
				return err
			}
			home, err := p.home(c)
			if err != nil {
				return err
			}
			id, err := p.projectID(c)
			if err != nil {
				return err
			}
			content, err := memory.At(home, id).Open(place)
			if err != nil {
				return err
			}
			p.ui.write(string(content))
			return nil
		},
	}
}
