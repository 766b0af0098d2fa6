package main

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// paged are the commands whose results a pager shows on a terminal; help is paged, too.
var paged = []string{"view", "log", "diff", "cat", "journal", "history", "sessions", "status", "config", "man"}

// pager is standard output through a pager, which starts with the first result.
type pager struct {
	command string
	environ []string
	ui      *ui
	stdout  *os.File
	said    io.Writer // standard error, buffered while the pager runs
	held    strings.Builder
	running *exec.Cmd
	input   io.WriteCloser
}

// page sends the results of a command to the person's pager, if standard output is a terminal.
func (p *program) page(c *cli.Context) {
	command := p.pagerCommand()
	if command == "" || p.ui.stdout == nil || !(c.Bool("help") || slices.Contains(paged, c.Command.Name)) {
		return
	}
	environ := p.environ
	if p.getenv("LESS") == "" {
		environ = append(slices.Clip(environ), "LESS=FRX") // quit if all fits, show colours, keep the screen
	}
	p.ui.pager = &pager{command: command, environ: environ, ui: p.ui, stdout: p.ui.stdout}
	p.ui.out.Reset(p.ui.pager)
}

// pagerCommand returns $PAGER, else less if it is installed; "" means no pager.
func (p *program) pagerCommand() string {
	if !p.ui.outTTY || p.getenv("TERM") == "dumb" {
		return ""
	}
	for _, entry := range p.environ {
		if value, ok := strings.CutPrefix(entry, "PAGER="); ok { // an empty one means none
			words := strings.Fields(value)
			if len(words) == 0 || value == "cat" {
				return ""
			}
			if _, err := exec.LookPath(words[0]); err != nil {
				p.ui.warn("", "PAGER: %v", err)
				return ""
			}
			return value
		}
	}
	if _, err := exec.LookPath("less"); err != nil {
		return ""
	}
	return "less"
}

// Write writes results to the pager, or to standard output if it does not start. The caller holds ui.mu.
func (p *pager) Write(b []byte) (int, error) {
	if p.input == nil {
		p.start()
	}
	return p.input.Write(b)
}

func (p *pager) start() {
	cmd := exec.Command("sh", "-c", p.command)
	cmd.Env, cmd.Stdout, cmd.Stderr = p.environ, p.stdout, os.Stderr
	input, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.input = p.stdout
		return
	}
	p.running, p.input = cmd, input
	p.said, p.ui.errw = p.ui.errw, &p.held
}

// wait returns after the person has left the pager, and prints the buffered messages.
func (p *pager) wait() {
	if p == nil || p.running == nil {
		return
	}
	signal.Ignore(os.Interrupt) // the pager handles it
	_ = p.input.Close()
	_ = p.running.Wait() // the pager's exit code has no meaning
	p.ui.errw = p.said
	_, _ = io.WriteString(p.said, p.held.String())
	p.running = nil
}

// setColor decides where colour is used: at terminals, but not with NO_COLOR, and anywhere with CLICOLOR_FORCE.
// --color takes precedence.
func (u *ui) setColor(when string, getenv func(string) string) error {
	force := getenv("CLICOLOR_FORCE")
	switch when {
	case "always":
		u.color, u.outColor = true, true
	case "never":
		u.color, u.outColor = false, false
	case "", "auto":
		switch {
		case getenv("NO_COLOR") != "":
			u.color, u.outColor = false, false
		case force != "" && force != "0":
			u.color, u.outColor = true, true
		default:
			u.color, u.outColor = u.errTTY, u.outTTY && getenv("TERM") != "dumb"
		}
	default:
		return usagef("one of auto, always, never", "--color: %q is not known", when)
	}
	return nil
}

// paint writes a line of a result in a colour.
func (u *ui) paint(color, line string) {
	if !u.outColor || color == "" {
		u.write(line)
		return
	}
	text, end := strings.CutSuffix(line, "\n")
	u.put("\x1b[" + color + "m" + plain(text) + "\x1b[0m")
	if end {
		u.put("\n")
	}
}

// writeDiff writes a unified diff.
func (u *ui) writeDiff(text string) {
	for line := range strings.Lines(text) {
		color := ""
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			color = "1"
		case line[0] == '@':
			color = "36"
		case line[0] == '+':
			color = "32"
		case line[0] == '-':
			color = "31"
		}
		u.paint(color, line)
	}
}
