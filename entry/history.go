package entry

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/lazyregexp"
	"memoir/memory"
)

// maxHistory bounds a history that is read, in bytes.
const maxHistory = 256 << 20

// Times in a history, by UTC.
const (
	historyHead  = "## 2006-01-02T15:04:05.000Z"
	historyStamp = "[2006-01-02 15:04] "
)

// FileHistory adds a paragraph on every newly extracted session to HISTORY.md of its project and to the file of its
// month. Each is added exactly once, even if a process dies.
func (b Book) FileHistory(ctx context.Context) error {
	return b.Store.FileHistory(ctx, func(projectID string, sessions []memoir.Extraction) error {
		root := memory.At(b.Home, projectID)
		texts := map[string][]string{} // by month, "" is of all
		for _, e := range sessions {
			for _, month := range []string{"", e.EndedAt.UTC().Format("2006-01")} {
				texts[month] = append(texts[month], paragraph(e))
			}
		}
		for _, month := range slices.Sorted(maps.Keys(texts)) {
			if err := extend(root, root.History(month), texts[month]); err != nil {
				return err
			}
		}
		return nil
	})
}

func extend(root memory.Root, path string, texts []string) error {
	content, err := disk.ReadIn(root.Dir(), path, maxHistory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storageError(err, "read %s", path)
	}
	var missing strings.Builder
	if len(content) > 0 && content[len(content)-1] != '\n' { // an editor left it so
		missing.WriteByte('\n')
	}
	for _, text := range texts {
		if !strings.Contains(string(content), text) {
			missing.WriteString(text)
		}
	}
	if strings.TrimSpace(missing.String()) == "" {
		return nil
	}
	return Append(root, path, missing.String())
}

// paragraph is what a history says of a session: the model's words, else what was asked, and what became of it.
func paragraph(e memoir.Extraction) string {
	parts := []string{memoir.ShortTitle(e.Title)}
	for _, s := range e.Statements {
		if s.Kind == memoir.StatementTask || s.Kind == memoir.StatementOutcome {
			parts = append(parts, s.Text)
		}
	}
	if e.HistoryEntry != "" {
		parts = []string{e.HistoryEntry}
	} else if slices.ContainsFunc(parts[1:], func(text string) bool { return strings.Contains(text, parts[0]) }) {
		parts = parts[1:]
	}
	ended := e.EndedAt.UTC()
	return ended.Format(historyHead) + "\n\n" + ended.Format(historyStamp) +
		memory.Neutralise(strings.Join(parts, "; ")) + " (" + e.SessionKey + ")\n\n"
}

// historyTime matches the time in a heading, or that before a text.
var historyTime = lazyregexp.New(`(?m)^(## |\[)\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d\.\d{3}Z$| \d\d:\d\d\] )`)

// InZone returns a history with its times in a form for people.
func InZone(history string, form func(time.Time) string) string {
	return historyTime.ReplaceAllStringFunc(history, func(text string) string {
		if at, err := time.Parse(historyHead, text); err == nil {
			return "## " + form(at)
		} else if at, err = time.Parse(historyStamp, text); err == nil {
			return "[" + form(at) + "] "
		}
		return text
	})
}

// History is a project's history, or that of a month (2026-07), without secrets; "" if there is none.
func (b Book) History(projectID, month string) (string, error) {
	if _, err := time.Parse("2006-01", month); err != nil && month != "" {
		return "", usage("use a month such as 2026-07", "%q is not a month", cut(month))
	}
	root := memory.At(b.Home, projectID)
	path := root.History(month)
	content, err := disk.ReadIn(root.Dir(), path, maxHistory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", storageError(err, "read %s", path)
	}
	return b.Redact(string(content)), nil
}
