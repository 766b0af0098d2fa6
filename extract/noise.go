package extract

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"

	"memoir"
	"memoir/internal/lazyregexp"
)

// CutMark stands where something of a text was left out, with a space on either side. The
// prompt of Phase 1 names it.
const CutMark = "[…]"

const omission = " " + CutMark + " "

const (
	longLine    = 600 // bytes; of a longer line in what a tool printed, the ends are kept
	longInput   = 4000
	sameLine    = 20 // bytes of a line that is not printed twice
	minProgress = 3  // lines of progress in a row that are collapsed
)

// quiet leaves out what says nothing of a session: calls that only keep a plan, polls and
// searches that found nothing, texts that were printed before, progress, HTML, the middle of
// long lines. An edit becomes a diff of its changed lines. Numbers of items stay as they are.
func quiet(items []memoir.Item) []memoir.Item {
	q := quieter{last: map[string]string{}, printed: map[uint64]bool{}, seed: maphash.MakeSeed()}
	for _, it := range items {
		if it.Kind == memoir.ItemTool {
			q.call(it)
		} else if strings.TrimSpace(it.Text) != "" {
			q.out = append(q.out, it)
		}
	}
	return q.out
}

type quieter struct {
	out     []memoir.Item
	last    map[string]string // output of a call's last run, by tool and input
	printed map[uint64]bool   // lines, by their hash
	seed    maphash.Seed
}

// planTools only keep the agent's own list of what to do, or look for tools.
var planTools = words("todowrite todoread updateplan writetodos todo think taskcreate taskupdate tasklist taskget " +
	"enterplanmode toolsearch")

// pollTools ask for more of what a running command printed, or end it.
var pollTools = words("bashoutput taskoutput agentoutputtool writestdin wait process killshell killbash taskstop")

// readTools print files, or where something stands in them.
var readTools = words("read readfile readmanyfiles view webfetch list ls listdirectory grep glob search find " +
	"searchfilecontent")

// plainName is a tool's name in lower case, without underscores.
func plainName(tool string) string { return strings.ReplaceAll(strings.ToLower(tool), "_", "") }

func (q *quieter) call(it memoir.Item) {
	if name := plainName(it.Tool); !it.Origin.ByPerson() {
		if planTools[name] || !it.Failed && foundNothing(it.Output) && (pollTools[name] || reads(it)) {
			return
		}
	}
	it.Input = strings.Trim(it.Input, "\n")
	key := it.Tool + "\x00" + it.Input
	if output, again := q.last[key]; again && output == it.Output && !it.Origin.ByPerson() {
		if reads(it) || waits.MatchString(it.Input) {
			return
		}
		it.Output = ""
	}
	if it.Output != "" {
		q.last[key] = it.Output
	}
	if diff, ok := diffOf(it); ok {
		it.Input = diff
		if !it.Failed {
			it.Output = ""
		}
	} else if !it.Shell() {
		it.Input = cutMiddle(it.Input, longInput)
	}
	it.Output = q.tidyOutput(it)
	q.out = append(q.out, it)
}

// waits are the commands that ask how far something is.
var waits = lazyregexp.New(`\bsleep \d|\bgh (?:run (?:view|watch|list)|pr (?:checks|view|status))\b`)

// pollFrame is what a client writes around a poll's output.
var pollFrame = lazyregexp.New(`<(?:status|timestamp|retrieval_status|task_id|task_type|exit_code)>[^<]*</\w+>` +
	`|</?(?:stdout|stderr|output)>|\(no output\)`)

// foundNothing reports whether an output says that there is nothing.
func foundNothing(output string) bool {
	if len(output) > longLine {
		return false
	}
	output = strings.ToLower(strings.TrimSpace(pollFrame.ReplaceAllString(output, "")))
	return output == "" || strings.HasPrefix(output, "no files found") || strings.HasPrefix(output, "no matches found")
}

// reads reports whether a call does no more than print what is there.
func reads(it memoir.Item) bool {
	if it.Shell() {
		return onlyLooks(it.Input)
	}
	return readTools[plainName(it.Tool)]
}

// lookers are programs that print what is there and change nothing.
var lookers = words("rg grep egrep find fd ls tree file cat bat less head tail nl sed awk jq stat sort uniq cut tr " +
	"wc xargs cd pwd which echo true")

var (
	shellParts = lazyregexp.New(`\|\||&&|[|;&\n]`)
	stringsOf  = lazyregexp.New(`'[^']*'|"(?:[^"\\]|\\.)*"`)
	gitLooks   = lazyregexp.New(`^git (?:log|show|diff|status|grep|ls-files|blame|branch|rev-parse)\b`)
)

// onlyLooks reports whether a command line does no more than look at things. A part that
// begins within quotes counts as a program, so that the answer is no rather than wrong.
func onlyLooks(line string) bool {
	if strings.Contains(line, " -i ") && strings.Contains(line, "sed ") ||
		strings.Contains(line, ">") && strings.Contains(line, "cat ") {
		return false
	}
	for part := range strings.SplitSeq(shellParts.ReplaceAllString(stringsOf.ReplaceAllString(line, "s"), "\n"), "\n") {
		part = strings.TrimSpace(part)
		program, _, _ := strings.Cut(part, " ")
		if part != "" && !lookers[program] && !gitLooks.MatchString(part) {
			return false
		}
	}
	return true
}

