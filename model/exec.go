package model

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/internal/failpoint"
)

// maxAnswer bounds, in bytes, a program's output.
const maxAnswer = 16 << 20

// program is a command as a model: it reads the prompt from its standard input and prints the answer. It runs without a
// shell, in an empty temporary directory, and is ended with all its children.
type program struct {
	command []string
	preset  *preset // nil: a person's own command, which gets no switches
	model   string  // as the preset's agent calls it; "": the agent's own choice
	o       Options
}

// newProgram finds the program, so that a missing one is reported before the first call.
func newProgram(spec Spec, o Options) (*program, error) {
	p := &program{command: o.Command, o: o}
	var err error
	if p.preset, p.model, err = presetOf(spec, o); err != nil {
		return nil, err
	}
	if len(p.command) == 0 {
		p.command = []string{p.preset.name}
	}
	path, err := exec.LookPath(p.command[0])
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeConfig, "install "+p.command[0]+", or give the provider's command another path",
			"%s: program %s cannot be run: %w", spec, p.command[0], errors.Unwrap(err))
	}
	if path, err = filepath.Abs(path); err == nil { // it runs in another directory
		p.command = append([]string{path}, p.command[1:]...)
	}
	return p, nil
}

func (p *program) call(ctx context.Context, q Request) (received, *Error) {
	dir, err := scratch()
	defer func() { _ = failpoint.RemoveAll(dir) }()
	if err != nil {
		return received{}, p.failed(ClassUnreachable, 0, "", err)
	}
	if q.MaxOutput == 0 && p.o.MaxOutput > 0 {
		q.MaxOutput = max(p.o.MaxOutput, q.Output)
	}
	s := start{command: slices.Clone(p.command), dir: filepath.Join(dir, workDir), env: environ(os.Environ(), dir)}
	if p.preset == nil {
		s.stdin = prompt(q, true, true)
	} else if err := p.preset.ask(&s, q, p.model, p.o.Effort); err != nil {
		return received{}, p.failed(ClassUnreachable, 0, "", err)
	}
	out, err := run(ctx, s)
	if p.preset != nil && err == nil && out.status != 0 && strings.Contains(out.stderr, "nknown option: "+p.preset.newer) {
		if i := slices.Index(s.command, p.preset.newer); i >= 0 { // it made no request yet
			s.command = slices.Delete(s.command, i, i+1)
			out, err = run(ctx, s)
		}
	}
	switch {
	case err != nil && !out.begun:
		return received{}, p.failed(ClassUnreachable, 0, "", err)
	case ctx.Err() != nil:
		e := p.failed(ClassTemporary, 0, out.stderr, nil)
		e.Unreported = true
		return received{}, e
	case err != nil:
		return received{}, p.failed(ClassProgram, 0, "", err)
	}
	return p.read(out)
}

func (p *program) read(out printed) (received, *Error) {
	r, why := received{text: string(out.stdout)}, ""
	if p.preset != nil {
		r, why = p.preset.read(out.stdout)
	}
	r.text = strings.TrimSpace(r.text)
	// A failed program has mostly made no request, for example because no account is logged in.
	r.begun = r.usage != nil || out.status <= 0
	switch {
	case out.status != 0 || why != "":
		message := cmp.Or(why, out.stderr)
		class, known := classOfWords(message) // only of failures: an answer may have the same words
		if !known {
			class = ClassProgram
		}
		return r, p.failed(class, out.status, cmp.Or(message, r.text), nil)
	case strings.HasPrefix(r.text, memoir.OwnRunMarker):
		return r, p.failed(ClassProgram, 0, "it printed the prompt instead of an answer", nil)
	}
	return r, nil
}

func (p *program) failed(class Class, status int, message string, err error) *Error {
	if message == "" && err != nil {
		message = err.Error()
	}
	return &Error{Class: class, Program: filepath.Base(p.command[0]), Status: max(status, 0), Message: message, Err: err}
}

// The directories of one call.
const (
	workDir = "work"  // the working directory: empty
	fileDir = "files" // its input files
	tempDir = "tmp"   // its temporary files
)

// scratch makes the directories of a call below a new temporary one.
func scratch() (dir string, err error) {
	if err = failpoint.Before("make scratch directory"); err == nil {
		dir, err = os.MkdirTemp("", "memoir-exec-")
	}
	for _, name := range []string{workDir, fileDir, tempDir} {
		if err == nil {
			err = failpoint.Mkdir(filepath.Join(dir, name), 0o700)
		}
	}
	return dir, err
}

