//go:build !unix

package model

import "os/exec"

// There are no process groups here: only the command itself is ended, at once.
func own(*exec.Cmd) {}

func terminate(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func killAll(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
