package extract

import (
	"slices"
	"strings"

	"memoir"
)

// rename follows what a call did to the names of earlier commits: a rebase makes them
// anew, and who deletes a branch leaves those on it to nobody. A listing of commits names
// them again by their subjects.
func rename(list []*posting, it *memoir.Item) {
	if !it.Shell() {
		return
	}
	if strings.Contains(it.Output, "Successfully rebased") {
		for _, p := range newest(list) {
			if p.kind == postCommit && p.item < it.N {
				p.commit, p.moved = "", true
			}
		}
	}
	if strings.Contains(it.Output, "Deleted branch ") {
		for _, m := range branchless.FindAllStringSubmatch(it.Output, maxAlike) {
			for _, p := range newest(list) {
				if p.commit != "" && (strings.HasPrefix(m[1], p.commit) || strings.HasPrefix(p.commit, m[1])) {
					p.commit, p.moved = "", true
				}
			}
		}
	}
	var lost []*posting
	for _, p := range newest(list) {
		if p.moved && p.commit == "" && !p.void && p.item < it.N && strings.Contains(it.Output, p.title) {
			lost = append(lost, p)
		}
	}
	if len(lost) == 0 {
		return
	}
	for _, m := range logged.FindAllStringSubmatch(it.Output, -1) {
		at := slices.IndexFunc(lost, func(p *posting) bool { return p.title == strings.TrimSpace(m[2]) })
		if at >= 0 {
			lost[at].commit = m[1]
		}
	}
}

var (
	branchless = newPattern(`(?m)^Deleted branch \S+ \(was ([0-9a-f]{7,40})\)`)
	logged     = newPattern(`(?m)^(?:[*|] )?([0-9a-f]{7,40})(?: \([^)\n]*\))? (.+)$`)
)

// leave makes the commits of a branch void that was given up.
func leave(list []*posting, branch string) {
	for _, p := range newest(list) {
		if p.kind == postCommit && branch != "" && p.branch == branch {
			p.void = true
		}
	}
}
