package memory

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Bounds of what a root holds. They keep a root readable by people, and an
// archive from filling memory or disk when it is unpacked.
const (
	maxPart  = 128      // bytes of one part of a path
	maxPath  = 240      // bytes of a path
	maxDepth = 8        // parts of a path
	maxFile  = 16 << 20 // bytes of a file
	maxTotal = 64 << 20 // bytes of all files
	maxFiles = 8192
)

// skillName is the form of the Agent Skills specification, at most 64 bytes.
var skillName = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// CheckPath reports why a path may not be a file of a root, with
// memoir.CodeInvalid. A legal path is relative and slash-separated; each part
// consists of A-Z, a-z, 0-9, '.', '_' and '-', does not begin with '.' or '-'
// nor end with '.', and is no device name of Windows.
func CheckPath(path string) error {
	switch {
	case path == "":
		return invalid(path, "is empty")
	case len(path) > maxPath:
		return invalid(path[:maxPath]+"…", "is longer than %d bytes", maxPath)
	case path[0] == '/':
		return invalid(path, "is absolute")
	case strings.EqualFold(path, manifestName):
		return invalid(path, "is kept for the manifest")
	}
	depth := 0
	for part := range strings.SplitSeq(path, "/") {
		if depth++; depth > maxDepth {
			return invalid(path, "is nested more than %d deep", maxDepth)
		}
		if why := partFault(part); why != "" {
			return invalid(path, "%s", why)
		}
	}
	return nil
}

func invalid(path, format string, args ...any) error {
	return memoir.Errorf(memoir.CodeInvalid, "", "path %q "+format, append([]any{path}, args...)...)
}

// partFault says what is wrong with one part of a path, "" if nothing is.
func partFault(part string) string {
	switch {
	case part == "":
		return "has an empty part"
	case part == "..", part == ".":
		return "has a part " + part
	case len(part) > maxPart:
		return "has a part that is too long"
	case part[0] == '.':
		return "has a hidden part"
	case part[0] == '-':
		return "has a part that reads as an option"
	case part[len(part)-1] == '.':
		return "has a part that ends with a dot"
	case windowsDevice(part):
		return "has a part that is a device name on Windows"
	}
	for _, c := range []byte(part) {
		if !legalByte(c) {
			return "has a character other than A-Z a-z 0-9 . _ -"
		}
	}
	return ""
}

func legalByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
}

// windowsDevice reports whether Windows takes a name for a device, which it does
// whatever the extension.
func windowsDevice(part string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(part), ".")
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$", "clock$":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) && '0' <= stem[3] &&
		stem[3] <= '9'
}

// foreign reports whether a name found in a live directory is an editor's or
// the system's rather than a person's: swap files, backups, .DS_Store, .git. No
// legal path has such a part.
func foreign(name string) bool {
	return name[0] == '.' || name[len(name)-1] == '~' || name[0] == '#' && name[len(name)-1] == '#'
}

// legalName gives a file that a person named freely ("my notes.md") the nearest
// legal path, so that it is carried on rather than lost, in the spelling that memoir
// writes. ok is false where no legal path comes near.
func legalName(path string) (legal string, ok bool) {
	if CheckPath(path) == nil {
		return spelled(path), true
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if partFault(part) == "" {
			continue
		}
		var b strings.Builder
		for _, c := range part {
			if c < 0x80 && legalByte(byte(c)) {
				b.WriteByte(byte(c))
			} else if s := b.String(); s != "" && s[len(s)-1] != '-' {
				b.WriteByte('-')
			}
		}
		parts[i] = strings.Trim(b.String(), "-.")
		if i == 1 && parts[0] == SkillsDir && len(parts) > 2 {
			parts[i] = strings.ToLower(parts[i])
		}
		if partFault(parts[i]) != "" {
			parts[i] = "file-" + parts[i]
		}
	}
	legal = strings.Join(parts, "/")
	if CheckPath(legal) != nil {
		return "", false
	}
	return spelled(legal), true
}

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

// distinct gives each file a path of its own: names that people chose freely may come to the
// same legal one, or differ by case alone. Directories that differ by case are joined. A file,
// or a directory where a file stands, gets a number, unless its path is its name on disk.
func distinct(files []liveFile) []liveFile {
	taken := map[string]bool{manifestName: true} // files, in lower case
	spelling := map[string]string{}              // of directories, by their lower case
	is := func(names []string, at string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, at) })
	}
	free := func(at string, used func(string) bool) string {
		ext := path.Ext(at)
		for n, stem := 2, strings.TrimSuffix(at, ext); used(at); n++ {
			at = fmt.Sprintf("%s-%d%s", stem, n, ext)
		}
		return at
	}
	order := slices.Clone(files)
	slices.SortStableFunc(order, func(a, b liveFile) int { return renamed(a) - renamed(b) })
	paths := map[string]string{} // by name on disk
	for _, f := range order {
		dir := ""
		parts := strings.Split(f.path, "/")
		for _, part := range parts[:len(parts)-1] {
			dir = free(path.Join(dir, part), func(at string) bool { return taken[strings.ToLower(at)] || is(onlyFiles, at) })
			if known, ok := spelling[strings.ToLower(dir)]; ok {
				dir = known
			}
			spelling[strings.ToLower(dir)] = dir
		}
		at := free(path.Join(dir, parts[len(parts)-1]), func(at string) bool {
			return taken[strings.ToLower(at)] || spelling[strings.ToLower(at)] != "" || is(onlyDirectories, at)
		})
		taken[strings.ToLower(at)] = true
		paths[f.name] = at
	}
	for i, f := range files {
		files[i].path = paths[f.name]
	}
	return files
}

// renamed is 1 where a file has another path in the memory than on disk.
func renamed(f liveFile) int {
	if f.name == f.path {
		return 0
	}
	return 1
}
