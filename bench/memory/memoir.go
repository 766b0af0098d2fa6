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
	"memoir/bench/memory/score"
	"memoir/project"
)

// scoreMemoir runs memoir over the sessions.
func scoreMemoir(ctx context.Context, o options, projects []scenario.Project, stderr io.Writer) (*score.Report, error) {
	dir, err := os.MkdirTemp("", "memoir-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	m := memoirProgram{path: o.memoir, dir: dir, stderr: stderr}
	if m.path == "" {
		if err := m.build(ctx); err != nil {
			return nil, err
		}
	}
	all, err := m.remember(ctx, projects)
	if err != nil {
		return nil, err
	}
	report := &score.Report{}
	report.Millis = all.millis
	for _, p := range projects {
		memory, err := all.memory(p)
		if err != nil {
			return nil, err
		}
		planted := plantedSecrets(p)
		leaked, err := countLeaked(all.home, planted)
		if err != nil {
			return nil, err
		}
		report.Add(p, memory, len(planted), leaked)
	}
	return report, nil
}

// memoirProgram is the program under test; what it reads and writes is in dir.
type memoirProgram struct {
	path   string
	dir    string
	stderr io.Writer
}

func (m *memoirProgram) build(ctx context.Context) error {
	m.path = filepath.Join(m.dir, "memoir")
	build := exec.CommandContext(ctx, "go", "build", "-o", m.path, "memoir/cmd/memoir")
	build.Stderr = m.stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build memoir: %w", err)
	}
	return nil
}

// command runs memoir with nobody's settings and returns what it printed.
func (m *memoirProgram) command(ctx context.Context, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, m.path, args...)
	command.Env = []string{"HOME=" + filepath.Join(m.dir, "nobody"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("memoir %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.Bytes(), nil
}

// remembered is the home that one run filled.
type remembered struct {
	home   string
	files  []written
	millis int64
	roots  []projectRoot
}

type projectRoot struct {
	Name        string   `json:"name"`
	Root        string   `json:"root"`
	Directories []string `json:"directories"`
	Remote      string   `json:"remote"`
}

// remember writes the sessions and runs memoir over them.
func (m *memoirProgram) remember(ctx context.Context, projects []scenario.Project) (*remembered, error) {
	sessions, r := filepath.Join(m.dir, "sessions"), &remembered{home: filepath.Join(m.dir, "home")}
	var err error
	if r.files, err = writeSessions(sessions, projects); err != nil {
		return nil, err
	}
	out, err := m.command(ctx, "run", "--sessions", sessions, "--home", r.home, "--min-idle", "0", "--max-age", "0",
		"--all", "--json")
	if err != nil {
		return nil, err
	}
	var report struct {
		Millis int64 `json:"duration_ms"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return nil, fmt.Errorf("memoir run: %w", err)
	}
	r.millis = report.Millis
	if out, err = m.command(ctx, "projects", "--home", r.home, "--json"); err != nil {
		return nil, err
	}
	var list struct {
		Projects []projectRoot `json:"projects"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("memoir projects: %w", err)
	}
	r.roots = list.Projects
	return r, nil
}

// memory reads the root of a project, which is empty if nothing was worth keeping.
func (r *remembered) memory(p scenario.Project) (score.Memory, error) {
	memory := score.Memory{Raw: map[string]string{}}
	for _, root := range r.roots {
		own := slices.Contains(root.Directories, p.Dir) || p.Remote != "" && root.Remote == project.NormalizeRemote(p.Remote)
		if !own || root.Root == "" {
			continue
		}
		one, err := readFolder(root.Root)
		if err != nil {
			return memory, err
		}
		memory.Memory += one.Memory
		memory.Summary += one.Summary
		memory.Skills = append(memory.Skills, one.Skills...)
		raw, err := os.ReadFile(filepath.Join(root.Root, "raw_memories.md"))
		if err != nil {
			return memory, fmt.Errorf("read a memory: %w", err)
		}
		for id, text := range rawSections(string(raw)) {
			i := slices.IndexFunc(r.files, func(w written) bool { return w.project == p.Name && w.id == id })
			if i < 0 {
				return memory, fmt.Errorf("the memory of %s holds the session %s, which is none of its own", p.Name, id)
			}
			memory.Raw[r.files[i].session] = text
		}
	}
	return memory, nil
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

// readFolder reads MEMORY.md, memory_summary.md and skills/*/SKILL.md; what is
// missing is empty.
func readFolder(dir string) (score.Memory, error) {
	var m score.Memory
	for name, into := range map[string]*string{"MEMORY.md": &m.Memory, "memory_summary.md": &m.Summary} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return m, fmt.Errorf("read a memory: %w", err)
		}
		*into = string(data)
	}
	skills, err := filepath.Glob(filepath.Join(dir, "skills", "*", "SKILL.md"))
	if err != nil {
		return m, fmt.Errorf("read a memory: %w", err)
	}
	slices.Sort(skills)
	for _, path := range skills {
		data, err := os.ReadFile(path)
		if err != nil {
			return m, fmt.Errorf("read a memory: %w", err)
		}
		m.Skills = append(m.Skills, string(data))
	}
	return m, nil
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
