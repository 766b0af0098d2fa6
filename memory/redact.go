package memory

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"memoir"
	"memoir/secrets"
)

// Redacted returns the files without secrets in their texts and names, and what was removed. A secret that a rule finds
// in one file is removed from all of them.
func (f Files) Redacted(redactor *secrets.Redactor) (Files, secrets.Counts, error) {
	texts := map[string]string{}
	before := redactor.Counts()
	for _, at := range f.Paths() {
		content := f[at]
		if text := Readable(at, content); at == StatementsFile && redactor.Text(text) != text {
			content = ChangeStatements(content, redactor.Text, redactor.Name)
			if bytes.Equal(content, f[at]) { // it is damaged
				content = []byte(text)
			}
		}
		texts[at] = redactor.Text(string(content))
	}
	clean := make(Files, len(f))
	for _, at := range f.Paths() {
		name := free(clean, redactor.Name(at))
		if err := memoir.CheckPath(name); err != nil {
			return nil, nil, err
		}
		clean[name] = []byte(redactor.AgainText(texts[at]))
	}
	return clean, since(before, redactor.Counts()), nil
}

// free returns an unused file name, since names that differed only in a secret become equal.
func free(files Files, name string) string {
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
