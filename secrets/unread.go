package secrets

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"

	"memoir/internal/lazyregexp"
)

// Unread lists the keys of a file of rules that nothing reads, such as a misspelt
// `keywords`, each with what it belongs to. Gitleaks passes over them, so they are no
// mistake that would keep the file from counting. Errors are those of ReadRules, and
// memoir.CodeConfig for what is no TOML.
func Unread(path string) ([]string, error) {
	content, err := ReadRules(path)
	if err != nil {
		return nil, err
	}
	v := viper.New()
	v.SetConfigType("toml")
	if err := v.ReadConfig(strings.NewReader(string(content))); err != nil {
		return nil, configError(path, withoutSecrets(lineNamed(err), content))
	}
	var c config.ViperConfig
	if err = v.UnmarshalExact(&c); err == nil {
		return nil, nil
	}
	var out []string
	for _, m := range unreadKeys.FindAllStringSubmatch(err.Error(), -1) {
		owner := ""
		if n, convErr := strconv.Atoi(m[2]); convErr == nil && n < len(c.Rules) {
			owner = fmt.Sprintf("rule %q: ", c.Rules[n].ID)
		}
		if strings.Contains(m[1], "llow") {
			owner += "allowlist: "
		}
		out = append(out, withoutSecrets(errors.New(owner+m[3]), content).Error())
	}
	return out, nil
}

// unreadKeys is how errors of decoding tell of them: of what, of which rule, which.
var unreadKeys = lazyregexp.New(`(?m)^\* '((?:Rules\[(\d+)\])?[^']*)' has invalid keys: (.+)$`)
