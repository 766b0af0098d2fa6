package memory

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Names that differ in capitals alone are one file on macOS and Windows, and two on Linux. A
// memory goes from one to the other, so it never holds both, and what it has names for
// is found under them however a person spells them.

// spelled gives a legal path the spelling that memoir writes: memory.md is MEMORY.md, and
// Skills/Deploy/skill.md is skills/deploy/SKILL.md. A path has as many parts as before.
func spelled(legal string) string {
	parts := strings.Split(legal, "/")
	as := func(i int, names ...string) {
		if n := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, parts[i]) }); n >= 0 {
			parts[i] = names[n]
		}
	}
	if len(parts) == 1 {
		as(0, onlyFiles...)
	} else {
		as(0, onlyDirectories...)
	}
	if parts[0] == SkillsDir && len(parts) > 2 {
		if lower := strings.ToLower(parts[1]); legalSkill(lower) {
			parts[1] = lower
		}
		if len(parts) == 3 {
			as(2, SkillFile)
		} else {
			as(2, skillFolders...)
		}
	}
	return strings.Join(parts, "/")
}

// distinct gives a file, or a directory with all that is in it, another path where its own
// is taken: names that people chose freely may come to the same legal one, or differ
// only by case. Those that have their path as their name keep it.
func distinct(files []liveFile) []liveFile {
	d := distinction{files: files, taken: map[string]bool{manifestName: true}}
	all := make([]int, len(files))
	for i := range files {
		all[i] = i
	}
	d.place(all, 0, "")
	return d.files
}

type distinction struct {
	files []liveFile
	taken map[string]bool // paths in lower case; those of directories that memoir names are shared
}

// place gives the files of one directory on disk their paths below a directory of the
// memory. Their names have a number of parts in common.
func (d *distinction) place(files []int, depth int, dir string) {
	var order []string
	groups := map[string][]int{} // by the next part of the name on disk
	for _, i := range files {
		part := strings.Split(d.files[i].name, "/")[depth]
		if groups[part] == nil {
			order = append(order, part)
		}
		groups[part] = append(groups[part], i)
	}
	slices.SortStableFunc(order, func(a, b string) int {
		return d.renamed(groups[a][0], depth) - d.renamed(groups[b][0], depth)
	})
	for _, part := range order {
		in := groups[part]
		wanted := strings.Split(d.files[in[0]].path, "/")
		if depth == len(wanted)-1 {
			d.files[in[0]].path = d.free(dir, wanted[depth], false)
			continue
		}
		below := path.Join(dir, wanted[depth])
		if shared(below) {
			d.taken[strings.ToLower(below)] = true
		} else {
			below = d.free(dir, wanted[depth], true)
		}
		d.place(in, depth+1, below)
	}
}

// renamed is 1 where a part of a path is another than the file has on disk.
func (d *distinction) renamed(i, depth int) int {
	if strings.Split(d.files[i].name, "/")[depth] == strings.Split(d.files[i].path, "/")[depth] {
		return 0
	}
	return 1
}

// free takes a name in a directory, with a number if it is taken.
func (d *distinction) free(dir, name string, isDir bool) string {
	other := onlyFiles // what a name of this kind may not be
	if !isDir {
		other = onlyDirectories
	}
	at, ext := path.Join(dir, name), path.Ext(name)
	if isDir {
		ext = ""
	}
	for n := 2; d.taken[strings.ToLower(at)] || slices.ContainsFunc(other, func(o string) bool { return strings.EqualFold(o, at) }); n++ {
		at = path.Join(dir, fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), n, ext))
	}
	d.taken[strings.ToLower(at)] = true
	return at
}

// shared reports whether all directories that come to a path are one: its name is memoir's.
func shared(dir string) bool {
	parts := strings.Split(dir, "/")
	return len(parts) == 1 && slices.Contains(onlyDirectories, dir) ||
		len(parts) == 3 && parts[0] == SkillsDir && slices.Contains(skillFolders, parts[2])
}
