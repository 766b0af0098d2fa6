package pipeline

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"memoir/memory"
	"memoir/secrets"
)

// cleanFiles redacts the files that are to be published, their names included. A
// secret that a rule sees in one of them is removed from all; where one has another name
// for it, the others call it by that.
func (r *run) cleanFiles(projectID string, files memory.Files) (memory.Files, secrets.Counts, error) {
	all := secrets.Counts{}
	for _, scanner := range r.scannersFor(projectID) {
		clean, counts, err := r.cleanFilesBy(scanner.Session(), scanner.Name, files)
		if err != nil {
			return nil, nil, err
		}
		files = clean
		all.Merge(counts)
	}
	return files, all, nil
}

func (r *run) cleanFilesBy(redactor *secrets.Redactor, named func(string) (string, secrets.Counts), files memory.Files) (memory.Files, secrets.Counts, error) {
	texts := map[string]string{}
	before := redactor.Counts()
	for _, at := range files.Paths() {
		texts[at] = redactor.Text(string(files[at]))
	}
	clean, names := make(memory.Files, len(files)), secrets.Counts{}
	renamed := map[string]string{}
	for _, at := range files.Paths() {
		name, n := named(at)
		names.Merge(n)
		name = free(clean, name)
		if err := memory.CheckPath(name); err != nil {
			return nil, nil, err
		}
		clean[name] = []byte(redactor.AgainText(texts[at]))
		if name != at {
			renamed[at] = name
		}
	}
	counts := since(before, redactor.Counts())
	counts.Merge(names)
	relink(clean, renamed, redactor)
	return clean, counts, nil
}

// relink has redacted texts call files by the names that they got.
func relink(clean memory.Files, renamed map[string]string, redactor *secrets.Redactor) {
	if len(renamed) == 0 {
		return
	}
	var names []string
	for _, was := range slices.Sorted(maps.Keys(renamed)) {
		names = append(names, redactor.AgainText(path.Base(was)), path.Base(renamed[was]))
	}
	links := strings.NewReplacer(names...)
	for at, text := range clean {
		clean[at] = []byte(links.Replace(string(text)))
	}
}

// free is a name that no file has yet: two names may differ in their secret alone.
func free(files memory.Files, name string) string {
	stem, ext := strings.TrimSuffix(name, path.Ext(name)), path.Ext(name)
	for i := 2; ; i++ {
		if _, taken := files[name]; !taken {
			return name
		}
		name = fmt.Sprintf("%s-%d%s", stem, i, ext)
	}
}

// since is what was counted between two moments.
func since(before, after secrets.Counts) secrets.Counts {
	counts := secrets.Counts{}
	for rule, n := range after {
		if n -= before[rule]; n > 0 {
			counts[rule] = n
		}
	}
	return counts
}

// cleanNameFor redacts a name by the rules of a project.
func (r *run) cleanNameFor(projectID, name string) string {
	for _, scanner := range r.scannersFor(projectID) {
		name, _ = scanner.Name(name)
	}
	return name
}
