package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"strings"

	"memoir"
	"memoir/memory"
	"memoir/rollout"
	"memoir/secrets"
)

// redactedID begins the id of a session whose own id holds a secret.
const redactedID = "redacted-"

// cleanHead redacts all that a file's head says, before any of it is stored,
// printed, or names a project. Only the path stays as it is: it is how the file
// is opened. A head of which more than the title had to be changed does not
// stand for the file any more, and the next scan does not build on it.
func (r *run) cleanHead(h rollout.Head) rollout.Head {
	raw := h
	byOwn := func(text string) string { // by the rules of its project
		text, _ = r.scannerOf(raw.CWD).Redact(text)
		return text
	}
	h.Title = memoir.ShortTitle(h.CleanTitle(byOwn))
	h.CWD, h.Branch = r.redact(h.CWD), byOwn(h.Branch)
	h.Remote = r.cleanRemote(h.Remote)
	for _, id := range []*string{&h.ID, &h.FileID, &h.BaseID, &h.ParentID} {
		if *id != "" && len(r.scanner.Find(*id)) > 0 {
			sum := sha256.Sum256([]byte(*id))
			*id = redactedID + hex.EncodeToString(sum[:8])
		}
	}
	return h
}

// cleanRemote redacts the URL of a repository, and leaves out what follows its name.
func (r *run) cleanRemote(remote string) string {
	remote = r.redact(remote) // whole: half a secret is not recognised
	remote, _, _ = strings.Cut(remote, "?")
	if plain, err := url.PathUnescape(remote); err == nil { // no rule sees through its escapes
		if clean := r.redact(plain); clean != plain {
			return clean
		}
	}
	return remote
}

// cleanFiles redacts the files that are to be published, their names included. A
// secret that a rule sees in one of them is removed from all; where one has another name
// for it, the others call it by that.
func (r *run) cleanFiles(project memoir.Project, files memory.Files) (memory.Files, secrets.Counts, error) {
	all := secrets.Counts{}
	scanners, _ := r.projectScanners(project)
	for _, scanner := range scanners {
		clean, counts, err := r.cleanFilesBy(scanner.Session(), scanner.Name, files)
		if err != nil {
			return nil, nil, err
		}
		files = clean
		all.Merge(counts)
	}
	return files, all, nil
}

func (r *run) cleanFilesBy(
	redactor *secrets.Redactor,
	named func(string) (string, secrets.Counts),
	files memory.Files,
) (memory.Files, secrets.Counts, error) {
	texts := map[string]string{}
	before := redactor.Counts()
	for _, at := range files.Paths() {
		texts[at] = redactor.Text(string(files[at]))
	}
	clean, names := make(memory.Files, len(files)), secrets.Counts{}
	for _, at := range files.Paths() {
		name, n := named(at)
		names.Merge(n)
		name = free(clean, name)
		if err := memoir.CheckPath(name); err != nil {
			return nil, nil, err
		}
		clean[name] = []byte(redactor.AgainText(texts[at]))
	}
	counts := since(before, redactor.Counts())
	counts.Merge(names)
	return clean, counts, nil
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
func (r *run) cleanNameFor(project memoir.Project, name string) string {
	scanners, _ := r.projectScanners(project)
	for _, scanner := range scanners {
		name, _ = scanner.Name(name)
	}
	return name
}
