package extract

import (
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// CutMark marks omitted text, with a space on either side. The prompt of Phase 1 names it.
const CutMark = "[…]"

const omission = " " + CutMark + " "

const (
	longLine  = 600 // bytes; of a longer line of output, both ends are kept
	longInput = 4000
	sameLine  = 20 // least bytes of a line that is removed as a repetition
	fewLines  = 5  // outputs of at most so many lines keep repeated ones
)

// A reading is an item with its properties for the selection.
type reading struct {
	memoir.Item
	looks, bad bool // the call only reads; it failed
}

// quiet removes noise: calls that only keep a plan, reads and polls without new output, repeated lines, progress, HTML,
// the middle of long lines. An edit becomes a diff of its changed lines. Items keep their numbers.
func quiet(items []memoir.Item) []reading {
	var out []reading
	q := quieter{printed: map[string]bool{}, parser: newShellParser()}
	for _, it := range items {
		if it.Kind != memoir.ItemTool {
			if strings.TrimSpace(it.Text) != "" {
				out = append(out, reading{Item: it})
			}
			continue
		}
		name := plainName(it.Tool)
		if planTools[name] && !it.Origin.ByPerson() {
			continue
		}
		looks := pollTools[name] || q.looks(it)
		it.Input = strings.Trim(it.Input, "\n")
		if diff, ok := EditOf(&it); ok {
			if it.Input = diff; !it.Failed {
				it.Output = ""
			}
		} else if !it.Shell() {
			it.Input = cutMiddle(it.Input, longInput)
		}
		bad := failed(it, looks)
		it.Output = q.tidy(it.Output, bad, looks)
		if looks && !bad && !it.Origin.ByPerson() && foundNothing(it.Output) {
			continue
		}
		out = append(out, reading{it, looks, bad})
	}
	return out
}

// A quieter records the lines printed so far.
type quieter struct {
	printed map[string]bool
	parser  *shellParser
}

// planTools only keep the agent's own task list, or look for tools.
var planTools = memoir.SetOf("todowrite todoread updateplan writetodos todo think taskcreate taskupdate tasklist " +
	"taskget enterplanmode toolsearch")

// pollTools read further output of a running command, or end it.
var pollTools = memoir.SetOf("bashoutput taskoutput agentoutputtool writestdin wait process killshell killbash " +
	"taskstop")

var readTools = memoir.SetOf("read readfile readmanyfiles view webfetch list ls listdirectory grep glob search " +
	"find searchfilecontent")

// plainName returns a tool's name in lower case, without underscores.
func plainName(tool string) string { return strings.ReplaceAll(strings.ToLower(tool), "_", "") }

// pollFrame matches the frame that clients write around a poll's output.
var pollFrame = lazyregexp.New(`<(?:status|timestamp|retrieval_status|task_id|task_type|exit_code)>[^<]*</\w+>` +
	`|</?(?:stdout|stderr|output)>|\(no output\)`)

// foundNothing reports whether an output is empty, or has no result or nothing new.
func foundNothing(output string) bool {
	if len(output) > longLine {
		return false
	}
	output = strings.ToLower(strings.TrimSpace(pollFrame.ReplaceAllString(output, "")))
	return output == "" || output == CutMark || strings.HasPrefix(output, "no files found") ||
		strings.HasPrefix(output, "no matches found")
}

var lookers = memoir.SetOf("rg grep egrep find fd ls tree file cat bat less head tail nl sed awk jq stat sort uniq " +
	"cut tr wc xargs pwd which echo true")

var gitLooks = memoir.SetOf("log show diff status grep ls-files blame branch rev-parse")

func (q *quieter) looks(it memoir.Item) bool {
	if !it.Shell() {
		return readTools[plainName(it.Tool)]
	}
	runs, wrote := q.parser.parse(it.Input, "")
	for _, r := range runs {
		if r.target != "" && r.target != "/dev/null" || slices.ContainsFunc(r.args, inPlace) ||
			!lookers[r.program] && !(r.program == "git" && len(r.args) > 0 && gitLooks[r.args[0]]) {
			return false
		}
	}
	return len(runs) > 0 && len(wrote) == 0 && !q.parser.partial
}

// tidy returns a call's output without noise. Repeated lines of a failure are kept.
func (q *quieter) tidy(output string, bad, looks bool) string {
	if htmlPage.MatchString(output[:min(len(output), 2000)]) {
		output = htmlTag.ReplaceAllString(htmlScript.ReplaceAllString(output, ""), "")
	}
	lines := strings.Split(output, "\n")
	var kept []string
	for i, line := range lines {
		line = strings.TrimRight(line, " \t\r")
		again, cut := q.again(line), len(kept) > 0 && kept[len(kept)-1] == CutMark
		switch {
		case again && !bad && len(lines) > fewLines, progress(line) && i+1 < len(lines) && progress(lines[i+1]):
			if !cut { // the last line of progress stays
				kept = append(kept, CutMark)
			}
		case cut && looks && len(strings.TrimSpace(line)) < sameLine: // a brace between repeated lines
		case line == "" && (len(kept) == 0 || kept[len(kept)-1] == ""):
		default:
			kept = append(kept, cutMiddle(line, longLine))
		}
	}
	return strings.Trim(strings.Join(kept, "\n"), "\n")
}

// again reports whether a line was printed before, whatever its line number.
func (q *quieter) again(line string) bool {
	line = strings.TrimSpace(linePrefix.ReplaceAllString(line, ""))
	before := q.printed[line]
	q.printed[line] = len(line) >= sameLine
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

// errorText matches lines that report a failure or its cause.
var errorText = lazyregexp.New(`(?i)\b(?:err(?:or)?s?|fatal|panic(?:ked)?|fail(?:ed|ure|s)?|exception|traceback)\b` +
	`|\b(?:denied|refused|not found|no such|unable to|cannot|can't|could not|undefined|unknown|unexpected)\b` +
	`|\b(?:unrecognized|invalid|missing|mismatch|assert(?:ion)?|timed out|rejected|conflict)\b` +
	`|(?-i:\w(?:Error|Exception))\b|[✗✘×]`)

func progress(line string) bool { return len(line) <= longLine && progressLine.MatchString(line) }

// cutMiddle cuts a text to a number of bytes; a third of them is its end.
func cutMiddle(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n*2/3], "") + omission + strings.ToValidUTF8(text[len(text)-n/3:], "")
}

// failed reports whether a call failed: by its recorded status, or, if that is unknown and the
// call does not only read, by a line of its output.
func failed(it memoir.Item, looks bool) bool {
	if it.Failed || it.Exit != nil || !it.Shell() && it.Tool != "exec" {
		return it.Failed && !(looks && it.Shell())
	}
	return !looks && failureLine(it.Output) != ""
}
