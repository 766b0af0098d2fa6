package main

import (
	"fmt"
	"io"

	"memoir/bench/memory/scenario"
	"memoir/bench/memory/transcript"
)

// written is one session on the disk.
type written struct {
	project, session string
	id               string // the agent's id of it
	path             string
}

// writeSessions writes the sessions below a directory, without those that leave says.
func writeSessions(dir string, projects []scenario.Project, leave func(p scenario.Project,
	session string) bool) ([]written, error) {
	var out []written
	for _, p := range projects {
		for _, s := range p.Sessions {
			if leave != nil && leave(p, s.Name) {
				continue
			}
			file := transcript.New(p, s)
			path, err := file.Save(dir)
			if err != nil {
				return nil, err
			}
			out = append(out, written{p.Name, s.Name, file.ID, path})
		}
	}
	return out, nil
}

// listWritten writes the sessions for another tool and prints a line for each: its
// project, its name and its file, with tabs between them.
func listWritten(o options, projects []scenario.Project, out io.Writer) error {
	leave := scenario.Project.Withdrawn
	if !o.without {
		leave = nil
	}
	files, err := writeSessions(o.write, projects, leave)
	for _, f := range files {
		fmt.Fprintf(out, "%s\t%s\t%s\n", f.project, f.session, f.path)
	}
	return err
}
