package hub_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/config"
	"memoir/memory"
	"memoir/pipeline"
	named "memoir/project"
	"memoir/rollout"
	"memoir/secrets"
	"memoir/store"
	"memoir/team"
	"memoir/team/wire"
)

// homeProjects is how many of the projects a home shares.
const homeProjects = 2

// home is a directory of the client that has joined a hub, as a member of its own.
type home struct {
	*torture
	name, dir string
	store     *store.Store
	ids       []string
	said      map[string][]string // texts by project
}

// rules are compiled once: that takes as long as a kill.
var rules = sync.OnceValues(func() (*secrets.Scanner, error) { return secrets.New(secrets.Options{}) })

func (x *torture) newHome(i int) *home {
	x.t.Helper()
	h := &home{torture: x, name: fmt.Sprint("home", i), dir: x.t.TempDir(), said: map[string][]string{}}
	code := x.Member(x.t, h.name, wire.Writer)
	ctx := x.t.Context()
	var err error
	if h.store, err = store.Open(ctx, filepath.Join(h.dir, "memoir.db"), store.Options{}); err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { _ = h.store.Close() })
	for p := range homeProjects {
		of := named.Named(project(p))
		_, err := h.store.Register(ctx, of)
		if err == nil {
			err = h.store.Share(ctx, of.ID, project(p))
		}
		if err != nil {
			x.t.Fatal(err)
		}
		h.ids = append(h.ids, of.ID)
	}
	url := "http://" + x.addresses[i%len(x.addresses)]
	if err := team.Join(ctx, h.dir, team.Hub{URL: url}, code, h.name); err != nil {
		x.t.Fatal(err)
	}
	return h
}

// work writes and synchronises now and then, until ctx ends.
func (h *home) work(ctx context.Context) {
	for n := 0; ctx.Err() == nil && !h.t.Failed(); n++ {
		for at := h.pushes.Load() + tortureMachines; h.pushes.Load() < at && ctx.Err() == nil; {
			time.Sleep(time.Millisecond)
		}
		p := n % homeProjects
		text := fmt.Sprintf("%s found out %d", h.name, n)
		_, err := h.store.AddEntry(h.t.Context(), memoir.Entry{ProjectID: h.ids[p], Kind: memoir.EntryNote, Category: "fact",
			Author: memoir.AuthorUser, Text: text}, []memoir.Statement{{Kind: memoir.StatementFinding, Text: text,
			Signal: memoir.SignalModel, By: memoir.ByAgent}})
		if err != nil {
			h.t.Error(err)
			return
		}
		h.said[project(p)] = append(h.said[project(p)], text)
		h.sync(false)
	}
}

// sync sends and receives. While hubs are killed it may fail at the hub, and at nothing else.
func (h *home) sync(must bool) {
	h.repair.RLock()
	defer h.repair.RUnlock()
	scanner, err := rules()
	if err != nil {
		h.t.Error(err)
		return
	}
	o := team.Options{Home: h.dir, UserHome: h.dir, Store: h.store, Scanner: scanner,
		Settings: func(memoir.Project) (config.Settings, error) { return config.Default(), nil }}
	_, err = team.Sync(h.t.Context(), o, team.Push|team.Pull)
	if err != nil && (must || memoir.CodeOf(err) != memoir.CodeHub) {
		h.t.Errorf("%s: %v", h.name, err)
	}
}

// compareHomes runs each home once, and compares what it then has of the hub: the generation, and the lines of
// MEMORY.md that are the team's.
func (x *torture) compareHomes(homes []*home) {
	var first map[string]string
	for _, h := range homes {
		report, err := pipeline.Run(x.t.Context(), h.store, pipeline.Options{Home: h.dir, SessionsDir: x.t.TempDir(),
			Settings: config.Default(), Env: rollout.Env{Home: h.dir}, Limit: 1})
		if err != nil || report.Partly() {
			x.t.Errorf("%s: %v %+v", h.name, err, report.Phase2)
		}
		has := map[string]string{}
		for _, id := range h.ids {
			base, err := os.ReadFile(filepath.Join(memory.At(h.dir, id).Dir(), "base.tar.zst"))
			text, errText := memory.At(h.dir, id).Open(memoir.MemoryFile)
			if err != nil || errText != nil {
				x.t.Errorf("%s has no memory: %v, %v", h.name, err, errText)
			}
			has[id+" as fetched"] = hexOf(string(base))
			for line := range strings.Lines(string(text)) {
				if strings.Contains(line, "(from the team: ") {
					has[id] += line
				}
			}
			if strings.Count(has[id], "\n") < 5 {
				x.t.Errorf("%s has only\n%s", h.name, text)
			}
		}
		if first == nil {
			first = has
		}
		if diff := cmp.Diff(first, has); diff != "" {
			x.t.Errorf("%s and %s differ: %s", homes[0].name, h.name, diff)
		}
	}
	x.t.Logf("%d lines of the team in each home", strings.Count(fmt.Sprint(first), "(from the team: "))
}
