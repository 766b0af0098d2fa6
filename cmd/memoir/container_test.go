package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"memoir/memory"
	"memoir/testdata"
)

// script runs a command of scripts on a hub: got, publish N PROJECT DIR, or damage PROJECT.
func (h *fakeHub) script(ts *testscript.TestScript, args []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch args[0] {
	case "got":
		ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), "got"), []byte(h.all.String()), 0o600))
	case "publish":
		secret, _, _ := testdata.Fake("github-pat")
		texts, files := strings.NewReplacer("ESC", "\x1b", "SECRET", secret), memory.Files{}
		dir := ts.MkAbs(args[3])
		ts.Check(filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
			if err == nil && !info.IsDir() {
				name, _ := filepath.Rel(dir, path)
				files[filepath.ToSlash(name)] = []byte(texts.Replace(ts.ReadFile(path)))
			}
			return err
		}))
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		h.archive[args[2]], err = memory.Pack(files, memory.Manifest{}.Describing(n, files))
		ts.Check(err)
	case "damage":
		h.archive[args[1]][len(h.archive[args[1]])/2]++
	default:
		ts.Fatalf("hub has no command %s", args[0])
	}
}