// tidyOutput is what a call printed, without what says nothing.
func (q *quieter) tidyOutput(it memoir.Item) string {
	output := it.Output
	if htmlPage.MatchString(output[:min(len(output), 2000)]) {
		output = htmlTag.ReplaceAllString(htmlScript.ReplaceAllString(output, ""), "")
	}
	lines := strings.Split(output, "\n")
	errors := make([]bool, len(lines))
	bad := failed(it)
	for i := range lines {
		errors[i] = bad && errorLine(lines[i])
	}
	var kept []string
	cut := func() bool { return len(kept) > 0 && kept[len(kept)-1] == CutMark }
	mark := func() {
		if !cut() {
			kept = append(kept, CutMark)
		}
	}
	few, reading := len(lines) <= 5, reads(it)
	for i := 0; i < len(lines); i++ {
		if run := progressRun(lines[i:]); run >= minProgress {
			mark()
			i += run - 1 // the last one tells how far it came
		}
		line := strings.TrimRight(lines[i], " \t\r")
		near := slices.Contains(errors[max(i-2, 0):min(i+3, len(lines))], true)
		again := q.again(line)
		switch {
		case again && !near && !few:
			mark()
		case cut() && reading && len(strings.TrimSpace(line)) < sameLine: // a brace between lines that are known
		case line == "" && (len(kept) == 0 || kept[len(kept)-1] == ""):
		default:
			kept = append(kept, cutMiddle(line, longLine))
		}
	}
	return strings.Trim(strings.Join(kept, "\n"), "\n")
}

// again reports whether a line was printed before, with another line number or none.
func (q *quieter) again(line string) bool {
	line = strings.TrimSpace(linePrefix.ReplaceAllString(line, ""))
	if len(line) < sameLine {
		return false
	}
	hash := maphash.String(q.seed, line)
	before := q.printed[hash]
	q.printed[hash] = true
	return before
}

var (
	linePrefix   = lazyregexp.New(`^\s*(?:[\w./@+-]*[\w/][:-])?\d+(?:[:→\t-]|\s\s)\d*:?`)
	htmlPage     = lazyregexp.New(`(?i)^\s*(?:<!doctype html|<html|<\?xml)`)
	htmlScript   = lazyregexp.New(`(?is)<(?:script|style|svg|head)\b.*?</(?:script|style|svg|head)>`)
	htmlTag      = lazyregexp.New(`<[^>\n]{0,999}>`)
	progressLine = lazyregexp.New(`^\s*(?:` +
		`(?:Compiling|Downloading|Downloaded|Checking|Fetching|Updating|Unpacking|Preparing|Collecting|Installing|Fresh)\b` +
		`|(?:Resolving|Extracting|Building|Adding|Locking|Linking|Selecting|Get:\d+|Setting up|Processing)\b` +
		`|Using cached|Requirement already|go: (?:downloading|extracting|finding)|npm (?:http|timing|sill|verb)` +
		`|remote: |(?:Receiving|Resolving|Counting|Compressing|Writing) (?:objects|deltas)|Progress:` +
		`|=== (?:RUN|PAUSE|CONT)|--- PASS|PASS\b|ok  \t|\?   \t|test .* \.\.\. (?:ok|ignored)$|[✓✔√] ` +
		`|\[?\d+/\d+\]?\s|[#=.█▓░⠀-⣿ ]{8,})`)
)

// progressRun is how many lines at the beginning are progress.
func progressRun(lines []string) int {
	for i, line := range lines {
		if len(line) > longLine || !progressLine.MatchString(line) || errorLine(line) {
			return i
		}
	}
	return len(lines)
}

// cutMiddle leaves the middle of a text out that is longer than a number of bytes.
func cutMiddle(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return firstBytes(text, most*2/3) + omission + lastBytes(text, most/3)
}

// firstBytes is the beginning of a text, of at most n bytes, whole characters.
func firstBytes(text string, n int) string {
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:min(n, len(text))]
}

// lastBytes is the end of a text, of at most n bytes, whole characters.
func lastBytes(text string, n int) string {
	at := max(len(text)-n, 0)
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return text[at:]
}

var (
	errorText = lazyregexp.New(`(?i)\b(?:err(?:or)?s?|fatal|panic(?:ked)?|fail(?:ed|ure|s)?|exception|traceback)\b` +
		`|\b(?:denied|refused|not found|no such|unable to|cannot|can't|could not|undefined|unknown|unexpected)\b` +
		`|\b(?:unrecognized|invalid|missing|mismatch|assert(?:ion)?|timed out|rejected|conflict)\b` +
		`|(?-i:\w(?:Error|Exception))\b|[✗✘×]`)
	noError = lazyregexp.New(`(?i)\b(?:0|no) (?:errors?|failed|failures?)\b|^\s*(?:warning|note)\b`)
)

// errorLine reports whether a line of a failed call's output tells what failed, or why.
func errorLine(line string) bool {
	return len(line) <= 4*longLine && errorText.MatchString(line) && !noError.MatchString(line)
}

// failed reports whether a call failed: the format says so, or nothing tells its status and a
// line of its output does.
func failed(it memoir.Item) bool {
	switch {
	case it.Kind != memoir.ItemTool || it.Shell() && reads(it):
		return false
	case it.Failed || it.Exit != nil || !it.Shell() && it.Tool != "exec":
		return it.Failed
	}
	return failureLine(it.Output) != ""
}
