package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/memory"
	"memoir/pipeline"
)

// barWidth and barNumbers are the columns of the bar and of the numbers around it.
const (
	barWidth   = 14
	barNumbers = 22
)

var stageNames = map[pipeline.Stage]string{
	pipeline.StageScan:        "scanning",
	pipeline.StageExtract:     "extracting",
	pipeline.StageRead:        "reading",
	pipeline.StageConsolidate: "consolidating",
	pipeline.StageSearch:      "searching",
	pipeline.StageRedact:      "redacting",
}

type stageBar struct {
	stage pipeline.Stage
	began time.Time
	what  string // the session or project that began last
	total int
	bar   *progressbar.ProgressBar
}

// progress shows a run's progress; it is what pipeline.Options.Progress takes.
func (u *ui) progress(p pipeline.Progress) {
	if p.Warn != "" && !(p.Minor && u.quiet) {
		u.warn(p.Hint, "%s", p.Warn)
	}
	if p.What != "" {
		u.detail("%s: %s", stageNames[p.Stage], p.What)
	}
	if u.errTTY && !u.quiet && p.Stage != "" {
		u.advance(p)
	}
}

// about returns the remaining time, the usage and the present subject: ", 2m left, 123 tokens, 019f1f60 of mise".
func (b *stageBar) about(p pipeline.Progress) string {
	if p.What != "" {
		b.what = ", " + p.What
		if p.Of != "" { // a session, by the beginning of its id, of a project without the hash
			b.what = ", " + p.What[:min(len(p.What), 8)] + " of " + p.Of[:max(strings.LastIndexByte(p.Of, '-'), 1)]
		}
	}
	text := ""
	if p.Done > 0 && p.Done < p.Total {
		left := time.Since(b.began) / time.Duration(p.Done) * time.Duration(p.Total-p.Done)
		if left = left.Round(time.Second); left > 0 {
			text = fmt.Sprintf(", %s left", left)
		}
	}
	if tokens := p.Spent.InputTokens + p.Spent.OutputTokens; tokens > 0 {
		text += fmt.Sprintf(", %d tokens", tokens)
	}
	if p.Spent.Cost > 0 {
		text += ", " + dollars(p.Spent.Cost)
	}
	return text + b.what
}

func (u *ui) advance(p pipeline.Progress) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.bar == nil || u.bar.stage != p.Stage {
		u.bar.erase()
		u.bar = &stageBar{stage: p.Stage, total: -2, began: time.Now()}
	}
	b := u.bar
	width := cmp.Or(terminalWidth(os.Stderr), 80) - barWidth - barNumbers
	about := memoir.Cut("memoir: "+stageNames[p.Stage]+oneLine(u.redact(b.about(p))), max(width, leastColumn))
	total := p.Total
	if total <= 0 {
		total = -1 // a spinner
	}
	throttle := 65 * time.Millisecond
	if p.Stage == pipeline.StageExtract || p.Stage == pipeline.StageConsolidate {
		throttle = 0 // a message erases the bar, and the next step may take minutes
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(u.errw),
			progressbar.OptionSetDescription(about),
			progressbar.OptionSetWidth(barWidth),
			progressbar.OptionShowCount(),
			progressbar.OptionThrottle(throttle),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionEnableColorCodes(false),
			progressbar.OptionSetSpinnerChangeInterval(0),
		)
	} else if b.total != total {
		b.bar.ChangeMax(total)
	}
	b.bar.Describe(about)
	b.total = total
	_ = b.bar.Set(p.Done)
}

func (u *ui) stopBar() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bar.erase()
	u.bar = nil
}

// erase clears the bar's line; the next advance draws it again.
func (b *stageBar) erase() {
	if b != nil && b.bar != nil {
		_ = b.bar.Clear()
	}
}

// paged are the commands whose results a pager shows on a terminal; help is paged, too.
var paged = []string{"view", "log", "diff", "cat", "notes", "journal", "history", "sessions", "status", "config",
	"man", "forget"}

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
	command := cmp.Or(strings.TrimSpace(p.getenv("PAGER")), "less")
	if command == "cat" || slices.Contains(p.environ, "PAGER=") { // an empty one means none
		return ""
	}
	if _, err := exec.LookPath(strings.Fields(command)[0]); err != nil {
		if command != "less" {
			p.ui.warn("", "PAGER: %v", err)
		}
		return ""
	}
	return command
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

// wait returns after the person has left the pager, and prints the buffered messages. What a command prints after a
// question is not paged.
func (p *pager) wait(last bool) {
	if p == nil || p.running == nil {
		return
	}
	if last {
		signal.Ignore(os.Interrupt) // the pager handles it
	}
	_ = p.input.Close()
	_ = p.running.Wait() // the pager's exit code has no meaning
	p.ui.errw = p.said
	_, _ = io.WriteString(p.said, p.held.String())
	p.running, p.input = nil, p.stdout
}

// setColor decides where colour is used: at terminals, but not with NO_COLOR, and anywhere with CLICOLOR_FORCE.
// --color takes precedence.
func (u *ui) setColor(when string, getenv func(string) string) {
	force := getenv("CLICOLOR_FORCE")
	switch {
	case when == "never", when != "always" && getenv("NO_COLOR") != "":
		u.color, u.outColor = false, false
	case when == "always", force != "" && force != "0":
		u.color, u.outColor = true, true
	default:
		u.color, u.outColor = u.errTTY, u.outTTY && getenv("TERM") != "dumb"
	}
}

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

func (u *ui) writeDiff(text string) {
	for _, l := range memory.DiffLines(text) {
		u.paint(map[string]string{"@": "36", "+": "32", "-": "31"}[l.Mark], l.Text)
	}
}
