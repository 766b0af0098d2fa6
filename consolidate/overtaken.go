package consolidate

import (
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// What an outcome says of files that are no more, or have another name.
var (
	gone    = lazyregexp.New("\\b(?:[Rr]emoved|[Dd]eleted) (?:the )?(?:(?:old|unused|dead|obsolete) )?(?:files? )?(`[^` ]+`(?: \\([^)]*\\))?(?:(?:, and |, | and )`[^` ]+`(?: \\([^)]*\\))?)*)(?:[.,;]|$)")
	renamed = lazyregexp.New("(?:\\b(?:[Rr]enamed|[Mm]oved) |, )`([^` ]+)` (?:→|->|to|into) `([^` ]+)`")
	inSpan  = lazyregexp.New("`([^` ]+)`")
)

// A removal is a file that a session took away, and its new name if it has one.
type removal struct {
	file, to string
	rank     int
}

// removals lists the files that the sessions removed or renamed.
func removals(sessions []*session) []removal {
	var out []removal
	for _, s := range sessions {
		there := map[string]bool{} // again, under a name that was taken away
		from := len(out)
		for _, st := range s.statements {
			if st.Kind != memoir.StatementOutcome || elsewhere(st.Text) != "" {
				continue
			}
			for _, m := range gone.FindAllStringSubmatch(st.Text, -1) {
				for _, span := range inSpan.FindAllStringSubmatch(m[1], -1) {
					if isFile(span[1]) {
						out = append(out, removal{file: span[1], rank: s.rank})
					}
				}
			}
			for _, m := range renamed.FindAllStringSubmatch(st.Text, -1) {
				if isFile(m[1]) && isFile(m[2]) {
					out = append(out, removal{file: m[1], to: m[2], rank: s.rank})
					there[m[2]] = true
				}
			}
		}
		out = append(out[:from], slices.DeleteFunc(out[from:], func(r removal) bool { return there[r.file] })...)
	}
	return out
}

func isFile(name string) bool {
	ext := path.Ext(name)
	return len(ext) > 1 && len(ext) < 8 && !strings.ContainsAny(name, "()*{}=$") && strings.Trim(ext[1:], "0123456789") != ""
}

// names reports whether a path is the removed file: the path itself, or one that ends in it.
func (r removal) names(p string) bool {
	return p == r.file || strings.Contains(r.file, "/") && strings.HasSuffix(p, "/"+r.file)
}

// leave takes out the lines on files that a later session removed; a file that it moved is
// told under its new name.
func leave(files []*claim, removals []removal) []*claim {
	for _, r := range removals {
		files = slices.DeleteFunc(files, func(c *claim) bool {
			name, _, _ := splitCommand(c.text)
			if !r.names(name) || c.newest().rank > r.rank {
				return false
			}
			if !strings.Contains(r.to, "/") {
				return true
			}
			if slices.ContainsFunc(files, func(o *claim) bool { have, _, _ := splitCommand(o.text); return have == r.to }) {
				return true
			}
			c.text, c.tokens = strings.Replace(c.text, "`"+name+"`", "`"+r.to+"`", 1), nil
			return false
		})
	}
	return files
}

// outdated reports whether all that an agent said of a removed file is older than its removal.
func outdated(c *claim, removals []removal) bool {
	if ofPerson(c.text) {
		return false
	}
	for _, r := range removals {
		if c.newest().rank >= r.rank || !strings.Contains(c.text, r.file) {
			continue
		}
		for _, span := range inSpan.FindAllStringSubmatch(c.text, -1) {
			if file, _, _ := strings.Cut(span[1], ":"); r.names(file) {
				return true
			}
		}
	}
	return false
}

// value is what changes while the line that tells it stays the same: a version, a color, a
// hash, a count.
var value = lazyregexp.New(`\bv?\d+(?:\.\d+)+[\w.-]*|#[0-9a-fA-F]{3,8}\b|\b[0-9a-f]{7,40}\b|\b\d[\d_,]*\b|\d{4}-\d{2}-\d{2}`)

// newest leaves of the lines that differ in their values alone, from several sessions,
// that of the newest.
func newest(claims []*claim) []*claim {
	at := map[string]*claim{}
	old := map[*claim]bool{}
	for _, c := range claims {
		if ofPerson(c.text) || !strings.ContainsAny(c.text, "0123456789#") {
			continue
		}
		key := value.ReplaceAllString(c.text, "¤")
		if !strings.Contains(key, "¤") {
			continue
		}
		switch have := at[key]; {
		case have == nil || have.newest().rank < c.newest().rank:
			if have != nil {
				old[have] = true
			}
			at[key] = c
		case have.newest().rank > c.newest().rank:
			old[c] = true
		}
	}
	return slices.DeleteFunc(claims, func(c *claim) bool { return old[c] })
}

// A setting of a name to a value, as a list of changes tells it.
var assigned = lazyregexp.New("`([\\w.-]+)`(?: \\([^)]*\\))?:? (?:(?:from|is|was|=|back to(?: \\w+)?|to) )?(?:`[^`]+` (?:\\([^)]*\\) )?(?:→|to|->) )?`(#[0-9a-fA-F]{3,8}|v?\\d+(?:\\.\\d+)*)`")

// overwritten leaves out of what a session did, in order, the steps of which every
// value was set again later.
func overwritten(done []memoir.Statement) map[string]bool {
	last := map[string]string{} // name -> text that set it last
	sets := map[string][]string{}
	order := slices.DeleteFunc(slices.Clone(done), func(st memoir.Statement) bool { return st.Kind != memoir.StatementOutcome })
	slices.SortStableFunc(order, func(a, b memoir.Statement) int { return lastItem(a) - lastItem(b) })
	for _, st := range order {
		for _, m := range assigned.FindAllStringSubmatch(st.Text, -1) {
			last[m[1]] = st.Text
			sets[st.Text] = append(sets[st.Text], m[1])
		}
	}
	out := map[string]bool{}
	for text, names := range sets {
		out[text] = !slices.ContainsFunc(names, func(n string) bool { return last[n] == text })
	}
	return out
}

func lastItem(st memoir.Statement) int {
	if len(st.Items) == 0 {
		return 0
	}
	return st.Items[len(st.Items)-1]
}
