package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"memoir"
	"memoir/pipeline"
)

// lineEvery is the interval of progress lines without a bar.
const lineEvery = 10 * time.Second

// barWidth and barNumbers are the columns of the bar and of the numbers around it.
const (
	barWidth   = 14
	barNumbers = 22
)

// stageNames are the names of stages in messages.
var stageNames = map[pipeline.Stage]string{
	pipeline.StageScan:        "scanning",
	pipeline.StageExtract:     "extracting",
	pipeline.StageConsolidate: "consolidating",
	pipeline.StageSearch:      "searching",
	pipeline.StageRedact:      "redacting",
}

// stageBar is the progress of one stage.
type stageBar struct {
	stage pipeline.Stage
	began time.Time
	what  string // the session or project that began last
	total int
	bar   *progressbar.ProgressBar // nil without a terminal
	said  time.Time                // time of the last line, without a bar
}

// progress shows a run's progress; it is what pipeline.Options.Progress takes.
func (u *ui) progress(p pipeline.Progress) {
	if p.Warn != "" && !(p.Minor && u.quiet) {
		u.warn(p.Hint, "%s", p.Warn)
	}
	if p.What != "" {
		u.detail("%s: %s", stageNames[p.Stage], p.What)
	}
	if u.quiet || p.Stage == "" {
		return
	}
	if line, about := u.advance(p); line {
		if p.Total > 0 {
			u.say("%s: %d of %d%s", stageNames[p.Stage], p.Done, p.Total, about)
		} else {
			u.say("%s: %d", stageNames[p.Stage], p.Done)
		}
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

// advance moves the bar, or reports that a plain line is due instead, and returns its content.
func (u *ui) advance(p pipeline.Progress) (line bool, about string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.bar == nil || u.bar.stage != p.Stage {
		u.bar.erase()
		u.bar = &stageBar{stage: p.Stage, total: -2, began: time.Now(), said: time.Now()}
	}
	b := u.bar
	about = b.about(p)
	if !u.errTTY {
		if time.Since(b.said) < lineEvery {
			return false, ""
		}
		b.said = time.Now()
		return true, about
	}
	if u.redact != nil {
		about = u.redact(about)
	}
	width := cmp.Or(terminalWidth(os.Stderr), 80) - barWidth - barNumbers
	about = memoir.Cut("memoir: "+stageNames[p.Stage]+oneLine(about), max(width, leastColumn))
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
	return false, ""
}

// stopBar removes the bar.
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
