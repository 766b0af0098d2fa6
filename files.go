package memoir

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The names in a project's memory.
const (
	MemoryFile      = "MEMORY.md"
	SummaryFile     = "memory_summary.md"
	RawMemoriesFile = "raw_memories.md"
	SummariesDir    = "rollout_summaries" // a summary of each session
	SkillsDir       = "skills"
	SkillMD         = "SKILL.md"
)

// skillFolders are the folders of a skill, in the order of Skill's fields.
var skillFolders = []string{"scripts", "templates", "examples"}

func (s *Skill) folders() []*[]SkillFile {
	return []*[]SkillFile{&s.Scripts, &s.Templates, &s.Examples}
}

// Files are the texts of a consolidation by their paths in a memory. ConsolidationOf is the inverse.
func (c Consolidation) Files() map[string]string {
	files := map[string]string{MemoryFile: c.MemoryMD, SummaryFile: c.MemorySummary}
	for _, s := range c.Skills {
		dir := SkillsDir + "/" + s.Name + "/"
		files[dir+SkillMD] = s.Content
		for i, list := range s.folders() {
			for _, f := range *list {
				files[dir+skillFolders[i]+"/"+f.Path] = f.Content
			}
		}
	}
	return files
}

// ConsolidationOf reads a consolidation from files. A skill needs its SKILL.md; files that do not
// belong to a consolidation are left out.
func ConsolidationOf(files map[string]string) Consolidation {
	c := Consolidation{MemoryMD: files[MemoryFile], MemorySummary: files[SummaryFile]}
	for _, path := range slices.Sorted(maps.Keys(files)) { // SKILL.md is the first file of a skill
		name, folder, rest, ok := SkillPath(path)
		last := len(c.Skills) - 1
		switch {
		case !ok:
		case folder == "":
			c.Skills = append(c.Skills, Skill{Name: name, Content: files[path]})
		case last >= 0 && c.Skills[last].Name == name:
			list := c.Skills[last].folders()[slices.Index(skillFolders, folder)]
			*list = append(*list, SkillFile{Path: rest, Content: files[path]})
		}
	}
	slices.SortFunc(c.Skills, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return c
}

// SkillPath splits skills/NAME/SKILL.md, of which folder and rest are empty, and
// skills/NAME/FOLDER/REST; ok reports whether a Skill can have a file of that path.
func SkillPath(path string) (name, folder, rest string, ok bool) {
	tail, ok := strings.CutPrefix(path, SkillsDir+"/")
	if name, tail, _ = strings.Cut(tail, "/"); !ok || !LegalSkill(name) {
		return "", "", "", false
	}
	if tail == SkillMD {
		return name, "", "", true
	}
	folder, rest, _ = strings.Cut(tail, "/")
	return name, folder, rest, rest != "" && slices.Contains(skillFolders, folder)
}

// LegalSkill reports whether a skill's name is legal by the Agent Skills specification:
// lower-case words of letters and digits joined by single hyphens, at most 64 bytes.
func LegalSkill(name string) bool {
	for word := range strings.SplitSeq(name, "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return len(name) <= 64 && !device(name)
}

// OfferedSkill returns the name under which agents see a skill of the project with an id: agents show the
// skills of all projects in one list.
func OfferedSkill(projectID, skill string) string {
	name, hash := projectID, ""
	if i := strings.LastIndexByte(projectID, '-'); i >= 0 {
		name, hash = projectID[:i], projectID[i:]
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	hash = hash[:min(len(hash), 5)]
	room := max(0, 64-len("memoir-")-len(hash)-1-len(skill))
	name = strings.Join(words, "-")
	name = strings.Trim(name[:min(len(name), room)], "-")
	return strings.Trim("memoir-"+name, "-") + hash + "-" + skill
}

// Bounds of a path in a memory.
const (
	maxPart  = 128 // bytes of one part
	maxPath  = 240 // bytes
	maxDepth = 8   // parts
)

// CheckPath returns an error with CodeInvalid if a file of a memory can't have a path. A legal
// path is relative and slash-separated, and means the same on every system. Its parts are
// printable, without \ : * ? " < > |, without a dot, hyphen or space at the beginning and
// without a dot or space at the end. They are not names of devices or of editors' own files.
func CheckPath(path string) error {
	parts := strings.Split(path, "/")
	switch {
	case len(path) > maxPath:
		return pathError(path[:maxPath]+"…", "is longer than 240 bytes")
	case strings.EqualFold(path, "manifest.json"):
		return pathError(path, "is kept for the manifest")
	case len(parts) > maxDepth:
		return pathError(path, "is nested more than 8 deep")
	}
	for _, part := range parts {
		if why := partFault(part); why != "" {
			return pathError(path, why)
		}
	}
	return nil
}

func pathError(path, why string) error {
	return Errorf(CodeInvalid, "give the file another name", "path %q %s", path, why)
}

// partFault returns the fault of one part of a path, "" if it has none.
func partFault(part string) string {
	switch {
	case part == "":
		return "is absolute, or has an empty part"
	case len(part) > maxPart:
		return "has a part that is too long"
	case strings.ContainsRune(".- ", rune(part[0])):
		return "has a part that begins with a dot, a hyphen or a space"
	case strings.HasSuffix(part, "."), strings.HasSuffix(part, " "):
		return "has a part that ends with a dot or a space"
	case EditorsOwn(part):
		return "has a part that reads as an editor's own file"
	case device(part):
		return "has a part that is a device name on Windows"
	case !utf8.ValidString(part) || strings.ContainsFunc(part, func(r rune) bool {
		return strings.ContainsRune(`\:*?"<>|`, r) || !unicode.IsPrint(r) || Hidden(r)
	}):
		return "has a character that not every system takes"
	}
	return ""
}

// EditorsOwn reports whether a name is that of a file of an editor or system: swap files,
// backups, .DS_Store, .git. A memory has no such files.
func EditorsOwn(name string) bool {
	return name[0] == '.' || name[len(name)-1] == '~' || name[0] == '#' && name[len(name)-1] == '#'
}

// device reports whether a name is a device on Windows, with any extension.
func device(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$", "clock$":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) &&
		'0' <= stem[3] && stem[3] <= '9'
}

// CheckPaths applies CheckPath to the paths of a memory's files and compares them; its errors
// have CodeInvalid. Memory moves between systems, so two paths, or a path and a name above,
// must not differ only by case. A path can't be both file and directory.
func CheckPaths(paths []string) error {
	type place struct {
		path string
		dir  bool
	}
	places := map[string]place{
		"memory.md": {MemoryFile, false}, SummaryFile: {SummaryFile, false}, RawMemoriesFile: {RawMemoriesFile, false},
		"manifest.json": {"manifest.json", false}, SummariesDir: {SummariesDir, true}, SkillsDir: {SkillsDir, true},
	}
	for _, path := range paths {
		if err := CheckPath(path); err != nil {
			return err
		}
		for end := range len(path) + 1 {
			if end < len(path) && path[end] != '/' {
				continue
			}
			here, fold := place{path[:end], end < len(path)}, strings.ToLower(path[:end])
			switch there, known := places[fold]; {
			case known && there.path != here.path:
				return pathError(path, "is in the way of "+there.path+" where capitals do not count")
			case known && there != here:
				return pathError(path, "needs a place that is taken: "+there.path+" is a file and a directory")
			}
			places[fold] = here
		}
	}
	return nil
}
