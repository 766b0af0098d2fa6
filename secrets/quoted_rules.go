package secrets

import (
	"bytes"
	"errors"

	"github.com/spf13/viper"
)

// withoutSecrets is an error about a file of rules without the secrets of that file. A
// repository's rules are a stranger's text, and errors quote pieces of it, in which no rule
// sees what it sees in the whole.
func withoutSecrets(err error, content []byte) error {
	file := ours.Session()
	file.Text(string(content))
	v := viper.New()
	v.SetConfigType("toml")
	if v.ReadConfig(bytes.NewReader(content)) == nil {
		eachString(v.AllSettings(), func(text string) { file.Text(text) })
	}
	if clean := file.AgainText(file.Text(err.Error())); clean != err.Error() {
		return errors.New(clean)
	}
	return err
}

// eachString visits the texts in a tree of settings, keys too.
func eachString(node any, visit func(string)) {
	switch node := node.(type) {
	case string:
		visit(node)
	case []any:
		for _, part := range node {
			eachString(part, visit)
		}
	case map[string]any:
		for key, part := range node {
			visit(key)
			eachString(part, visit)
		}
	}
}
