package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"memoir"
	"memoir/bench/memory/scenario"
	"memoir/bench/memory/score"
)

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

// withdrawnFolder is where another tool puts what it makes without the withdrawn
// sessions, in the same layout.
const withdrawnFolder = "withdrawn"

// scoreFolder scores DIR/<project>, as another tool left it.
func scoreFolder(dir string, projects []scenario.Project) (*score.Report, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, memoir.Errorf(memoir.CodeInvalid, "", "%s is not a directory", dir)
	}
	report := score.NewReport()
	for _, p := range projects {
		memory, err := readFolderOf(filepath.Join(dir, p.Name), p)
		if err != nil {
			return nil, err
		}
		var after *score.Memory
		if without := filepath.Join(dir, withdrawnFolder, p.Name); isDir(without) && len(p.Withdraw) > 0 {
			m, err := readFolderOf(without, p)
			if err != nil {
				return nil, err
			}
			after = &m
		}
		planted := plantedSecrets(p)
		leaked := 0
		if folder := filepath.Join(dir, p.Name); isDir(folder) {
			if leaked, err = countLeaked(folder, planted); err != nil {
				return nil, err
			}
		}
		report.Add(p, memory, after, len(planted), leaked)
	}
	return report, nil
}

// readFolderOf also reads sessions/<session>.md, if the tool has raw memories.
func readFolderOf(dir string, p scenario.Project) (score.Memory, error) {
	m, err := readFolder(dir)
	if err != nil || !isDir(filepath.Join(dir, "sessions")) {
		return m, err
	}
	m.Raw = map[string]string{}
	for _, s := range p.Sessions {
		data, err := os.ReadFile(filepath.Join(dir, "sessions", s.Name+".md"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return m, fmt.Errorf("read a memory: %w", err)
		}
		m.Raw[s.Name] = string(data)
	}
	return m, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
