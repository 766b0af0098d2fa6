package main

// This file, with terminal.go for the progress bar and the pager, is the only one that talks to the
// terminal. Its rules:
//
//   - Results go to standard output, messages to standard error, so that a pipe has only results.
//   - Every message begins with "memoir: ", is lower case except for names, has no
//     full stop, and is one line however long.
//   - An error is one line, then "memoir: hint: …" if a person can act. Warnings have the same form. -q silences
//     neither, except warnings about skipped files, nor questions and what they offer; it silences all other messages,
//     also the paths of run.
//   - Text of transcripts is not trusted: its control characters never reach a
//     terminal. Secrets that an error quotes are redacted.
//   - A progress bar only where standard error is a terminal, erased when done.
//   - Colour only on a terminal, never with NO_COLOR or TERM=dumb, unless CLICOLOR_FORCE or --color ask for it.
//   - Nothing is asked unless both standard input and error are terminals.

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unicode"
	"unicode/utf16"

	"golang.org/x/term"

	"memoir"
)

// ui writes the results and messages of a command. Its methods are safe for concurrent use.
type ui struct {
	stdin     *os.File
	out       *bufio.Writer // standard output
	errw      io.Writer     // standard error
	quiet     bool
	verbose   bool
	errTTY    bool // standard error is a terminal
	outTTY    bool
	inTTY     bool
	color     bool // on standard error
	outColor  bool
	stdout    *os.File
	pager     *pager // nil: results go to stdout
	outBroken error
	redact    func(string) string // removes secrets from messages
	home      string              // of the person, ~ in tables
	command   string              // its name without memoir: "sessions disable"; empty if none was given

	mu  sync.Mutex
	bar *stageBar
}

func newUI(stdin, stdout, stderr *os.File, getenv func(string) string) *ui {
	u := &ui{
		stdin: stdin, stdout: stdout, out: bufio.NewWriterSize(stdout, 64<<10), errw: stderr,
		home: getenv("HOME"), redact: func(text string) string { return text },
		errTTY: isTerminal(stderr), outTTY: isTerminal(stdout), inTTY: isTerminal(stdin),
	}
	if getenv("TERM") == "dumb" {
		u.errTTY = false
	}
	u.setColor("", getenv)
	return u
}

func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// say writes a message, unless -q was given.
func (u *ui) say(format string, args ...any) {
	if !u.quiet {
		u.line("", "", fmt.Sprintf(format, args...))
	}
}

// detail writes a message if -v was given.
func (u *ui) detail(format string, args ...any) {
	if u.verbose {
		u.line("", "", fmt.Sprintf(format, args...))
	}
}

// warn reports a problem that does not stop the command; hint may be empty.
func (u *ui) warn(hint, format string, args ...any) {
	u.line("33", "warning: ", u.joined(fmt.Sprintf(format, args...)))
	u.hint(hint)
}

// hint says what a person can do; text may be empty.
func (u *ui) hint(text string) {
	if text != "" {
		u.line("36", "hint: ", text)
	}
}

// fail reports the error that ends the command, in one line and a hint.
func (u *ui) fail(err error) {
	u.line("31", "error: ", u.joined(err.Error()))
	hint := memoir.HintOf(err)
	if hint == "" && memoir.CodeOf(err) == memoir.CodeUsage {
		hint = "`memoir help` lists the commands"
		if u.command != "" {
			hint = "`memoir help " + u.command + "` shows the usage"
		}
	}
	u.hint(hint)
}

// sayError reports an error that does not make the command fail.
func (u *ui) sayError(err error) {
	u.say("%s", err.Error())
	u.sayHint(memoir.HintOf(err))
}

// sayHint prints a hint for a message; -q silences both.
func (u *ui) sayHint(text string) {
	if !u.quiet {
		u.hint(text)
	}
}

// joined puts joined errors on one line, separated by semicolons. Secrets are removed first: a
// rule may match several lines.
func (u *ui) joined(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(u.redact(text)), "\n", "; ")
}

// line writes one line to standard error, after the results written so far: both
// may go to one terminal. A failed write is ignored.
func (u *ui) line(color, label, text string) {
	text = u.redact(text)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bar.erase()
	u.flush()
	if u.color && color != "" && label != "" {
		label = "\x1b[" + color + "m" + label + "\x1b[0m"
	}
	fmt.Fprintf(u.errw, "memoir: %s%s\n", label, oneLine(text))
}

func (u *ui) printf(format string, args ...any) { u.write(fmt.Sprintf(format, args...)) }

// write writes a result unchanged, or without control characters if standard output is a terminal.
func (u *ui) write(text string) {
	if u.outTTY {
		text = plain(text)
	}
	u.put(text)
}

// put writes a result unchanged. A bar on the same terminal ends before it.
func (u *ui) put(text string) {
	if u.outTTY {
		u.stopBar()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, err := u.out.WriteString(text); err != nil && u.outBroken == nil {
		u.outBroken = err
	}
}

// push flushes the results written so far, and reports whether standard output still takes any.
func (u *ui) push() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.flush()
	return u.outBroken == nil
}

// flush writes the buffered results; the caller holds the lock.
func (u *ui) flush() {
	if err := u.out.Flush(); err != nil && u.outBroken == nil {
		u.outBroken = err
	}
}

// Write lets writers that need an io.Writer produce results.
func (u *ui) Write(p []byte) (int, error) {
	u.write(string(p))
	return len(p), u.outBroken
}

// json writes the one object that --json asks for. Characters that control a terminal, or are
// invisible, are escaped in it: a pipe may end at a terminal.
func (u *ui) json(v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := u.Write([]byte(escaped(b.String())))
	return err
}

