package extract

import (
	"slices"
	"strings"

	"memoir"
)

// Bounds of ResultText, in bytes.
const (
	maxErrorLine    = 200
	maxPassedResult = 4 << 10 // of the result of a call that did not fail, its beginning and end
)

// reportWords are in lines in which programs report an error, and seldom in others.
var reportWords = []string{"rror:", "rror[", "ERROR", "fatal", "panic:", "FAIL", "ailed", "xception", "raceback",
	"denied", "not found", "o such file", "annot ", "undefined", "✗", "✘"}

func reportsError(text string) bool {
	return slices.ContainsFunc(reportWords, func(word string) bool { return strings.Contains(text, word) })
}

// ResultText returns of a result the first lines that report an error, and the last lines if a command or a failed call
// gave it, in at most most bytes. Other results have none. reports says whether the call failed or a line reports an
// error.
func ResultText(it memoir.Item, most int) (text string, reports bool) {
	if it.Kind != memoir.ItemTool || !it.Shell() && !it.Failed {
		return "", false
	}
	output := it.Output
	if !it.Failed {
		output = cutMiddle(output, maxPassedResult)
	}
	output = strings.TrimSpace(memoir.Visible(output))
	var lines []string
	take := func(line string) bool {
		line = memoir.CutBytes(strings.TrimSpace(line), maxErrorLine, "…")
		fits := len(line) < most
		if fits && line != "" && !slices.Contains(lines, line) {
			lines, most = append(lines, line), most-len(line)-1
		}
		return fits
	}
	if reportsError(output) {
		for line := range strings.Lines(output) {
			if reportsError(line) && !take(line) {
				break
			}
		}
	}
	errors := len(lines)
	for end := output; end != "" && most > 0; {
		at := strings.LastIndexByte(end, '\n')
		if !take(end[at+1:]) {
			break
		}
		end = end[:max(at, 0)]
	}
	slices.Reverse(lines[errors:])
	return strings.Join(lines, "\n"), it.Failed || errors > 0
}
