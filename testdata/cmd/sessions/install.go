package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// node is the interpreter that is installed where the one on PATH is too old for
// an agent.
const (
	node    = "node@24.21.0"
	oldNode = 22
)

// install has npm put an agent into its own directory below prefix.
func install(ctx context.Context, a agent, prefix string, latest bool, log io.Writer) error {
	packages := a.packages
	if latest {
		packages = nil
		for _, p := range a.packages {
			packages = append(packages, p[:strings.LastIndexByte(p, '@')]+"@latest")
		}
	}
	return npm(ctx, filepath.Join(prefix, string(a.source)), log, packages...)
}

func npm(ctx context.Context, dir string, log io.Writer, packages ...string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	arguments := append([]string{"install", "--prefix", dir, "--no-fund", "--no-audit", "--loglevel=error"}, packages...)
	cmd := exec.CommandContext(ctx, "npm", arguments...)
	cmd.Dir = os.TempDir() // npm takes a package's name for a directory beside it
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm install %s: %w", strings.Join(packages, " "), err)
	}
	return nil
}

// installNode provides an interpreter that all agents run with.
func installNode(ctx context.Context, prefix string, log io.Writer) error {
	out, err := exec.CommandContext(ctx, "node", "--version").Output()
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), ".")
	if n, _ := strconv.Atoi(major); err == nil && n >= oldNode {
		return nil
	}
	return npm(ctx, filepath.Join(prefix, "node"), log, node)
}

// find returns an agent's command and the PATH to run it with; "" if it is not
// installed. It looks below prefix, for one agent a directory or all in one,
// then on PATH.
func find(a agent, prefix string) (command, path string) {
	var dirs []string
	if prefix != "" {
		for _, d := range []string{filepath.Join(prefix, string(a.source)), prefix} {
			dirs = append(dirs, filepath.Join(d, "node_modules", ".bin"), filepath.Join(d, "bin"))
		}
		dirs = append(dirs, filepath.Join(prefix, "node", "node_modules", ".bin"))
	}
	path = strings.Join(append(dirs, os.Getenv("PATH")), string(os.PathListSeparator))
	for _, d := range dirs {
		if command, err := exec.LookPath(filepath.Join(d, a.command)); err == nil {
			return command, path
		}
	}
	command, err := exec.LookPath(a.command)
	if err != nil {
		return "", path
	}
	return command, path
}

var versionForm = regexp.MustCompile(`\d+\.\d+\.\d+[^\s)]*`)

// versionOf is the version in what --version prints.
func versionOf(printed string) string {
	if v := versionForm.FindString(printed); v != "" {
		return strings.TrimSuffix(v, ".")
	}
	return "unknown"
}
