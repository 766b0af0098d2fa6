package memory

import (
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
	return len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) && '0' <= stem[3] && stem[3] <= '9'
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
