//go:build !unix

package pipeline

import "os/exec"

// There are no process groups here: only the command itself is ended.
func ownGroup(*exec.Cmd) {}

func endGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