// prompt returns a question as one text. It begins with a marker by which a session that the
// program keeps anyway is recognised. The text that all calls share follows, for caches.
func prompt(q Request, system, schema bool) string {
	parts := []string{memoir.OwnRunMarker}
	if system && q.System != "" {
		parts = append(parts, q.System)
	}
	parts = append(parts, q.Input)
	for _, e := range q.Earlier {
		parts = append(parts, "You answered:", e.Answer, "That answer could not be used: "+e.Objection)
	}
	if schema && len(q.Schema) > 0 {
		parts = append(parts,
			"Answer with one JSON object that conforms to this JSON Schema, and with nothing before or after it:",
			string(q.Schema))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// around are variables by which an agent's session identifies itself to its children. Our
// process has them if a hook started it; a program that inherits them would join that session.
var around = []string{
	"CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID",
	"CLAUDE_CODE_SSE_PORT", "CLAUDE_ENV_FILE", "CLAUDE_PROJECT_DIR", "AI_AGENT", "AGENT", "CODEX_THREAD_ID",
	"GEMINI_CLI", "GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR", "GEMINI_CWD", "OPENCODE", "OPENCODE_PID",
	"COPILOT_CLI", "QWEN_CODE_SESSION_ID",
}

// environ returns the environment of a program that runs below a directory: ours, with
// variables that keep it from starting memoir and from leaving files behind.
func environ(ours []string, dir string) []string {
	out := slices.DeleteFunc(slices.Clone(ours), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(around, name)
	})
	temp := filepath.Join(dir, tempDir)
	return append(out, memoir.ChildVariable+"=1", "PWD="+filepath.Join(dir, workDir),
		"TMPDIR="+temp, "TMP="+temp, "TEMP="+temp)
}

// stopTime is the time that a program has to end after a signal: a person who interrupts a run waits for it.
const stopTime = 500 * time.Millisecond

type printed struct {
	begun  bool // it was started
	stdout []byte
	stderr string // its end
	status int    // 0: it succeeded; -1: a signal ended it, as stderr says
}

var errOutputTooLong = fmt.Errorf("it printed more than %d MiB", maxAnswer>>20)

type start struct {
	command []string // the program and its arguments
	dir     string
	env     []string
	stdin   string
}

// run runs a program and returns its output. If ctx ends first, or the output is too long, the process group is asked
// to end, and killed after stopTime. On Windows only the program itself is ended.
func run(ctx context.Context, s start) (printed, error) {
	runtime.LockOSThread() // the program ends with the thread that started it
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, s.command[0], s.command[1:]...)
	cmd.Dir, cmd.Env = s.dir, s.env
	cmd.Stdin = strings.NewReader(s.stdin)
	stdout, stderr := &bounded{full: func() { cancel(errOutputTooLong) }}, &ending{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	own(cmd)
	cmd.Cancel = func() error { return terminate(cmd) }
	cmd.WaitDelay = stopTime // also for children that keep the output open
	if err := cmd.Start(); err != nil {
		return printed{}, err
	}
	err := cmd.Wait()
	killAll(cmd)
	out := printed{begun: true, stdout: stdout.kept, stderr: strings.TrimSpace(string(stderr.kept))}
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		if out.status = exit.ExitCode(); out.status < 0 {
			out.stderr = strings.TrimSpace(out.stderr + " " + exit.Error())
		}
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return out, err
	}
	return out, nil
}

type bounded struct {
	kept []byte
	full func()
}

// Write writes all of p, or nothing: beyond the bound it calls full and fails with errOutputTooLong.
func (b *bounded) Write(p []byte) (int, error) {
	if len(b.kept)+len(p) > maxAnswer {
		b.full()
		return 0, errOutputTooLong
	}
	b.kept = append(b.kept, p...)
	return len(p), nil
}

// ending keeps the end of the text that is written to it.
type ending struct{ kept []byte }

// Write never fails. It keeps the last 4*maxMessage bytes, without the word that is cut at
// their beginning: the rest of a secret would not be recognised.
func (e *ending) Write(p []byte) (int, error) {
	e.kept = append(e.kept, p...)
	if over := len(e.kept) - 4*maxMessage; over > 0 {
		over += max(bytes.IndexAny(e.kept[over:], " \t\r\n"), 0)
		e.kept = append([]byte(nil), e.kept[over:]...)
	}
	return len(p), nil
}
