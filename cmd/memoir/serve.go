package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/internal/disk"
	"memoir/pages"
	"memoir/serve"
)

func serveCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "serve", Category: groupLook,
		Usage: "serve memory to browsers and programs over HTTP",
		Description: help("Listens on 127.0.0.1 until it is interrupted, and prints the address to open in a browser.\n"+
			"Programs send the token, which is in the file `token` in the home. GET /memory lists notes;\n"+
			"GET /openapi.json describes the API.",
			"memoir serve", "memoir serve --port 8080 --json"),
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "port", DefaultText: "a free port", Usage: "listen on port `N`"},
			jsonFlag(),
		},
		Action: p.serve,
	}
}

func exportCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "export", Category: groupProgram, ArgsUsage: "[FILE]",
		Usage: "write the pages of serve to one HTML file",
		Description: help("Writes the memory of all projects, its last changes, notes, sessions, the queue and\n"+
			"the use of language models to a file that needs no server or script; without FILE to\n"+
			"standard output.",
			"memoir export --html memory.html"),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "html", Usage: "as HTML; required"}},
		Action: func(c *cli.Context) error {
			if !c.Bool("html") {
				return usagef("`memoir export --html FILE`: there is no other format yet", "export needs --html")
			}
			o, err := p.shown(c)
			if err != nil {
				return err
			}
			text, err := serve.Export(c.Context, o, time.Now())
			if err != nil {
				return err
			}
			if path := c.Args().First(); path != "" {
				return writeExport(path, text)
			}
			p.ui.put(string(text))
			return nil
		},
	}
}

// writeExport replaces a file atomically; on an error the file is unchanged.
func writeExport(path string, text []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return usagef("without a name, export writes to standard output", "%s is not a file", path)
	}
	if dir := filepath.Dir(path); !isDirectory(dir) {
		return notFoundf("", "write %s: %s is not a directory", path, dir)
	}
	if err := disk.Replace(path, text, 0o600); err != nil {
		return memoir.Errorf(memoir.CodeStorage, disk.Hint(err), "write %s: %w", path, err)
	}
	return nil
}

func (p *program) serve(c *cli.Context) error {
	if n := c.Int("port"); n > 65535 {
		return usagef("", "--port: must be at most 65535, not %d", n)
	}
	o, err := p.served(c)
	if err != nil {
		return err
	}
	l, err := pages.Listen(c.Int("port"))
	if err != nil {
		return err
	}
	defer l.Close()
	open := pages.Address(l, o.Token)
	out := map[string]string{"address": pages.Address(l, ""), "open": open,
		"token_file": filepath.Join(o.Home, pages.TokenFile)}
	if err := p.result(c, nil, out, func() { p.ui.printf("%s\n", open) }); err != nil {
		return err
	}
	p.ui.push()
	p.ui.say("serving %s until interrupted", o.Home)
	return pages.Run(c.Context, l, serve.Handler(o))
}

// served returns the options of a server: shown, and the token, which is created if it does not exist.
func (p *program) served(c *cli.Context) (serve.Options, error) {
	o, err := p.shown(c)
	if err != nil {
		return o, err
	}
	o.Token, err = pages.TokenOf(o.Home, func(change func() error) error {
		settings, err := p.settings(c, nil)
		if err != nil {
			return err
		}
		st, err := p.openStore(c.Context, o.Home, settings)
		if err != nil {
			return err
		}
		defer st.Close()
		return st.Alone(c.Context, change)
	})
	return o, err
}

// shown returns the options of pages and exports. Requests may be concurrent.
func (p *program) shown(c *cli.Context) (o serve.Options, err error) {
	if _, err := p.options(c, nil); err != nil {
		return o, err
	}
	o.Access = p.access(c)
	o.Injected = func(_ context.Context, projectID string) (string, error) {
		settings, err := p.settings(c, nil)
		if err != nil {
			return "", err
		}
		found, err := p.tell(c, settings, o.Home, p.projectInTree(c, projectID), "plain") // the context of a session
		return found.text, err
	}
	return o, nil
}
