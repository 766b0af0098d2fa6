package memoir

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The names of what a project's memory holds.
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

// ConsolidationOf reads a consolidation back from files. A skill counts from its SKILL.md
// on; files that a consolidation has no place for are left out.
func ConsolidationOf(files map[string]string) Consolidation {
	c := Consolidation{MemoryMD: files[MemoryFile], MemorySummary: files[SummaryFile]}
	skills := map[string]*Skill{}
	paths := slices.Sorted(maps.Keys(files))
	for _, path := range paths {
		if name, folder, _, ok := SkillPath(path); ok && folder == "" {
			skills[name] = &Skill{Name: name, Content: files[path]}
		}
	}
	for _, path := range paths {
		if name, folder, rest, ok := SkillPath(path); ok && folder != "" && skills[name] != nil {
			list := skills[name].folders()[slices.Index(skillFolders, folder)]
			*list = append(*list, SkillFile{Path: rest, Content: files[path]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(skills)) {
		c.Skills = append(c.Skills, *skills[name])
	}
	return c
}

// SkillPath splits skills/NAME/SKILL.md, of which folder and rest are empty, and
// skills/NAME/FOLDER/REST; ok says that a Skill has a place for a file of that path.
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

// LegalSkill reports whether a skill may have a name: lower-case words of letters and
// digits joined by single hyphens, at most 64 bytes, as the Agent Skills specification has it.
func LegalSkill(name string) bool {
	for word := range strings.SplitSeq(name, "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return len(name) <= 64 && !device(name)
}

// OfferedSkill is the name under which agents are offered a skill of a project, whose id it takes: agents
// show the skills of all projects in one list, and want the name of the directory in SKILL.md as well.
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

// CheckPath reports why a path may not be that of a file in a memory, with CodeInvalid. A
// legal path is relative and slash-separated, and means the same on every system: its parts
// are printable, without \ : * ? " < > | and without a dot, hyphen or space at their beginning,
// or a dot or space at their end; they are no names of devices or of editors' own files.
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

// partFault says what is wrong with one part of a path, "" if nothing is.
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

// EditorsOwn reports whether a name is one that editors and systems give to files of their
// own: swap files, backups, .DS_Store, .git. A memory holds no such file.
func EditorsOwn(name string) bool {
	return name[0] == '.' || name[len(name)-1] == '~' || name[0] == '#' && name[len(name)-1] == '#'
}

// device reports whether Windows takes a name for a device, which it does whatever the
// extension.
func device(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$", "clock$":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) &&
		'0' <= stem[3] && stem[3] <= '9'
}

// CheckPaths holds the paths of a memory's files to CheckPath, and against each other, with
// CodeInvalid: memory goes from systems that tell capitals apart to others, so no two paths
// differ by case alone, and none is both file and directory. Nor do they differ by
// case from the names above.
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
