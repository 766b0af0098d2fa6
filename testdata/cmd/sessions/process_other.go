//go:build !unix

package main

import "os/exec"

// There are no process groups here: only the command itself is ended.
func group(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
