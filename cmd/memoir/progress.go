package main

import (
	"time"

	"github.com/schollz/progressbar/v3"

	"memoir/pipeline"
)

// lineEvery is the interval of progress lines where there is no bar.
const lineEvery = 10 * time.Second

// stageNames are the names of stages in messages.
var stageNames = map[pipeline.Stage]string{
	pipeline.StageScan:        "scanning",
	pipeline.StageExtract:     "extracting",
	pipeline.StageConsolidate: "consolidating",
	pipeline.StageSecrets:     "looking for secrets",
	pipeline.StageRedact:      "redacting",
}

// stageBar is the progress of one stage.
type stageBar struct {
	stage pipeline.Stage
	total int
	bar   *progressbar.ProgressBar // nil where there is no terminal
	said  time.Time                // the last line, where there is no bar
}

// progress shows a run's progress; it is what pipeline.Options.Progress takes.
func (u *ui) progress(p pipeline.Progress) {
	if p.Warn != "" && !(p.Minor && u.quiet) {
		u.warn(p.Hint, "%s", p.Warn)
	}
	if p.What != "" {
		u.detail("%s %s", stageNames[p.Stage], p.What)
	}
	if u.quiet || p.Stage == "" {
		return
	}
	if line := u.advance(p); line {
		if p.Total > 0 {
			u.say("%s: %d of %d", stageNames[p.Stage], p.Done, p.Total)
		} else {
			u.say("%s: %d", stageNames[p.Stage], p.Done)
		}
	}
}

// advance moves the bar, and reports whether a plain line is due instead.
func (u *ui) advance(p pipeline.Progress) (line bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.bar == nil || u.bar.stage != p.Stage {
		u.bar.erase()
		u.bar = &stageBar{stage: p.Stage, total: -2, said: time.Now()}
	}
	b := u.bar
	if !u.errTTY {
		if time.Since(b.said) < lineEvery {
			return false
		}
		b.said = time.Now()
		return true
	}
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
			progressbar.OptionSetDescription("memoir: "+stageNames[p.Stage]),
			progressbar.OptionSetWidth(24),
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
	b.total = total
	_ = b.bar.Set(p.Done)
	return false
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
