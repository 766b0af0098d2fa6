package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// snapshot reads the files below the home directory; memoir's own data, and what agents keep beside their
// configuration, is left out.
func (v *visit) snapshot() map[string]string {
	files := map[string]string{}
	err := filepath.WalkDir(v.home, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(v.home, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.IsDir() && (name == filepath.Join(".local", "share") || name == ".cache" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(path)
		files[name] = string(content)
		return err
	})
	if err != nil {
		v.differ("%v", err)
	}
	return files
}

// teach makes a memory of the place's project out of a session in pi's format, with a summary that is
// longer than any agent takes.
func teach(ctx context.Context, p place) error {
	at := time.Now().Add(-48 * time.Hour).UTC()
	var b strings.Builder
	line := func(v object) {
		text, _ := json.Marshal(v)
		b.Write(append(text, '\n'))
	}
	line(object{"type": "session", "version": 3, "id": "0b5c1f6a-0000-4000-8000-000000000001", "timestamp": at, "cwd": p.work})
	for i, said := range []struct{ role, text string }{{"user", taught}, {"assistant", "I will."}, {"user", "Thanks."}} {
		parent := any(nil)
		if i > 0 {
			parent = fmt.Sprint("m", i-1)
		}
		line(object{"type": "message", "id": fmt.Sprint("m", i), "parentId": parent, "timestamp": at, "message": object{
			"role": said.role, "content": []object{{"type": "text", "text": said.text}}, "timestamp": at.UnixMilli()}})
	}
	sessions := filepath.Join(p.dir, "taught")
	if err := writeFile(filepath.Join(sessions, "session.jsonl"), b.String()); err != nil {
		return err
	}
	printed, err := p.run(ctx, "", filepath.Join(p.dir, "bin", "memoir"), "run", "-q", "--json", "--sessions", sessions)
	if err != nil {
		return err
	}
	summary := filepath.Join(gjson.Get(printed, "phase2.0.root").Str, "memory_summary.md")
	content, err := os.ReadFile(summary)
	if err != nil {
		return fmt.Errorf("no memory was made: %w\n%s", err, printed)
	}
	if !bytes.Contains(content, []byte(taught)) {
		return fmt.Errorf("the memory does not hold what was taught:\n%s", content)
	}
	const skill = "---\nname: light-lamp\ndescription: " + offered + "\n---\n\n1. trim the wick\n"
	if err := writeFile(filepath.Join(filepath.Dir(summary), "skills", "light-lamp", "SKILL.md"), skill); err != nil {
		return err
	}
	for i := range 200 {
		content = fmt.Appendf(content, "- lamp %d of the pier is lit by hand, and its wick is in box %d\n", i, i)
	}
	return os.WriteFile(summary, content, 0o600)
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o700)
}

// buildMemoir builds the program below a directory.
func buildMemoir(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "memoir")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/memoir")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build memoir: %w\n%s", err, out)
	}
	return path, nil
}
