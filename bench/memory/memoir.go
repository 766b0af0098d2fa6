package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"memoir/bench/memory/scenario"
	"memoir/bench/memory/transcript"
)

// scoreMemoir runs memoir over the sessions.
func scoreMemoir(ctx context.Context, o options, projects []scenario.Project, stderr io.Writer) (*Report, error) {
	m, err := newProgram(ctx, o, stderr)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(m.dir)
	report := &Report{Total: Counts{Name: "all", Tallies: map[string]Tally{}}}
	if report.Millis, err = m.remember(ctx, projects); err != nil {
		return nil, err
	}
	for _, p := range projects {
		memory, err := m.memory(p)
		if err != nil {
			return nil, err
		}
		secrets := plantedSecrets(p)
		leaked, err := countLeaked(m.home, secrets)
		if err != nil {
			return nil, err
		}
		report.add(p, memory, Tally{len(secrets), leaked, len(secrets), leaked})
	}
	return report, nil
}

// memoirProgram is the program under test; what it reads and writes is in dir.
type memoirProgram struct {
	path, dir, home string
	roots           map[string]string // of the projects, by their directories
}

// newProgram returns the program under test, built if the options name none, in a new directory.
func newProgram(ctx context.Context, o options, stderr io.Writer) (*memoirProgram, error) {
	dir, err := os.MkdirTemp("", "memoir-bench-")
	if err != nil {
		return nil, err
	}
	m := &memoirProgram{path: o.memoir, dir: dir, home: filepath.Join(dir, "home")}
	if m.path == "" {
		m.path = filepath.Join(dir, "memoir")
		build := exec.CommandContext(ctx, "go", "build", "-o", m.path, "memoir/cmd/memoir")
		build.Stderr = stderr
		if err := build.Run(); err != nil {
			os.RemoveAll(dir)
			return nil, fmt.Errorf("build memoir: %w", err)
		}
	}
	return m, nil
}

// run runs both phases over a directory of sessions.
func (m *memoirProgram) run(ctx context.Context, out any, sessions string) error {
	return m.command(ctx, out, "run", "--sessions", sessions, "--min-idle", "0", "--max-age", "0", "--all")
}

// command runs memoir with nobody's settings and decodes what it printed.
func (m *memoirProgram) command(ctx context.Context, out any, args ...string) error {
	command := exec.CommandContext(ctx, m.path, append(args, "--home", m.home, "--json")...)
	command.Env = []string{"HOME=" + filepath.Join(m.dir, "nobody"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	printed, err := command.Output()
	if err != nil {
		return fmt.Errorf("memoir %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return json.Unmarshal(printed, out)
}

// remember writes the sessions, runs memoir over them, and returns how long that took.
func (m *memoirProgram) remember(ctx context.Context, projects []scenario.Project) (millis int64, err error) {
	sessions := filepath.Join(m.dir, "sessions")
	if err := transcript.SaveAll(sessions, projects); err != nil {
		return 0, err
	}
	var report struct {
		Millis int64 `json:"duration_ms"`
	}
	if err = m.run(ctx, &report, sessions); err != nil {
		return 0, err
	}
	var list struct {
		Projects []struct {
			Root        string
			Directories []string
		}
	}
	if err := m.command(ctx, &list, "projects"); err != nil {
		return 0, err
	}
	m.roots = map[string]string{}
	for _, p := range list.Projects {
		for _, dir := range p.Directories {
			m.roots[dir] = p.Root
		}
	}
	return report.Millis, nil
}

// memory reads the root of a project, which is empty if nothing was worth keeping.
func (m *memoirProgram) memory(p scenario.Project) (Memory, error) {
	memory := Memory{Raw: map[string]string{}}
	root := m.roots[p.Dir]
	if root == "" {
		return memory, nil
	}
	var err error
	read := func(path string) string {
		data, wrong := os.ReadFile(path)
		if wrong != nil && !errors.Is(wrong, fs.ErrNotExist) {
			err = fmt.Errorf("read a memory: %w", wrong)
		}
		return string(data)
	}
	memory.MemoryMD = read(filepath.Join(root, "MEMORY.md"))
	memory.Summary = read(filepath.Join(root, "memory_summary.md"))
	skills, _ := filepath.Glob(filepath.Join(root, "skills", "*", "SKILL.md")) // the pattern is well formed
	for _, path := range skills {
		memory.Skills = append(memory.Skills, read(path))
	}
	sections := rawSections(read(filepath.Join(root, "raw_memories.md")))
	for _, s := range p.Sessions {
		id := transcript.New(p, s).ID
		memory.Raw[s.Name] = sections[id]
		delete(sections, id)
	}
	if len(sections) > 0 {
		return memory, fmt.Errorf("the memory of %s holds %d sessions that are none of its own", p.Name, len(sections))
	}
	return memory, err
}

// rawHeader begins what raw_memories.md has of a session: a heading, and lines with
// the session's id, its agent and more.
var rawHeader = regexp.MustCompile(`(?m)^# .*\n\nsession: (\S+)\nagent: (?:.+\n)+`)

// rawSections splits raw_memories.md by the sessions' ids.
func rawSections(markdown string) map[string]string {
	out := map[string]string{}
	found := rawHeader.FindAllStringSubmatchIndex(markdown, -1)
	for i, m := range found {
		end := len(markdown)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		out[markdown[m[2]:m[3]]] = strings.TrimSpace(markdown[m[1]:end])
	}
	return out
}

// plantedSecrets are what must stand in no file of a project's memory.
func plantedSecrets(p scenario.Project) []string {
	var out []string
	for _, s := range p.Sessions {
		out = append(out, s.Planted...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// countLeaked counts the secrets that stand in some file below a directory, databases,
// their logs and archives included, as they are or quoted as JSON.
func countLeaked(dir string, planted []string) (int, error) {
	found := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".zst") {
			if data, err = unpack(data); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		for _, secret := range planted {
			quoted, err := json.Marshal(secret)
			if err != nil {
				return err
			}
			if bytes.Contains(data, []byte(secret)) || bytes.Contains(data, quoted[1:len(quoted)-1]) {
				found[secret] = true
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("look for secrets: %w", err)
	}
	return len(found), nil
}

func unpack(data []byte) ([]byte, error) {
	reader, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	return reader.DecodeAll(data, nil)
}