// escaped returns JSON with each hostile character replaced by an escape.
func escaped(text string) string {
	if !strings.ContainsFunc(text, escapable) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !escapable(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

func escapable(r rune) bool { return r != '\n' && r != unicode.ReplacementChar && hostile(r) }

// close flushes standard output. A closed pipe is not an error.
func (u *ui) close() error {
	u.stopBar()
	u.mu.Lock()
	u.flush()
	err := u.outBroken
	u.pager.wait(true)
	u.mu.Unlock()
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return memoir.Errorf(memoir.CodeStorage, "", "write to standard output: %w", err)
}

func (u *ui) canAsk() bool { return u.inTTY && u.errTTY }

// hasInput reports whether standard input has text now. It takes a byte of it, and does not wait for any.
func (u *ui) hasInput() bool {
	if u.stdin == nil || !readable(u.stdin) {
		return false
	}
	n, _ := u.stdin.Read(make([]byte, 1))
	return n > 0
}

// ask puts a yes-or-no question; anything but y or yes is no.
func (u *ui) ask(ctx context.Context, question string) (bool, error) {
	answer, err := u.answer(ctx, question+" [y/N]")
	return answer == "y" || answer == "yes", err
}

// askYes is ask with the default yes.
func (u *ui) askYes(ctx context.Context, question string) (bool, error) {
	answer, err := u.answer(ctx, question+" [Y/n]")
	return answer == "y" || answer == "yes" || answer == "", err
}

// pick lists choices and asks for one, also with -q. An empty answer is the first; 0 means none.
func (u *ui) pick(ctx context.Context, question string, choices []string) (int, error) {
	n := len(choices)
	for i, choice := range choices {
		u.line("", "", fmt.Sprintf("  %d  %s", i+1, choice))
	}
	for {
		answer, err := u.answer(ctx, fmt.Sprintf("%s 1 to %d [1]", question, n))
		if err != nil || answer == "n" || answer == "no" {
			return 0, err
		}
		if i, err := strconv.Atoi(cmp.Or(answer, "1")); err == nil && i >= 1 && i <= n {
			return i, nil
		}
		u.line("", "", fmt.Sprintf("%s is not one of 1 to %d", answer, n))
	}
}

// answer puts a question and returns the line that a person writes, in lower case. At the end of input it is "n".
func (u *ui) answer(ctx context.Context, question string) (string, error) {
	answer, err := u.words(ctx, question, "n")
	return strings.ToLower(answer), err
}

// words puts a question and returns the line that a person writes; atEnd is what the end of input means.
func (u *ui) words(ctx context.Context, question, atEnd string) (string, error) {
	return u.prompt(ctx, question, func() (string, error) {
		answer, err := bufio.NewReader(u.stdin).ReadString('\n')
		if err != nil {
			answer = cmp.Or(answer, atEnd)
		}
		return strings.TrimSpace(answer), nil
	})
}

// key puts a question and returns which of some keys a person presses: of Ctrl-C and the end of input the last. Of the
// first other key it says which there are.
func (u *ui) key(ctx context.Context, question, keys string) (string, error) {
	u.push()
	before, err := term.MakeRaw(int(u.stdin.Fd()))
	if err != nil {
		return "", err
	}
	defer func() {
		_ = term.Restore(int(u.stdin.Fd()), before)
		fmt.Fprintln(u.errw)
	}()
	return u.prompt(ctx, question, func() (string, error) {
		for pressed, wrong := make([]byte, 1), false; ; {
			n, err := u.stdin.Read(pressed)
			if err != nil || pressed[0] == 3 || pressed[0] == 4 { // Ctrl-C, Ctrl-D
				return keys[len(keys)-1:], nil
			}
			if key := string(pressed[:n]); n > 0 && strings.Contains(keys, key) {
				return key, nil
			}
			if !wrong { // an arrow is several
				wrong = true
				fmt.Fprintf(u.errw, "\r\nmemoir: the keys are %s ", strings.Join(strings.Split(keys, ""), ", "))
			}
		}
	})
}

// prompt writes a question after the results so far, and returns what read returns.
func (u *ui) prompt(ctx context.Context, question string, read func() (string, error)) (string, error) {
	u.stopBar()
	u.mu.Lock()
	u.flush()
	u.pager.wait(false)
	fmt.Fprintf(u.errw, "memoir: %s ", oneLine(question))
	u.mu.Unlock()
	answer, err := interruptibly(ctx, read)
	if err != nil {
		fmt.Fprintln(u.errw)
	}
	return answer, err
}

// width returns the columns of the terminal at standard output, 0 if there is none.
func (u *ui) width() int {
	if !u.outTTY {
		return 0
	}
	return terminalWidth(os.Stdout)
}

// terminalWidth returns the columns of a terminal, 0 if unknown.
func terminalWidth(f *os.File) int {
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}

// oneLine makes text fit one line of a terminal or a table.
func oneLine(text string) string { return plain(blanks.Replace(text)) }

var blanks = strings.NewReplacer("\n", " ", "\t", " ", "\r", " ", "\u2028", " ", "\u2029", " ")

// plain removes control characters other than line ends and tabs.
func plain(text string) string {
	return memoir.WithoutFloods(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && hostile(r) {
			return -1
		}
		return r
	}, text))
}

// hostile reports whether a rune controls a terminal or the direction of text, or is invisible, so
// that two different names look the same.
func hostile(r rune) bool {
	return r == unicode.ReplacementChar || r == '\u2028' || r == '\u2029' || r >= 0x80 && memoir.Hidden(r) ||
		unicode.IsControl(r)
}
