// Package team shares statements with other machines: of the same person, and of other members. It knows what leaves
// a machine and what may arrive, the files of a home that has joined a hub, how to push and pull, and the team memory
// in a repository. It consolidates nothing.
//
// Read share.go first (what leaves), then sync.go (push and pull), client.go (HTTP) and hub.go (files of the home);
// of a repository promote.go (its files), then repository.go (reading them).
package team

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"memoir"
	"memoir/internal/disk"
	"memoir/team/wire"
)

// Hub is the hub that a home has joined, and as whom.
type Hub struct {
	URL  string `json:"url"`
	CA   string `json:"ca,omitempty"`   // certificates in PEM that are trusted besides the system's
	Next string `json:"next,omitempty"` // the token that the hub may have instead of this one, until it said so
	wire.Joined
}

// State is how synchronising goes.
type State struct {
	Success time.Time `json:"success,omitzero"` // the last one
	Failing time.Time `json:"failing,omitzero"` // since
	Error   string    `json:"error,omitempty"`
	Hint    string    `json:"hint,omitempty"`
	Held    []Held    `json:"held"`
	// Bases are the generations of the hub that memories begin with, by project.
	Bases map[string]Fetched `json:"bases,omitempty"`
	// Unaccepted are the newest generations that wait for this member, by project.
	Unaccepted map[string]int `json:"unaccepted,omitempty"`
	// Limited say until when the hub waits with the memories for a spending limit, by project.
	Limited map[string]time.Time `json:"limited,omitempty"`
}

// Held is a statement that stays on this machine.
type Held struct {
	Session string `json:"session"`
	Project string `json:"project"` // its key at the hub
	Why     string `json:"why"`
}

// ErrNone is the error of a home that has joined no hub.
var ErrNone = memoir.Errorf(memoir.CodeNotFound, "`memoir team join URL` joins one", "this home has joined no hub")

// Load returns the hub that a home has joined; ErrNone if there is none.
func Load(home string) (h Hub, err error) {
	if err = read(home, "hub", &h); err == nil && h.URL == "" {
		err = ErrNone
	}
	return h, err
}

// ReadState returns how synchronising goes; the zero State if it never began.
func ReadState(home string) (s State, err error) {
	s.Bases = map[string]Fetched{}
	err = read(home, "sync", &s)
	return s, err
}

func fileOf(home, name string) string { return filepath.Join(home, "team", name+".json") }

// read reads a file of a home. One that is missing changes nothing.
func read(home, name string, into any) error {
	const most = 4 << 20
	text, err := disk.ReadFile(fileOf(home, name), most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		err = memoir.Errorf(memoir.CodeConfig, "remove it; without hub.json, `memoir team join` again", "read %s: %w",
			fileOf(home, name), err)
	}
	return err
}

func write(home, name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = disk.Replace(fileOf(home, name), append(text, '\n'), 0o600)
	}
	if err != nil {
		err = memoir.Errorf(memoir.CodeStorage, disk.HintOr(err, "--home"), "write %s: %w", fileOf(home, name), err)
	}
	return err
}
