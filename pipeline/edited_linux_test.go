package pipeline_test

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"memoir/pipeline"
)

// saveWhenRead writes a file anew each time that somebody has opened it and before they read on, until stop is
// called: the next reader finds another text. A lease on the file makes the system hold up whoever opens it.
func saveWhenRead(t *testing.T, path, text string) (stop func()) {
	t.Helper()
	opened := make(chan os.Signal, 1)
	signal.Notify(opened, syscall.SIGIO)
	next := filepath.Join(t.TempDir(), "next") // in the same file system
	save := func(n int) (*os.File, error) {
		if err := os.WriteFile(next, fmt.Appendf(nil, "%s- line %d of it\n", text, n), 0o600); err != nil {
			return nil, err
		}
		f, err := os.Open(next)
		if err != nil {
			return nil, err
		}
		if _, _, failed := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_SETLEASE, syscall.F_WRLCK); failed != 0 {
			return nil, errors.Join(failed, f.Close())
		}
		return f, os.Rename(next, path)
	}
	held, err := save(0)
	if err != nil {
		t.Skipf("no leases on files here: %v", err)
	}
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for n := 1; ; n++ {
			select {
			case <-quit:
				held.Close()
				return
			case <-opened:
			}
			saved, err := save(n)
			held.Close() // who opened it reads the text of before
			if held = saved; err != nil {
				t.Error(err)
			}
		}
	}()
	return func() {
		close(quit)
		<-ended
		signal.Stop(opened)
	}
}

// A file that is being written could seem to have lost lines, so no model is shown it.
func TestAFileThatChangesWhileItIsReadReachesNoModel(t *testing.T) {
	t.Parallel()
	a, o, calls := paid(t, func(int, app) {})
	stop := saveWhenRead(t, a.path("MEMORY.md"), a.text("MEMORY.md"))
	report := run(t, o)
	stop()
	if len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomeEdited || *calls != 0 {
		t.Errorf("%d calls: %+v", *calls, report.Phase2)
	}
	if report := run(t, o); report.Phase2[0].Outcome != pipeline.OutcomePublished || *calls != 1 {
		t.Errorf("afterwards %d calls: %+v", *calls, report.Phase2)
	}
}
