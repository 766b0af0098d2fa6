package project

import (
	"strings"

	"memoir/internal/lazyregexp"
)

type remote struct{ name, url string }

var remoteSection = lazyregexp.New(`(?i)^\[\s*remote\s+"(.+)"\s*\]`)

// remotes reads the remotes of a git configuration file in the order in which they stand
// there, each with its first URL, the one that git fetches from. Included files and insteadOf
// are not applied. A file that is missing or broken gives what could be read of it.
func remotes(file string) (out []remote) {
	name := ""
	for line := range strings.Lines(strings.TrimPrefix(readSmall(file), "\ufeff")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name = ""
			if m := remoteSection.FindStringSubmatch(line); m != nil {
				name = m[1]
			}
			continue
		}
		key, url, _ := strings.Cut(line, "=")
		if name == "" || !strings.EqualFold(strings.TrimSpace(key), "url") {
			continue
		}
		url, _, _ = strings.Cut(url, " #")
		url, _, _ = strings.Cut(url, " ;")
		if url = strings.Trim(url, " \t\""); url != "" {
			out = append(out, remote{name, url})
			name = ""
		}
	}
	return out
}
