package main

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/search"
)

func searchCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "search", Category: groupMemory, ArgsUsage: "QUERY...",
		Usage: "find what was said, decided or remembered",
		Description: help("Searches the lines of MEMORY.md, rollout summaries, the statements and claims of raw memories,\n"+
			"and what people and agents said in sessions; not what tools printed. A hit needs not have all\n"+
			"words, and endings do not matter: \"parsing\" finds \"parser\". Of a session the best place is shown.\n"+
			"Without --project or --all, this directory's project is searched, or all where it is none.\n"+
			"Each run brings the index up to date. \"nothing matches\" is no error: the exit code is 0.",
			"memoir search why the upload retries three times", "memoir search --all 'release checklist' -n 3",
			"memoir search max_open_conns --json", "memoir show codex:019f1fd6 --at 12      # where a hit leads"),
		Flags: []cli.Flag{
			projectRefFlag(),
			&cli.BoolFlag{Name: "all", Usage: "search all projects"},
			&cli.IntFlag{Name: "max", Aliases: []string{"n"}, Value: 10, Usage: "show at most `N` hits"},
			jsonFlag(),
		},
		Action: p.search,
	}
}

func (p *program) search(c *cli.Context) error {
	query := strings.TrimSpace(strings.Join(c.Args().Slice(), " "))
	if query == "" {
		return usagef("", "search needs words to look for")
	}
	if n := c.Int("max"); n < 1 || n > 1000 {
		return usagef("", "--max: must be from 1 to 1000, not %d", n)
	}
	project, err := p.searchedProject(c)
	if err != nil {
		return err
	}
	home, err := p.home(c)
	if err != nil {
		return err
	}
	found, err := search.Find(c.Context, home, search.Query{Text: query, ProjectID: project, Max: c.Int("max")})
	if err != nil {
		return err
	}
	return p.result(c, found, func() {
		for i, h := range found.Hits {
			p.printHit(i+1, h, project == "")
		}
		where := cmp.Or(project, "all projects")
		if len(found.Hits) == 0 {
			p.ui.say("nothing matches in %s", where)
		} else {
			p.ui.say("%s in %s", count(len(found.Hits), "hit"), where)
		}
		if found.Behind {
			p.ui.sayHint("the index is behind; the next `memoir run` updates it")
		}
	})
}

// searchedProject is the id of the project that is searched, "" for all.
func (p *program) searchedProject(c *cli.Context) (string, error) {
	if c.Bool("all") {
		if c.IsSet("project") {
			return "", usagef("", "--project and --all exclude each other")
		}
		return "", nil
	}
	id, err := p.projectID(c)
	if err != nil && !c.IsSet("project") && memoir.CodeOf(err) == memoir.CodeNotFound {
		p.ui.detail("no project here: %v", err)
		p.ui.say("this directory has no project: searching all")
		return "", nil
	}
	return id, err
}

// printHit prints where a hit is, and below what it says and how to read on.
func (p *program) printHit(n int, h search.Hit, named bool) {
	head := []string{strconv.Itoa(n) + ".", cmp.Or(when(h.At), none), h.Source}
	if named && h.ProjectID != "" {
		head = append(head, h.ProjectID)
	}
	read := "memoir show " + h.Session
	if h.Item > 0 {
		read += " --at " + strconv.Itoa(h.Item)
	}
	if name, ok := strings.CutPrefix(h.Path, "memory://root/"); ok {
		read = "memoir cat " + name
		if named {
			read += " --project " + h.ProjectID
		}
		head = append(head, "line "+strconv.Itoa(h.StartLine))
	}
	p.ui.write(oneLine(strings.Join(head, "  ")) + "\n   " + oneLine(h.Snippet) + "\n   " + oneLine(read) + "\n\n")
}
