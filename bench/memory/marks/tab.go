package marks

import (
	"regexp"
	"strings"
)

var (
	blockHeader = regexp.MustCompile(`^((?: |- )*)[^ #'"-][^:]*: ([|>])([-+]?)$`)
	tabFirst    = regexp.MustCompile(`^( +)\t`)
)

// Indented states the indentation of each block of text that begins with a tab, such
// as a line of a Makefile: the parser, unlike YAML, does not see by itself where such
// a block begins. The lines keep their numbers.
func Indented(data []byte) []byte {
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		header := blockHeader.FindStringSubmatch(line)
		if header == nil {
			continue
		}
		next := i + 1
		for next < len(lines) && strings.TrimSpace(lines[next]) == "" {
			next++
		}
		if next == len(lines) {
			break
		}
		first := tabFirst.FindStringSubmatch(lines[next])
		if first == nil {
			continue
		}
		if more := len(first[1]) - len(header[1]); more >= 1 && more <= 9 {
			lines[i] = strings.TrimSuffix(line, header[2]+header[3]) + header[2] + string(rune('0'+more)) + header[3]
		}
	}
	return []byte(strings.Join(lines, "\n"))
}
