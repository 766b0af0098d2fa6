// Command tryhub starts PostgreSQL, PgBouncer and a hub with one organisation and two members, and prints one line of
// JSON: where the hub is, its database for its owner, and the members' codes. It ends with its standard input.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"memoir/hub"
	"memoir/hub/hubtest"
	"memoir/team/wire"
)

func main() {
	if err := run(); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "tryhub:", err)
		os.Exit(1)
	}
}

func run() error {
	cluster, err := hubtest.Start(false)
	if err != nil {
		return err
	}
	defer cluster.Stop()
	d, err := cluster.NewDatabase("memoir")
	if err != nil {
		return err
	}
	defer d.Owner.Close()
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	said := struct {
		URL   string   `json:"url"`
		DSN   string   `json:"dsn"`
		Codes []string `json:"codes"`
	}{DSN: d.URL(hubtest.Owner, d.Name, false)}
	for _, name := range []string{"anna", "ben"} {
		code, err := d.Admin.AddMember(ctx, name, wire.Writer, nil, false)
		if err != nil {
			return err
		}
		said.Codes = append(said.Codes, code)
	}
	h, err := hub.Open(ctx, hub.Options{
		Database: d.ServeURL(), Debounce: time.Second,
		Log: slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	defer h.Close()
	work := hub.WorkOptions{Workers: 2, PollOnly: true}
	return h.Serve(ctx, hub.ServeOptions{Listen: "127.0.0.1:0", Work: work, Ready: func(address string) {
		said.URL = "http://" + address
		_ = json.NewEncoder(os.Stdout).Encode(said)
	}})
}
