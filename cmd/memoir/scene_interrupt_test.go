package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"memoir/model/modeltest"
)

// interrupted runs the program over a few new sessions, interrupts it once ready says
// that every call is under way, and checks what it leaves.
func interrupted(t *testing.T, setting string, ready func(sessions int)) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs signals between processes, which windows has not")
	}
	const sessions = 3
	dir := t.TempDir()
	for day := 1; day <= sessions; day++ {
		writeSession(t, dir, day, []string{fmt.Sprintf("Always keep layer %d free of global state.", day)}, []string{"make check"})
	}
	s := newScene(t, dir, setting)
	cmd := exec.Command(released(t), "run", "--home", s.home, "--sessions", dir, "--max-age", "0", "--min-idle", "0")
	temp := t.TempDir()
	cmd.Env = environment("HOME="+s.user, "SCENE_KEY="+sceneKey, "TMPDIR="+temp)
	said := new(strings.Builder)
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready(sessions)
	began := time.Now()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	t.Logf("it ended %s after the interrupt", time.Since(began).Round(time.Millisecond))
	if codeOf(t, err) != exitInterrupted || !strings.Contains(said.String(), "memoir: error: interrupted by signal: interrupt") {
		t.Errorf("%v:\n%s", err, said)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	now := s.status()
	if now.Jobs["pending"] != sessions || len(now.Jobs) != 1 || len(now.Failed)+len(now.Dead)+len(now.Running) > 0 {
		t.Errorf("status: %+v", now)
	}
	if total := now.UsageBy.Total; total.Calls != sessions {
		t.Errorf("the ledger has %+v", total)
	}
	for _, row := range now.UsageBy.Rows {
		if row.Phase != "extract" || row.Outcome != "interrupted" {
			t.Errorf("the ledger has %+v", row)
		}
	}
	if files := s.memory(); len(files) > 0 {
		t.Errorf("there is a memory: %v", files)
	}

	// The next run finds everything as it would have been.
	server := wires[1].start(t, well)
	s.asks(wires[1].provider(server.URL, ""))
	if report := s.run(exitDone); report.Phase1.Stored != sessions || len(s.memory()) == 0 {
		t.Errorf("%+v", report.Phase1)
	}
}

func TestAnInterruptGivesBackWhatAServerIsAsked(t *testing.T) {
	t.Parallel()
	asked, gone := make(chan struct{}, 100), make(chan struct{}, 100)
	server := wires[0].serve(t, func(int, modeltest.Call) modeltest.Step {
		asked <- struct{}{}
		return modeltest.Step{Hang: true, Left: func() { gone <- struct{}{} }}
	})
	interrupted(t, wires[0].provider(server.URL, ""), func(sessions int) {
		for range sessions {
			<-asked
		}
	})
	for range len(server.Calls()) { // the caller closed each connection
		<-gone
	}
}

func TestAnInterruptEndsThePrograms(t *testing.T) {
	t.Parallel()
	// It starts one of its own, and neither ends when it is asked to.
	setting, book := script(t, `trap '' TERM INT
sleep 600 &
echo "$$ $!" >"$book.$$.half"
mv "$book.$$.half" "$book.$$.pids"
cat >/dev/null
wait; wait; wait`)
	var pids []int
	interrupted(t, setting, func(sessions int) {
		for {
			files, err := filepath.Glob(book + ".*.pids")
			if err != nil {
				t.Fatal(err)
			}
			if len(files) < sessions {
				runtime.Gosched()
				continue
			}
			for _, file := range files {
				content, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for field := range strings.FieldsSeq(string(content)) {
					pid, err := strconv.Atoi(field)
					if err != nil {
						t.Fatal(err)
					}
					pids = append(pids, pid)
				}
			}
			return
		}
	})
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); err == nil && !zombie(pid) {
			t.Errorf("process %d still runs", pid)
		}
	}
}

// zombie reports whether a process has ended, and only nobody asked how.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, ok := strings.Cut(string(stat), ") ")
	return err == nil && ok && strings.HasPrefix(rest, "Z")
}
