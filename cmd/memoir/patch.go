package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/entry"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
	"memoir/memory"
	"memoir/pipeline"
)

func patchCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "patch", Category: groupProgram, ArgsUsage: "FILE|-",
		Usage: "change lines of MEMORY.md by a JSON patch",
		Description: help(`Applies {"ops": [{"op": "insert", "line": 3, "content": "…"}, {"op": "update", "line": 7,
"content": "…"}, {"op": "remove", "line": 12}]} in order, all or nothing, and prints the new content.
Line numbers start at 1 and refer to the text as the preceding operations left it; insert puts content
before a line. Secrets are redacted. A result over memories.maxMemorySize is refused. Later
consolidations keep the change like a hand edit. A
project without a memory gets one with four sections: user, feedback, project, reference.`,
			"memoir cat MEMORY.md | nl -ba", "memoir patch changes.json", "memoir patch - --json < changes.json"),
		Flags:  []cli.Flag{projectRefFlag(), waitFlag(), jsonFlag()},
		Action: p.patch,
	}
}

func (p *program) patch(c *cli.Context) error {
	var patch []byte
	var err error
	if path := c.Args().First(); path == "-" {
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
	opts, st, project, err := p.openToAdd(c)
	if err != nil {
		return err
	}
	defer st.Close()
	out, err := pipeline.Patch(c.Context, st, opts, project, memoir.AuthorUser, patch)
	return p.sayPatched(c, err, project.Name, out)
}

func (p *program) sayPatched(c *cli.Context, err error, name string, out pipeline.Patched) error {
	return p.result(c, err, out, func() {
		if p.ui.write(out.Content); out.Generation == 0 {
			p.ui.say("%s: the model proposed no change", name)
			return
		}
		p.ui.say("%s: published generation %d, %s", name, out.Generation, count(out.Lines, "line"))
	})
}

func reflectCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "reflect", Category: groupProgram, ArgsUsage: "--session SESSION",
		Usage: "let a language model patch MEMORY.md after a session",
		Description: help("Gives a session and its project's MEMORY.md to the model of Phase 2, and applies the patch\n"+
			"that it returns as an agent's: its lines are marked as not confirmed. Prints the new MEMORY.md.",
			"memoir reflect --session 019f1fd6", "memoir reflect --session codex:019f1fd6 --json"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "session", Usage: "the `SESSION`: an id or the beginning of one"}, waitFlag(), jsonFlag(),
		},
		Action: p.reflect,
	}
}

func (p *program) reflect(c *cli.Context) error {
	if c.String("session") == "" {
		return usagef("`memoir sessions` lists the sessions", "reflect needs --session SESSION")
	}
	opts, st, err := p.openToChange(c)
	if err != nil {
		return err
	}
	defer st.Close()
	session, err := p.findSession(c.Context, st, c.String("session"))
	if err == nil && (session.ProjectID == "" || !pipeline.Recapped(session)) {
		err = notFoundf("", "%s is not part of a memory: %s", session.Key(), session.Reason)
	}
	if err != nil {
		return err
	}
	project, err := st.FindProject(c.Context, session.ProjectID)
	if err != nil {
		return err
	}
	out, err := pipeline.Reflect(c.Context, st, opts, project.Project, session)
	return p.sayPatched(c, err, project.Name, out)
}

func mountCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "mount", Category: groupProgram, ArgsUsage: "DIR",
		Usage: "put the memory into a working directory, and print what to append to a prompt",
		Description: help("Writes MEMORY.md and skills of this directory's project, and memory_summary.md as it is\n"+
			"injected, to DIR/.memoir, which Git ignores, replacing an earlier mount. Prints the text for\n"+
			"the prompt.",
			"memoir mount .", "memoir mount /srv/run-17 --project mise > prompt.txt"),
		Flags:  []cli.Flag{projectRefFlag(), jsonFlag()},
		Action: p.mount,
	}
}

func (p *program) mount(c *cli.Context) error {
	dir := c.Args().First()
	if !isDirectory(dir) {
		return usagef("mount writes DIR/.memoir", "%s is not a directory", dir)
	}
	opts, err := p.options(c, nil)
	if err != nil {
		return err
	}
	settings := opts.Settings
	found, err := p.contextOf(c, &settings, "plain")
	if found.tree != "" && found.why == "" {
		found.why = p.switchedOff(c, &settings, p.identify(settings, found.tree))
	}
	if err == nil && found.why != "" {
		err = memoir.Errorf(memoir.CodeConfig, "", "no memory here: %s", found.why)
	} else if err == nil && (found.text == "" || found.project == memoir.UserProjectID && !c.IsSet("project")) {
		err = p.unknownHere(c)
	}
	if err != nil {
		return err
	}
	root := memory.At(opts.Home, found.project)
	files, err := p.mounted(root)
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(filepath.Join(dir, ".memoir")); err != nil {
		return err
	}
	text := strings.ReplaceAll(found.text, root.Link(), dir)
	text = strings.Replace(text, catHint, "", 1)
	files[memoir.SummaryFile], files[".gitignore"] = []byte(text), []byte("*\n")
	if err := mountAt(dir, files); err != nil {
		return memoir.Errorf(memoir.CodeStorage, disk.Hint(err), "mount: %w", err)
	}
	return p.result(c, nil, map[string]string{"directory": dir, "prompt": text}, func() { p.ui.write(text) })
}

// skillsDir is below a memory, and below a mount.
const skillsDir = "skills/"

// catHint is a part of the context. It is true only in the home that `memoir cat` finds by itself.
const catHint = " (`memoir cat memory://root/MEMORY.md` prints MEMORY.md)"

// filesBelow names the files of a memory that a session is told of.
func filesBelow(root memory.Root) string {
	if _, err := os.Stat(root.Link()); err != nil {
		return memoir.MemoryFile + ", once a run has published it"
	}
	if skills, _ := os.ReadDir(filepath.Join(root.Link(), skillsDir)); len(skills) > 0 {
		return memoir.MemoryFile + " and " + skillsDir + "<name>/SKILL.md"
	}
	return memoir.MemoryFile
}

// mounted are the files of a memory that a mount has, besides the summary, without secrets.
func (p *program) mounted(root memory.Root) (memory.Files, error) {
	live, err := root.Current()
	if err == nil && live.Generation == 0 {
		err = notFoundf("`memoir run` creates one from this project's sessions", "no memory yet")
	}
	files := memory.Files{}
	for name, content := range live.Files {
		if name == memoir.MemoryFile || strings.HasPrefix(name, skillsDir) {
			files[name] = []byte(p.redact(string(content)))
		}
	}
	return files, err
}

// mountAt writes the files of a mount, each in one step, and through no link. It writes .gitignore first, so files of
// a directory without its own are a person's.
func mountAt(dir string, files memory.Files) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = failpoint.Mkdir(dir, 0o700)
	} else if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is a file or a symbolic link: move it away", dir)
	}
	if mark, _ := os.ReadFile(filepath.Join(dir, ".gitignore")); string(mark) != string(files[".gitignore"]) {
		for _, name := range []string{".gitignore", skillsDir, memoir.MemoryFile, memoir.SummaryFile} {
			if _, missing := os.Lstat(filepath.Join(dir, name)); err == nil && missing == nil {
				err = fmt.Errorf("%s was not written by a mount: move it away", filepath.Join(dir, name))
			}
		}
	}
	if err == nil {
		err = failpoint.RemoveAll(filepath.Join(dir, skillsDir))
	}
	for _, name := range files.Paths() {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err == nil {
			err = failpoint.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = disk.Replace(path, files[name], 0o600)
		}
	}
	return err
}
