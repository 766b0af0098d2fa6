package model

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/failpoint"
)

// maxAnswer bounds, in bytes, what a program may print.
const maxAnswer = 16 << 20

// program is a command as a model: the question on its standard input, the answer on
// its standard output. It is started without a shell, in an empty directory that is
// gone afterwards, and with it whatever it started.
type program struct {
	spec    string
	model   string // as the preset's agent calls it; "": the agent's own choice
	command []string
	preset  *preset // nil: a person's own command, which is given no switches
	o       Options
}

var _ Model = (*program)(nil)

// newProgram finds the program, so that one that is missing is told before there is
// work to do with it. A provider named exec has its preset in the model's name,
// exec/claude/opus; another one in Options.
func newProgram(spec Spec, o Options) (*program, error) {
	p := &program{spec: spec.String(), model: spec.Model, command: o.Command, o: o}
	name := o.Preset
	if first, rest, _ := strings.Cut(spec.Model, "/"); spec.Provider == string(APIExec) &&
		(name == first || name == "" && len(o.Command) == 0) {
		name, p.model = first, rest
	}
	if name != "" {
		i := slices.IndexFunc(presets, func(p preset) bool { return p.name == name })
		if i < 0 {
			return nil, memoir.Errorf(memoir.CodeConfig, "use one of "+strings.Join(Presets(), ", ")+", or name a command",
				"%s has the preset %q, which is not known", p.spec, name)
		}
		p.preset = &presets[i]
		if len(p.command) == 0 {
			p.command = []string{name}
		}
	}
	if len(p.command) == 0 || p.command[0] == "" {
		return nil, memoir.Errorf(memoir.CodeConfig,
			"name a program and its arguments, or a preset: "+strings.Join(Presets(), ", "),
			"provider %s has no command", spec.Provider)
	}
	path, err := exec.LookPath(p.command[0])
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeConfig, "install "+p.command[0]+", or give the provider's command another path",
			"%s: program %s cannot be run: %w", p.spec, p.command[0], errors.Unwrap(err))
	}
	if path, err = filepath.Abs(path); err == nil { // it is started from another directory
		p.command = append([]string{path}, p.command[1:]...)
	}
	return p, nil
}

// Name is provider/model.
func (p *program) Name() string { return p.spec }

// Window is in tokens, as it was configured; 0: unknown.
func (p *program) Window() int { return p.o.Window }

// Program is the path of what is started.
func (p *program) Program() string { return p.command[0] }

// Call runs the program once.
func (p *program) Call(ctx context.Context, q Request) (Answer, error) {
	if err := failpoint.Before("make scratch directory"); err != nil {
		return Answer{}, p.failed(ClassProgram, 0, "", err)
	}
	dir, err := os.MkdirTemp("", "memoir-exec-")
	if err != nil {
		return Answer{}, p.failed(ClassProgram, 0, "", err)
	}
	defer func() { _ = failpoint.RemoveAll(dir) }()
	s := scratch{work: filepath.Join(dir, "work"), files: filepath.Join(dir, "files"), temp: filepath.Join(dir, "tmp")}
	for _, d := range []string{s.work, s.files, s.temp} {
		if err := failpoint.Mkdir(d, 0o700); err != nil {
			return Answer{}, p.failed(ClassProgram, 0, "", err)
		}
	}
	if q.MaxOutput == 0 && p.o.MaxOutput > 0 {
		q.MaxOutput = max(p.o.MaxOutput, q.Output)
	}
	call := invocation{stdin: prompt(q, true, true)}
	if p.preset != nil {
		if call, err = p.preset.invoke(q, p.model, p.o.Effort, s); err != nil {
			return Answer{}, p.failed(ClassProgram, 0, "", err)
		}
	}
	within := ctx
	if p.o.Timeout > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, p.o.Timeout)
		defer cancel()
	}
	out, err := run(within, start{command: append(slices.Clone(p.command), call.args...), dir: s.work,
		env: append(environ(os.Environ(), s), call.env...), stdin: call.stdin})
	switch {
	case err != nil && ctx.Err() != nil:
		e := p.failed(ClassTemporary, 0, "stopped before it answered", err)
		e.Untold = out.begun
		return Answer{}, e
	case errors.Is(err, context.DeadlineExceeded):
		e := p.failed(ClassTemporary, 0, "", nil)
		e.timedOut(p.o.Timeout)
		e.Message, e.Untold = strings.TrimSuffix(e.Message+": "+p.o.lastWords(out.stderr), ": "), out.begun
		return Answer{}, e
	case err != nil:
		return Answer{}, p.failed(ClassProgram, 0, err.Error(), err)
	}
	return p.read(out, call)
}

