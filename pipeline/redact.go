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

// redactedID is the prefix of the id of a session whose own id contains a secret.
const redactedID = "redacted-"

// clean redacts a text.
func (r *run) clean(text string) string {
	text, _ = r.scanner.Redact(text)
	return text
}

// cleanHead redacts a file's head before it is stored, printed, or used to identify a project. The path stays
// as it is, since the file is opened by it.
func (r *run) cleanHead(h rollout.Head) rollout.Head {
	h.Title = memoir.ShortTitle(h.CleanTitle(r.clean))
	h.CWD, h.Branch = r.redact(h.CWD), r.clean(h.Branch)
	h.Remote = r.cleanRemote(h.Remote)
	for _, id := range []*string{&h.ID, &h.FileID, &h.BaseID, &h.ParentID} {
		if *id != "" && len(r.scanner.Find(*id)) > 0 {
			sum := sha256.Sum256([]byte(*id))
			*id = redactedID + hex.EncodeToString(sum[:8])
		}
	}
	return h
}

// cleanRemote redacts the URL of a repository and removes its query.
func (r *run) cleanRemote(remote string) string {
	remote = r.redact(remote) // before the cut: half a secret is not recognised
	remote, _, _ = strings.Cut(remote, "?")
	if plain, err := url.PathUnescape(remote); err == nil { // rules do not match escaped text
		if clean := r.redact(plain); clean != plain {
			return clean
		}
	}
	return remote
}

// cleanFiles redacts the files to publish and their names. A secret that a rule finds in one file is removed
// from all of them.
func (r *run) cleanFiles(files memory.Files) (memory.Files, secrets.Counts, error) {
	return cleanFilesBy(r.scanner.Session(), r.scanner.Name, files)
}

func cleanFilesBy(
	redactor *secrets.Redactor,
	named func(string) (string, secrets.Counts),
	files memory.Files,
) (memory.Files, secrets.Counts, error) {
	texts := map[string]string{}
	before := redactor.Counts()
	for _, at := range files.Paths() {
		content := files[at]
		if at == memory.StatementsFile { // by text, so that it stays JSON
			content = memory.ChangeStatements(content, redactor.Text)
		}
		texts[at] = redactor.Text(string(content))
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

// free returns an unused file name, since names that differed only in a secret become equal.
func free(files memory.Files, name string) string {
	stem, ext := strings.TrimSuffix(name, path.Ext(name)), path.Ext(name)
	for i := 2; ; i++ {
		if _, taken := files[name]; !taken {
			return name
		}
		name = fmt.Sprintf("%s-%d%s", stem, i, ext)
	}
}

// since returns the difference of two counts.
func since(before, after secrets.Counts) secrets.Counts {
	counts := secrets.Counts{}
	for rule, n := range after {
		if n -= before[rule]; n > 0 {
			counts[rule] = n
		}
	}
	return counts
}
