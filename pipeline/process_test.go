package pipeline_test

import (
	"bytes"
	"errors"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestThreeRunsAtOnceEndAsOneAlone(t *testing.T) {
	t.Parallel()
	dir, _ := fixtures(t)
	prompts(t, dir, 40)
	alone, shared := t.TempDir(), t.TempDir()
	run(t, options(alone, dir))

	var cmds []*exec.Cmd
	var outputs [3]bytes.Buffer
	for i := range 3 {
		cmd := processOf(t, processOptions{Home: shared, Sessions: dir})
		cmd.Stderr = &outputs[i]
		must(t, cmd.Start())
		cmds = append(cmds, cmd)
	}
	for i, cmd := range cmds {
		if code := exitCode(cmd.Wait()); code != 0 && code != 4 {
			t.Errorf("exit code %d: %s", code, outputs[i].String())
		}
	}
	if diff := cmp.Diff(tree(t, alone), tree(t, shared)); diff != "" {
		t.Errorf("three runs at once ended otherwise than one alone:\n%s", diff)
	}
	if again := run(t, options(shared, dir)); again.Phase1.Claimed != 0 || len(again.Phase2) != 0 {
		t.Errorf("something was left over: %+v", again)
	}
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}
