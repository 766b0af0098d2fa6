package extract

import (
	"encoding/json"
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
// long lines. A poll's output joins the call that it belongs to, an edit becomes a diff of its
// changed lines. Numbers of items stay as they are.
func quiet(items []memoir.Item) []memoir.Item {
	q := quieter{
		running: map[string]int{}, last: map[string]string{}, printed: map[uint64]bool{}, seed: maphash.MakeSeed(),
	}
	for _, it := range items {
		if it.Kind == memoir.ItemTool {
			q.call(it)
			continue
		}
		if !it.Origin.ByPerson() {
			it.Text = clientMark.ReplaceAllString(it.Text, "")
		}
		if strings.TrimSpace(it.Text) != "" {
			q.out = append(q.out, it)
		}
	}
	return q.out
}

type quieter struct {
	out     []memoir.Item
	running map[string]int    // index in out of a startedHandle command, by its handle
	last    map[string]string // output of a call's last run, by tool and input
	printed map[uint64]bool   // lines, by their hash
	seed    maphash.Seed
}

// planTools only keep the agent's own list of what to do.
var planTools = map[string]bool{
	"todowrite": true, "todoread": true, "updateplan": true, "writetodos": true, "todo": true, "think": true,
	"taskcreate": true, "taskupdate": true, "tasklist": true, "taskget": true, "enterplanmode": true, "toolsearch": true,
}

// pollTools ask for more of what a running command printed, or end it.
var pollTools = map[string]bool{
	"bashoutput": true, "taskoutput": true, "agentoutputtool": true, "writestdin": true, "wait": true, "process": true,
	"killshell": true, "killbash": true, "taskstop": true,
}

// plainName is a tool's name in lower case, without underscores.
func plainName(tool string) string { return strings.ReplaceAll(strings.ToLower(tool), "_", "") }

func (q *quieter) call(it memoir.Item) {
	name := plainName(it.Tool)
	args := arguments(it)
	switch {
	case planTools[name] && !it.Origin.ByPerson():
		return
	case pollTools[name]:
		if q.poll(it, args) {
			return
		}
	case foundNothing(it):
		return
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
	if handle := startedHandle.FindStringSubmatch(it.Output); handle != nil {
		q.running[handle[1]] = len(q.out)
	}
	if diff, ok := diffOf(it, args); ok {
		it.Input = diff
		if !it.Failed {
			it.Output = ""
		}
	} else if len(it.Input) > longInput && !it.Shell() {
		it.Input = cutMiddle(it.Input, longInput)
	}
	it.Output = q.tidyOutput(it)
	q.out = append(q.out, it)
}

// startedHandle finds the handle of a command that goes on running.
var startedHandle = lazyregexp.New(`(?i)running in (?:the )?background with ID:? ([\w-]+)`)

// poll joins what a poll printed to the command that it belongs to. It reports whether the
// poll itself can go.
func (q *quieter) poll(it memoir.Item, args map[string]any) bool {
	output := pollFrame.ReplaceAllString(it.Output, "")
	if strings.TrimSpace(output) == "" {
		return !it.Failed
	}
	for _, name := range []string{"bash_id", "task_id", "shell_id", "session_id", "agentId"} {
		handle, _ := args[name].(string)
		if at, ok := q.running[handle]; ok && handle != "" {
			owner := &q.out[at]
			it.Input = owner.Input
			it.Output = strings.TrimRight(output, "\n")
			owner.Output = strings.TrimRight(owner.Output, "\n") + "\n" + q.tidyOutput(it)
			if it.Exit != nil {
				owner.Exit = it.Exit
			}
			owner.Failed = owner.Failed || it.Failed
			return true
		}
	}
	return false
}

// waits are the commands that ask how far something is.
var waits = lazyregexp.New(`\bsleep \d|\bgh (?:run (?:view|watch|list)|pr (?:checks|view|status))\b`)

// pollFrame is what a client writes around a poll's output.
var pollFrame = lazyregexp.New(`<(?:status|timestamp|retrieval_status|task_id|task_type|exit_code)>[^<]*</\w+>` +
	`|</?(?:stdout|stderr|output)>|\(no output\)`)

// arguments are those of a call whose input is a JSON object; nil otherwise.
func arguments(it memoir.Item) map[string]any {
	if it.Shell() || !strings.HasPrefix(it.Input, "{") {
		return nil
	}
	var args map[string]any
	if json.Unmarshal([]byte(it.Input), &args) != nil {
		return nil
	}
	return args
}

// foundNothing reports whether a call looked for something that is not there.
func foundNothing(it memoir.Item) bool {
	if !reads(it) {
		return false
	}
	output := strings.ToLower(strings.TrimSpace(it.Output))
	return output == "" || output == "(no output)" ||
		strings.HasPrefix(output, "no files found") || strings.HasPrefix(output, "no matches found")
}

// readTools print files, or where something stands in them.
var readTools = map[string]bool{
	"read": true, "readfile": true, "readmanyfiles": true, "view": true, "webfetch": true, "list": true, "ls": true,
	"listdirectory": true, "grep": true, "glob": true, "search": true, "find": true, "searchfilecontent": true,
}

// reads reports whether a call does no more than print what is there.
func reads(it memoir.Item) bool {
	if it.Shell() {
		return onlyLooks(it.Input)
	}
	return readTools[plainName(it.Tool)]
}

// lookers are programs that print what is there and change nothing.
var lookers = map[string]bool{
	"rg": true, "grep": true, "egrep": true, "find": true, "fd": true, "ls": true, "tree": true, "file": true,
	"cat": true, "bat": true, "less": true, "head": true, "tail": true, "nl": true, "sed": true, "awk": true, "jq": true,
	"stat": true, "sort": true, "uniq": true, "cut": true, "tr": true, "wc": true, "xargs": true,
	"cd": true, "pwd": true, "which": true, "echo": true, "true": true,
}

var shellParts = lazyregexp.New(`\|\||&&|[|;&\n]`)

// onlyLooks reports whether a command line does no more than look at things. A part that
// begins within quotes counts as a program, so that the answer is no rather than wrong.
func onlyLooks(line string) bool {
	if strings.Contains(line, " -i ") && strings.Contains(line, "sed ") ||
		strings.Contains(line, ">") && strings.Contains(line, "cat ") {
		return false
	}
	line = shellParts.ReplaceAllString(stringsOf.ReplaceAllString(line, "s"), "\n")
	for part := range strings.SplitSeq(line, "\n") {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		if words[0] == "git" && len(words) > 1 {
			switch words[1] {
			case "log", "show", "diff", "status", "grep", "ls-files", "blame", "branch", "rev-parse":
				continue
			}
		}
		if !lookers[words[0]] {
			return false
		}
	}
	return true
}

var stringsOf = lazyregexp.New(`'[^']*'|"(?:[^"\\]|\\.)*"`)

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
		lines[i] = colours.ReplaceAllString(lines[i], "")
		lines[i] = jobPrefix.ReplaceAllString(lines[i], "")
		errors[i] = bad && errorLine(lines[i], it.Failed)
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
			kept = append(kept, shortLine(line))
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
	colours      = lazyregexp.New(`\^\[\[[0-9;]*m`) // as some programs print what they log
	jobPrefix    = lazyregexp.New(`^(?:[^\t]{1,80}\t[^\t]{1,120}\t)?\d{4}-\d\d-\d\dT\d\d:\d\d:[\d.]+Z `)
	clientMark   = lazyregexp.New(`(?m)^::[\w-]+\{.*\}\n?`) // for the agent's own client
	htmlPage     = lazyregexp.New(`(?i)^\s*(?:<!doctype html|<html|<\?xml)`)
	htmlScript   = lazyregexp.New(`(?is)<(?:script|style|svg|head)\b.*?</(?:script|style|svg|head)>`)
	htmlTag      = lazyregexp.New(`<[^>\n]{0,999}>`)
	longURL      = lazyregexp.New(`https?://[^\s"'<>)\]]{120,}`)
	progressLine = lazyregexp.New(`^\s*(?:` +
		`(?:Compiling|Downloading|Downloaded|Checking|Fetching|Updating|Unpacking|Preparing|Collecting|Installing|Fresh)\b` +
		`|(?:Resolving|Extracting|Building|Adding|Locking|Linking|Selecting|Get:\d+|Setting up|Processing)\b` +
		`|Using cached|Requirement already|go: (?:downloading|extracting|finding)|npm (?:http|timing|sill|verb)` +
		`|remote: |(?:Receiving|Resolving|Counting|Compressing|Writing) (?:objects|deltas)|Progress:` +
		`|=== (?:RUN|PAUSE|CONT)|--- PASS|PASS\b|ok  \t|\?   \t|test .* \.\.\. (?:ok|ignored)$|[✓✔√] ` +
		`|\[?\d+/\d+\]?\s|[#=.█▓░⠀-⣿ ]{8,})`)
	percentage = lazyregexp.New(`\b\d{1,3}(?:\.\d+)?%`)
)

// progressRun is how many lines at the beginning are progress.
func progressRun(lines []string) int {
	for i, line := range lines {
		progress := progressLine.MatchString(line) || strings.Contains(line, "%") && percentage.MatchString(line)
		if len(line) > longLine || !progress || errorForm.MatchString(line) {
			return i
		}
	}
	return len(lines)
}

// shortLine leaves out the middle of a long line and the end of a long address. Where the line
// tells of an error, what stands around it stays.
func shortLine(line string) string {
	line = longURL.ReplaceAllStringFunc(line, func(url string) string { return url[:80] + omission })
	if len(line) <= longLine {
		return line
	}
	if at := errorWord.FindStringIndex(line); at != nil && at[0] > longLine/2 && at[0] < len(line)-longLine/4 {
		from := at[0] - longLine/8
		return firstBytes(line, longLine/3) + omission + cutMiddle(lastBytes(line, len(line)-from), longLine/2)
	}
	return cutMiddle(line, longLine)
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
	errorWord = lazyregexp.New(`(?i)\b(?:errors?|fatal|panic(?:ked)?|fail(?:ed|ure|s)?|exception|traceback)\b` +
		`|\b(?:denied|refused)\b` +
		`|\b(?:not found|no such|unable to|cannot|can't|could not|couldn't|undefined|unknown|unexpected|unrecognized)\b` +
		`|\b(?:invalid|missing|mismatch(?:ed)?|assert(?:ion)?|timed out|rejected|conflict)\b` +
		`|(?-i:\w(?:Error|Exception))\b|✗|✘|×`)
	errorForm = lazyregexp.New(`(?i)^\W*(?:npm )?(?:error|err!|fatal|panic|exception|traceback|fail|failed|E  )` +
		`(?:\b|:|\[)` +
		`|^\W*--- fail` +
		`|^\S+:\d+(?::\d+)?: |\berror(?: [A-Z]+\d+)?: |\w(?:Error|Exception): |: (?:command )?not found\b` +
		`|panicked at|assertion .*failed|exit(?:ed with)? (?:code|status)? ?[1-9]`)
	noError = lazyregexp.New(`(?i)\b(?:0|no) (?:errors?|failed|failures?)\b|^\s*(?:warning|note)\b`)
)

// formStems and wordStems are parts of lower-case lines, one of which stands in each line that
// errorForm or errorWord matches. To look for them takes a tenth of the expressions' time.
var (
	formStems = []string{": ", "err", "fail", "fatal", "panic", "exception", "traceback", "e  ", "assertion", "exit"}
	wordStems = []string{
		"err", "fail", "fatal", "panic", "exception", "traceback", "denied", "refused", "not found", "no such",
		"can", "could", "un", "invalid", "missing", "mismatch", "assert", "timed out", "rejected", "conflict",
		"✗", "✘", "×",
	}
)

// errorLine reports whether a line of a failed call's output tells what failed, or why. Where
// nothing but the output tells that the call failed, the line has to have the form of an error.
func errorLine(line string, certain bool) bool {
	if len(line) > 4*longLine {
		return false
	}
	lower := strings.ToLower(line)
	holds := func(stem string) bool { return strings.Contains(lower, stem) }
	if !(slices.ContainsFunc(formStems, holds) && errorForm.MatchString(line)) &&
		!(certain && slices.ContainsFunc(wordStems, holds) && errorWord.MatchString(line)) {
		return false
	}
	return !noError.MatchString(line)
}

// failed reports whether a call failed: the format says so, or nothing tells its status and a
// line has the form of an error.
func failed(it memoir.Item) bool {
	if it.Kind != memoir.ItemTool || it.Shell() && reads(it) {
		return false
	}
	if it.Failed || it.Exit != nil || !it.Shell() && it.Tool != "exec" {
		return it.Failed
	}
	for line := range strings.Lines(it.Output) {
		if errorLine(strings.TrimRight(line, "\n"), false) {
			return true
		}
	}
	return false
}
