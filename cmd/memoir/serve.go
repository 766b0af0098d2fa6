package main

import (
	"context"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"memoir/pipeline"
	"memoir/secrets"
	"memoir/serve"
	"memoir/store"
)

func serveCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "serve", Category: groupMemory,
		Usage: "show memory in a browser, and answer programs over HTTP",
		Description: help("Listens on 127.0.0.1 until it is interrupted, and prints an address that lets a browser in.\n"+
			"Programs send the token, which is in the file `token` of the home: GET /memory lists notes, and\n"+
			"GET /openapi.json describes the rest.",
			"memoir serve", "memoir serve --port 8080 --json"),
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "port", DefaultText: "any that is free", Usage: "listen on port `N`"},
			jsonFlag(),
		},
		Action: p.serve,
	}
}

func (p *program) serve(c *cli.Context) error {
	if n := c.Int("port"); c.IsSet("port") && (n < 1 || n > 65535) {
		return usagef("", "--port: must be from 1 to 65535, not %d", n)
	}
	o, err := p.served(c)
	if err != nil {
		return err
	}
	l, err := serve.Listen(c.Int("port"))
	if err != nil {
		return err
	}
	defer l.Close()
	out := struct {
		Address string `json:"address"`
		Open    string `json:"open"` // lets a browser in
		Token   string `json:"token_file"`
	}{serve.Address(l, ""), serve.Address(l, o.Token), filepath.Join(o.Home, serve.TokenFile)}
	if err := p.result(c, out, func() { p.ui.printf("%s\n", out.Open) }); err != nil {
		return err
	}
	p.ui.push()
	p.ui.say("serving %s until interrupted", o.Home)
	return serve.Run(c.Context, l, serve.Handler(o))
}

// served are the options of what shows memory. Requests may come at the same time.
func (p *program) served(c *cli.Context) (o serve.Options, err error) {
	settings, err := p.settings(c, nil)
	if err != nil {
		return o, err
	}
	if o.Home, err = p.home(c); err != nil {
		return o, err
	}
	st, err := p.openStore(c.Context, o.Home, settings)
	if err != nil {
		return o, err
	}
	defer st.Close()
	if o.Token, err = serve.TokenOf(c.Context, st, o.Home); err != nil {
		return o, err
	}
	o.Redact = p.redact
	o.Scanner = func(dir string) (*secrets.Scanner, error) { return p.scanner(c, dir) }
	o.Read = func(context.Context) (*store.Store, error) { return p.openForReading(c) }
	o.Change = func(context.Context) (pipeline.Options, *store.Store, error) {
		opts, st, err := p.openToChange(c)
		opts.Progress, opts.Wait = nil, forgetPatience
		return opts, st, err
	}
	o.Injected = func(_ context.Context, projectID string) (string, error) {
		settings, err := p.settings(c, nil)
		if err != nil {
			return "", err
		}
		found, err := p.tell(c, settings, o.Home, p.projectInTree(c, projectID), "plain") // as an agent is told it
		return found.text, err
	}
	return o, nil
}
