package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"memoir"
)

// Summary reads the live memory_summary.md, "" if there is no memory yet. It
// opens that one file and compares nothing: it is what every session's start
// waits for. The text is as it stands on disk; see Neutralise and FitTokens.
func (r Root) Summary() (string, error) {
	for try := 1; ; try++ {
		n, err := r.linked()
		if err != nil || n == 0 {
			return "", err
		}
		text, err := r.summary(n)
		// A reader that two publications overtook finds its directory gone.
		if after, linkErr := r.linked(); err != nil && linkErr == nil && after != n && try < tries {
			continue
		}
		if errors.Is(err, errNoSummary) {
			return "", nil
		}
		return text, err
	}
}

// errNoSummary says that the live memory has no summary: a person deleted it, and
// then nothing is to be said.
var errNoSummary = errors.New("no summary")

func (r Root) summary(n int) (string, error) {
	root, err := r.openLive(n)
	if err != nil {
		return "", err
	}
	defer root.Close()
	content, err := readBounded(root, SummaryFile, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errNoSummary
	}
	if err != nil {
		return "", storageError(err, "read %s", filepath.Join(r.Live(n), SummaryFile))
	}
	return string(content), nil
}

// cutMark closes a text that was cut.
const cutMark = "(cut here; the whole memory is in memory://root/MEMORY.md)"

// FitTokens cuts a text to a number of tokens (4 bytes each) by whole lines. A
// cut text ends with a line that says where the rest is, which counts too; it
// ends neither inside a code fence nor with a heading that lost its content. A
// limit that not even that line fits gives "".
func FitTokens(text string, tokens int) string {
	if memoir.Tokens(text) <= tokens {
		return text
	}
	budget := max(tokens, 0)*4 - len(cutMark) - 1
	if budget < 0 {
		return ""
	}
	var lines []string
	size, fence := 0, -1
	for l := range strings.Lines(text) {
		if size+len(l) > budget {
			break
		}
		size += len(l)
		if trimmed := strings.TrimSpace(l); strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			if fence < 0 {
				fence = len(lines)
			} else {
				fence = -1
			}
		}
		lines = append(lines, l)
	}
	if fence >= 0 {
		lines = lines[:fence]
	}
	for len(lines) > 0 {
		if last := strings.TrimSpace(lines[len(lines)-1]); last != "" && !heading(last) {
			break
		}
		lines = lines[:len(lines)-1]
	}
	kept := strings.Join(lines, "")
	if kept != "" && !strings.HasSuffix(kept, "\n") {
		kept += "\n"
	}
	return fmt.Sprintf("%s%s\n", kept, cutMark)
}
