package extract

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

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

	progressRun = 2  // lines after one that make it progress
	jsonHead    = 64 // bytes of an output in which an object begins, if it is JSON
)

// A reading is an item with its properties for the selection.
type reading struct {
	memoir.Item
	looks, bad bool  // the call only reads; it failed
	told       bool  // its output was JSON, of which the texts are left
	same       []int // numbers of earlier calls with the same input and result, which are left out
}

// quiet removes noise: calls that only keep a plan, reads and polls without new output, repeated calls and lines,
// progress, HTML, the frame of JSON, the middle of long lines. An edit becomes a diff of its changed lines. Items keep
// their numbers.
func quiet(items []memoir.Item) []reading {
	var out []reading
	q := quieter{printed: map[string]bool{}, words: map[string]bool{}, parser: newShellParser()}
	rounds := map[string][]int{} // the numbers of equal calls
	for i := range items {
		key := round(&items[i])
		rounds[key] = append(rounds[key], items[i].N)
	}
	for i, it := range items {
		if it.Kind == memoir.ItemSummary {
			it.Text = q.lacking(it.Text, items[:i])
		}
		if it.Kind != memoir.ItemTool {
			if strings.TrimSpace(it.Text) != "" {
				out = append(out, reading{Item: it})
			}
			continue
		}
		name, same := plainName(it.Tool), rounds[round(&it)]
		if planTools[name] && !it.Origin.ByPerson() || it.N < same[len(same)-1] {
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
		told := false
		if !looks {
			it.Output, told = textsOf(it.Output)
		}
		it.Output = q.tidy(it.Output, bad, looks || told)
		if looks && !bad && !it.Origin.ByPerson() && foundNothing(it.Output) {
			continue
		}
		out = append(out, reading{it, looks, bad, told, same[:len(same)-1]})
	}
	return out
}

// lacking returns the lines of a summary of which the items before it lack a tenth of the words or more.
func (q *quieter) lacking(summary string, before []memoir.Item) (kept string) {
	for _, it := range before[q.read:] {
		for word := range strings.FieldsFuncSeq(it.Text+"\n"+it.Input+"\n"+it.Output, notOfWord) {
			q.words[word] = true
		}
	}
	q.read = len(before)
	for line := range strings.Lines(summary) {
		all, fresh := 0, 0
		for word := range strings.FieldsFuncSeq(line, notOfWord) {
			if all++; !q.words[word] {
				fresh++
			}
		}
		if len(before) == 0 || fresh > 0 && 10*fresh >= all {
			kept += line
		}
	}
	return kept
}

func notOfWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// round is the same for calls with an equal input and result, whatever their numbers, times and hashes.
func round(it *memoir.Item) string {
	if !it.Shell() || it.Origin.ByPerson() || it.Output == "" {
		return strconv.Itoa(it.N)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%v\n", it.CWD, it.Input, it.Failed)
	for word := range strings.FieldsFuncSeq(it.Output, notOfWord) {
		if !strings.ContainsAny(word, "0123456789") {
			b.WriteString(word + " ")
		}
	}
	return b.String()
}

// textsOf returns the texts and small numbers of a long JSON document, which may be cut, each after its name. It leaves
// out what only programs need: addresses, identifiers, empty values.
func textsOf(output string) (texts string, found bool) {
	if len(output) <= longLine || !strings.Contains(output[:jsonHead], `{"`) {
		return output, false
	}
	var b strings.Builder
	size := 0
	for _, m := range jsonMember.FindAllStringSubmatch(output, -1) {
		size += len(m[0])
		text := m[3]
		if m[2] != "" {
			_ = json.Unmarshal([]byte(m[2]), &text) // what is no text is left out
		}
		text = strings.TrimSpace(text)
		if text != "" && (strings.ContainsAny(text, " \n") || !forPrograms.MatchString(text)) {
			b.WriteString(m[1] + ": " + text + "\n")
		}
	}
	if 2*size < len(output) {
		return output, false
	}
	return htmlElement.ReplaceAllString(clean(b.String()), ""), true // what escapes hid
}

var (
	jsonMember = lazyregexp.New(`"([\w-]+)":\s*(?:("(?:[^"\\]|\\.)*")|([1-9]\d{0,5})\b|0|null|true|false|\d+)`)
	// forPrograms matches an address, and an identifier that is no word, path or hash.
	forPrograms = lazyregexp.New(`://|^[A-Z]+_[\w-]{8,}={0,2}$|^[\w+/-]{24,}={0,2}$`)
)

// A quieter records the lines printed so far, and the words of the items that were read for a summary.
type quieter struct {
	printed, words map[string]bool
	read           int
	parser         *shellParser
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
	lines := strings.Split(strings.TrimRight(output, " \t\r\n"), "\n")
	var kept []string
	for i, line := range lines {
		line = strings.TrimRight(line, " \t\r")
		again, cut := q.printed[sameAs(line)], len(kept) > 0 && kept[len(kept)-1] == CutMark
		again = again && !bad && len(lines) > fewLines && (looks || i+1 < len(lines)) // the last line is the result
		switch {
		case again, !looks && progress(lines, i):
			if !cut { // the last line of progress stays
				kept = append(kept, CutMark)
			}
		case cut && looks && len(strings.TrimSpace(line)) < sameLine: // a brace between repeated lines
		case line == "" && (len(kept) == 0 || kept[len(kept)-1] == ""):
		default:
			kept = append(kept, cutMiddle(line, longLine))
		}
	}
	for _, line := range lines { // only another output repeats them
		line = sameAs(line)
		q.printed[line] = len(line) >= sameLine
	}
	return strings.Trim(strings.Join(kept, "\n"), "\n")
}

// sameAs returns what two prints of a line share, whatever its line number.
func sameAs(line string) string { return strings.TrimSpace(linePrefix.ReplaceAllString(line, "")) }

var (
	linePrefix  = lazyregexp.New(`^\s*(?:[\w./@+-]*[\w/][:-])?\d+(?:[:→\t-]|\s\s)\d*:?`)
	htmlPage    = lazyregexp.New(`(?i)^\s*(?:<!doctype html|<html|<\?xml)`)
	htmlScript  = lazyregexp.New(`(?is)<(?:script|style|svg|head)\b.*?</(?:script|style|svg|head)>`)
	htmlElement = lazyregexp.New(`<[a-z]+\s[^>\n]*>|</[a-z]+>`)
	htmlTag     = lazyregexp.New(`<[^>\n]{0,999}>`)
)

// errorText matches lines that report a failure or its cause.
var errorText = lazyregexp.New(`(?i)\b(?:err(?:or)?s?|fatal|panic(?:ked)?|fail(?:ed|ure|s)?|exception|traceback)\b` +
	`|\b(?:denied|refused|not found|no such|unable to|cannot|can't|could not|undefined|unknown|unexpected)\b` +
	`|\b(?:unrecognized|invalid|missing|mismatch|assert(?:ion)?|timed out|rejected|conflict)\b` +
	`|(?-i:\w(?:Error|Exception))\b|[✗✘×]`)

// progress reports whether the lines after one go on like it: they begin with the same word, which is no bullet.
func progress(lines []string, at int) bool {
	word := beginning(lines[at])
	return len(word) > 1 && at+progressRun < len(lines) && !slices.ContainsFunc(lines[at+1:at+1+progressRun],
		func(line string) bool { return beginning(line) != word }) && !errorText.MatchString(lines[at])
}

func beginning(line string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(line[:min(len(line), longLine)]), " ")
	return strings.Trim(word, "0123456789")
}

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
