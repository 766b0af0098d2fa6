package consolidate

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

const (
	general     = "General"
	foreignArea = "Another repository: "
)

// areas groups claims by the part of the repository that they are about: the
// directory of the files they name, else the one in which most of their
// session's work lay. An area of one claim joins the directory above it, and at
// last the general part; what is about another repository stands apart. The groups come with the largest support first.
func areas(claims []*claim, home map[*session]string) []group {
	place := map[*claim]string{}
	foreign := map[*claim]string{}
	for _, c := range claims {
		if other := elsewhere(c.text); other != "" {
			foreign[c] = other
			c.text = strings.Replace(c.text, foreignMark+other+")", "", 1)
			continue
		}
		place[c] = areaOf(c.text)
		if place[c] == "" {
			place[c] = home[c.newest()]
		}
	}
	for _, depth := range []int{3, 2, 1} {
		count := map[string]int{}
		for _, a := range place {
			count[a]++
		}
		for _, c := range claims {
			if a := place[c]; a != "" && strings.Count(a, "/")+1 >= depth && count[a] < 2 {
				if place[c] = path.Dir(a); place[c] == "." {
					place[c] = ""
				}
			}
		}
	}
	byName := map[string]*group{}
	for _, c := range claims {
		name := place[c]
		if name == "" {
			name = general
		}
		if other := foreign[c]; other != "" {
			name = foreignArea + oneLine(other)
		}
		if byName[name] == nil {
			byName[name] = &group{name: name}
		}
		byName[name].claims = append(byName[name].claims, c)
	}
	out := make([]group, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, *byName[name])
	}
	slices.SortStableFunc(out, func(a, b group) int {
		if last := func(g group) int {
			switch {
			case strings.HasPrefix(g.name, foreignArea):
				return 2
			case g.name == general:
				return 1
			}
			return 0
		}; last(a) != last(b) {
			return last(a) - last(b)
		}
		return cmp.Compare(len(b.claims), len(a.claims))
	})
	return out
}

type group struct {
	name   string
	claims []*claim
}

// areaOf is the directory, at most two levels deep, of the first file that a text names in a code span.
func areaOf(text string) string {
	parts := strings.Split(text, "`")
	for i := 1; i < len(parts); i += 2 {
		span := parts[i]
		if file, _, ok := strings.Cut(span, ":"); ok {
			span = file
		}
		if a := dirOf(span); a != "" {
			return a
		}
	}
	return ""
}

// dirOf is the directory of a relative path to a file with an extension, at most
// two levels deep.
func dirOf(p string) string {
	p = strings.TrimPrefix(p, "./")
	if p == "" || strings.ContainsAny(p, " \t*{}()<>=$@|&;,'\"") || strings.HasPrefix(p, "/") || strings.HasPrefix(p, ".") || strings.HasPrefix(p, "~") || strings.Contains(p, "//") || strings.Contains(p, "..") {
		return ""
	}
	if ext := path.Ext(p); len(ext) < 2 || len(ext) > 6 {
		return ""
	}
	dir := path.Dir(p)
	if dir == "." {
		return ""
	}
	elems := strings.Split(dir, "/")
	return strings.Join(elems[:min(2, len(elems))], "/")
}

// homes tells where most of each session's changed files lie: a directory that
// holds at least two thirds of them.
func homes(sessions []*session) map[*session]string {
	out := map[*session]string{}
	for _, s := range sessions {
		count := map[string]int{}
		total := 0
		for _, st := range s.statements {
			if st.Kind != "Files" || !strings.Contains(st.Text, "changed") {
				continue
			}
			name, _, _ := splitCommand(st.Text)
			total++
			if d := dirOf(name); d != "" {
				count[d]++
				if top, _, deep := strings.Cut(d, "/"); deep {
					count[top]++
				}
			}
		}
		best := ""
		for _, d := range slices.Sorted(maps.Keys(count)) {
			if count[d]*3 >= total*2 && (best == "" || count[d] > count[best] || count[d] == count[best] && len(d) > len(best)) {
				best = d
			}
		}
		out[s] = best
	}
	return out
}
