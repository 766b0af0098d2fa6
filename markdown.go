package memoir

import (
	"slices"
	"strings"

	"memoir/internal/lazyregexp"
)

// A Block is a line of a Markdown text that is not blank, without the space at its end, or a whole fenced code block.
type Block struct {
	Text  string
	Apart bool // a blank line is above it
}

// Fence parses a line as a code fence: the spaces before it, its marks, and the info string. mark is empty if the
// line is not a fence.
func Fence(l string) (indent int, mark, info string) {
	rest := strings.TrimLeft(l, " ")
	indent = len(l) - len(rest)
	if rest == "" || rest[0] != '`' && rest[0] != '~' {
		return indent, "", ""
	}
	info = strings.TrimLeft(rest, rest[:1])
	mark = rest[:len(rest)-len(info)]
	if info = strings.TrimSpace(info); len(mark) < 3 || mark[0] == '`' && strings.Contains(info, "`") {
		return indent, "", ""
	}
	return indent, mark, info
}

// Blocks splits a Markdown text. A code block ends with a fence of the same marks, at least as many, and no info
// string. A fence that nothing closes is a line like any other, so that headings below it stay headings.
func Blocks(text string) (out []Block) {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	open := map[byte]int{} // by mark: how long the shortest fences that nothing closes are
	apart := false
	for i := 0; i < len(lines); i++ {
		l := strings.TrimRight(lines[i], " \t\r")
		if l == "" {
			apart = true
			continue
		}
		if _, mark, _ := Fence(strings.TrimLeft(l, "\t")); mark != "" && (open[mark[0]] == 0 || len(mark) < open[mark[0]]) {
			end := slices.IndexFunc(lines[i+1:], func(l string) bool {
				_, closing, info := Fence(strings.TrimLeft(l, "\t"))
				return strings.HasPrefix(closing, mark) && info == ""
			})
			if end < 0 {
				open[mark[0]] = len(mark)
			} else {
				l = strings.TrimRight(strings.Join(lines[i:i+end+2], "\n"), " \t\r")
				i += end + 1
			}
		}
		out = append(out, Block{l, apart})
		apart = false
	}
	return out
}

// JoinBlocks makes a text from blocks. Headings have blank lines around them.
func JoinBlocks(blocks []Block) string {
	var b strings.Builder
	for i, one := range blocks {
		if i > 0 && (one.Apart || IsHeading(one.Text) || IsHeading(blocks[i-1].Text)) {
			b.WriteByte('\n')
		}
		b.WriteString(one.Text + "\n")
	}
	return b.String()
}

// IsCitedID reports whether an id has the form of those in citations.
func IsCitedID(id string) bool { return citedAlone.MatchString(id) }

const citedID = `(?:(?:codex|claude|pi|omp|opencode|gemini|unknown)-[\w.-]+|(?:note|journal)-\d+|ses_\w+|` +
	`\w[\w.-]*-\d{8}T\d{6}[.\d]*|[A-Za-z0-9][\w.-]*-[0-9a-f]{8,}|[0-9a-f]{8}[0-9a-f-]*)`

const citedOn = citedID + ` \d{4}-\d{2}-\d{2}`

var citedAlone = lazyregexp.New(`^` + citedID + `$`)
var citation = lazyregexp.New(` *\[` + citedOn + `(?:, (?:` + citedOn + `|\+\d+))*\]\.?$`)

// BlockKey returns a block of a memory without the citation and the mark of SaidOnce at its end. Blocks with the same
// key are equal.
func BlockKey(text string) string {
	text = strings.TrimRight(strings.TrimLeft(text, "\n"), " \t\r\n")
	if strings.HasSuffix(strings.TrimSuffix(text, "."), "]") {
		text = citation.ReplaceAllString(text, "")
	}
	return strings.TrimSuffix(text, OnceMark(text))
}