// read makes an answer of what was printed.
func (p *program) read(out printed, call invocation) (Answer, error) {
	r := reading{text: string(out.stdout)}
	if p.preset != nil {
		r = p.preset.read(out.stdout)
	}
	text := strings.TrimSpace(strings.ToValidUTF8(r.text, "\uFFFD"))
	usage := r.usage
	usage.Calls = 1
	// One that fails by itself has mostly not asked anybody, as when nobody is logged in.
	estimated := usage.InputTokens+usage.OutputTokens == 0 && out.status <= 0
	if estimated { // better than nothing
		usage.InputTokens, usage.OutputTokens = int64(memoir.Tokens(call.stdin)), int64(memoir.Tokens(text))
	}
	if p.o.Price != (Price{}) {
		usage.Cost = p.o.Price.Cost(usage)
	}
	var e *Error
	switch {
	case out.status != 0 || r.why != "":
		told := cmp.Or(r.why, out.stderr)
		class, known := classOfWords(told) // an answer may speak of anything else
		if !known {
			class = ClassProgram
		}
		e = p.failed(class, out.status, cmp.Or(told, text, "ended without an answer"), nil)
	case strings.HasPrefix(text, memoir.OwnRunMarker):
		e = p.failed(ClassProgram, 0, "it printed the question instead of an answer", nil)
	}
	if e != nil {
		e.Usage, e.Estimated = usage, estimated
		return Answer{}, e
	}
	stop := cmp.Or(r.stop, StopEnd)
	if text == "" && stop == StopEnd {
		stop = StopEmpty
	}
	return Answer{Text: text, Stop: stop, Usage: usage, Estimated: estimated}, nil
}

func (p *program) failed(class Class, status int, message string, err error) *Error {
	if message == "" && err != nil {
		message = err.Error()
	}
	return &Error{Class: class, Model: p.spec, Program: filepath.Base(p.command[0]), Status: max(status, 0),
		Message: p.o.lastWords(message), Err: err}
}

// prompt is a question in one text. The marker comes first, where a session that the
// program keeps in spite of all is known by it; what is the same for each call follows,
// for the sake of caches.
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

// around are variables by which a session tells its children of itself. A program that
// a hook started has them, and with them would take itself for a part of that session.
var around = []string{
	"CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID",
	"CLAUDE_CODE_SSE_PORT", "CLAUDE_ENV_FILE", "CLAUDE_PROJECT_DIR", "AI_AGENT", "AGENT", "CODEX_THREAD_ID",
	"GEMINI_CLI", "GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR", "GEMINI_CWD", "OPENCODE", "OPENCODE_PID",
	"COPILOT_CLI", "QWEN_CODE_SESSION_ID",
}

// environ is the environment of the program: ours, with what keeps it from starting us
// and from leaving files behind.
func environ(ours []string, s scratch) []string {
	out := slices.DeleteFunc(slices.Clone(ours), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(around, name)
	})
	return append(out, memoir.ChildVariable+"=1", "PWD="+s.work, "TMPDIR="+s.temp, "TMP="+s.temp, "TEMP="+s.temp)
}
