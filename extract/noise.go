package extract

import (
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// CutMark stands where something of a text was left out, with a space on either side. The
// prompt of Phase 1 names it.
const CutMark = "[…]"

const omission = " " + CutMark + " "

const (
	longLine  = 600 // bytes; of a longer line in what a tool printed, the ends are kept
	longInput = 4000
	sameLine  = 20 // bytes of a line that is not printed twice
	fewLines  = 5  // of an output that is not looked through for known lines
)

// A reading is an item with what choosing of it has to know.
type reading struct {
	memoir.Item
	looks, bad bool // the call only prints what is there; it failed
}

// quiet leaves out what says nothing of a session: calls that only keep a plan, looks and polls
// that show nothing new, lines that were printed before, progress, HTML, the middle of long
// lines. An edit becomes a diff of its changed lines. Numbers of items stay as they are.
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

// A quieter knows what was printed already.
type quieter struct {
	printed map[string]bool
	parser  *shellParser
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

// pollFrame is what a client writes around a poll's output.
var pollFrame = lazyregexp.New(`<(?:status|timestamp|retrieval_status|task_id|task_type|exit_code)>[^<]*</\w+>` +
	`|</?(?:stdout|stderr|output)>|\(no output\)`)

// foundNothing reports whether an output says that there is nothing, or nothing new.
func foundNothing(output string) bool {
	if len(output) > longLine {
		return false
	}
	output = strings.ToLower(strings.TrimSpace(pollFrame.ReplaceAllString(output, "")))
	return output == "" || output == CutMark || strings.HasPrefix(output, "no files found") ||
		strings.HasPrefix(output, "no matches found")
}

// lookers are programs that print what is there and change nothing.
var lookers = words("rg grep egrep find fd ls tree file cat bat less head tail nl sed awk jq stat sort uniq cut tr " +
	"wc xargs pwd which echo true")

// gitLooks are the subcommands of git that do.
var gitLooks = words("log show diff status grep ls-files blame branch rev-parse")

// looks reports whether a call does no more than print what is there.
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

// tidy is what a call printed, without what says nothing. Nothing of a failure counts as known.
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
		case cut && looks && len(strings.TrimSpace(line)) < sameLine: // a brace between lines that are known
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

// errorText is in a line that tells what failed, or why.
var errorText = lazyregexp.New(`(?i)\b(?:err(?:or)?s?|fatal|panic(?:ked)?|fail(?:ed|ure|s)?|exception|traceback)\b` +
	`|\b(?:denied|refused|not found|no such|unable to|cannot|can't|could not|undefined|unknown|unexpected)\b` +
	`|\b(?:unrecognized|invalid|missing|mismatch|assert(?:ion)?|timed out|rejected|conflict)\b` +
	`|(?-i:\w(?:Error|Exception))\b|[✗✘×]`)

func progress(line string) bool { return len(line) <= longLine && progressLine.MatchString(line) }

// cutMiddle cuts a text that is longer than a number of bytes: a third of what is kept is its end.
func cutMiddle(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n*2/3], "") + omission + strings.ToValidUTF8(text[len(text)-n/3:], "")
}

// failed reports whether a call failed: the format says so, or nothing tells its status and a
// line of what it printed, where it does more than look, does.
func failed(it memoir.Item, looks bool) bool {
	if it.Failed || it.Exit != nil || !it.Shell() && it.Tool != "exec" {
		return it.Failed && !(looks && it.Shell())
	}
	return !looks && failureLine(it.Output) != ""
}
