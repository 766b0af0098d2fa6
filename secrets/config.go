package secrets

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/lazyregexp"
)

// maxExtendDepth bounds the chain of files that extend one another, as in gitleaks.
const maxExtendDepth = 2

// Bounds of a file of rules. Each rule takes a millisecond to compile, and a long one seconds.
const (
	maxRules     = 500
	maxRulesSize = 512 << 10 // bytes
	maxRuleSize  = 16 << 10  // bytes of one expression
)

// mergeFile merges a person's configuration, and the file that its extend.path names, into the rules so far. warn is
// Options.Warn.
func mergeFile(into *config.ViperConfig, path string, depth int, warn func(string)) error {
	content, err := disk.ReadFile(path, maxRulesSize)
	if errors.Is(err, fs.ErrNotExist) && depth == 0 {
		return nil
	}
	if err != nil {
		return configError(path, err)
	}
	own, err := parseConfig(string(content))
	if err == nil && len(own.Rules) > maxRules {
		err = fmt.Errorf("it has %d rules, at most %d are read", len(own.Rules), maxRules)
	}
	if err == nil {
		err = check(own, func(list string, conditions ...[]string) {
			if warn != nil && len(slices.Concat(conditions...)) > 0 {
				warn(path + ": conditions on paths and commits have no effect in " + list)
			}
		})
	}
	if err != nil {
		return configError(path, withoutSecrets(err, content))
	}
	if own.Extend.Path != "" {
		if own.Extend.UseDefault {
			return configError(path, errors.New("[extend] has both path and useDefault"))
		}
		if depth+1 < maxExtendDepth {
			base := own.Extend.Path
			if !filepath.IsAbs(base) {
				base = filepath.Join(filepath.Dir(path), base)
			}
			if err := mergeFile(into, base, depth+1, warn); err != nil {
				return err
			}
		}
	}
	merge(into, own)
	return nil
}

// ruleAt matches the index of a rule in an error of Unmarshal.
var ruleAt = lazyregexp.New(`'Rules\[(\d+)\]\.(\w+)'`)

func configError(path string, err error) error {
	if memoir.CodeOf(err) == memoir.CodeConfig {
		return err
	}
	return memoir.Errorf(memoir.CodeConfig, "correct the rule, or move the file away to use the default rules",
		"cannot read the secret rules in %s: %w", path, err)
}

// check returns an error for a mistake at which gitleaks would panic, or which gitleaks would not relate to a rule.
// It calls useless with the conditions of each allowlist that apply to no text: paths and commits.
func check(c config.ViperConfig, useless func(list string, conditions ...[]string)) error {
	for i, r := range c.Rules {
		name := fmt.Sprintf("rule %q", r.ID)
		if strings.TrimSpace(r.ID) == "" {
			return fmt.Errorf("rule %d has no id", i+1)
		}
		patterns := []string{r.Regex, r.Path}
		for _, list := range r.Allowlists {
			useless("the allowlist of "+name, list.Paths, list.Commits)
			patterns = append(patterns, slices.Concat(list.Regexes, list.Paths)...)
		}
		if err := compiles(name, patterns); err != nil {
			return err
		}
		if r.SecretGroup < 0 {
			return fmt.Errorf("%s: secretGroup %d is negative", name, r.SecretGroup)
		}
	}
	for _, list := range c.Allowlists {
		name := "the global allowlist"
		if list.Description != "" {
			name += fmt.Sprintf(" %q", list.Description)
		}
		useless(name, list.Paths, list.Commits)
		if err := compiles("allowlist "+list.Description, slices.Concat(list.Regexes, list.Paths)); err != nil {
			return err
		}
	}
	return nil
}

func compiles(owner string, patterns []string) error {
	for _, p := range patterns {
		if len(p) > maxRuleSize {
			return fmt.Errorf("%s: an expression has %d bytes, at most %d are read", owner, len(p), maxRuleSize)
		}
		if _, err := regexp.Compile(p); err != nil {
			return fmt.Errorf("%s: %w", owner, err)
		}
	}
	return nil
}

// merge extends base by the rules of gitleaks' [extend]. A rule with a known id overrides single fields and adds
// keywords, tags and allowlists. Other rules and global allowlists are added. disabledRules are removed.
func merge(base *config.ViperConfig, more config.ViperConfig) {
	kept := base.Rules[:0]
	for _, r := range base.Rules {
		if !slices.Contains(more.Extend.DisabledRules, r.ID) {
			kept = append(kept, r)
		}
	}
	base.Rules = kept
	untarget(base, more.Extend.DisabledRules)
	for _, r := range more.Rules {
		at := 0
		for at < len(base.Rules) && base.Rules[at].ID != r.ID {
			at++
		}
		if at == len(base.Rules) {
			base.Rules = append(base.Rules, r)
			continue
		}
		old := &base.Rules[at]
		old.Description = cmp.Or(r.Description, old.Description)
		old.Entropy = cmp.Or(r.Entropy, old.Entropy)
		old.SecretGroup = cmp.Or(r.SecretGroup, old.SecretGroup)
		old.Regex, old.Path = cmp.Or(r.Regex, old.Regex), cmp.Or(r.Path, old.Path)
		old.Tags = append(old.Tags, r.Tags...)
		old.Keywords = append(old.Keywords, r.Keywords...)
		old.Allowlists = append(old.Allowlists, r.Allowlists...)
		old.Required = append(old.Required, r.Required...)
	}
	base.Allowlists = append(base.Allowlists, more.Allowlists...)
}

// untarget removes disabled rules from the targets of allowlists. A list without a target left is removed, since it
// would otherwise apply to all rules.
func untarget(base *config.ViperConfig, disabled []string) {
	kept := base.Allowlists[:0]
	for _, list := range base.Allowlists {
		if len(list.TargetRules) > 0 {
			list.TargetRules = slices.DeleteFunc(list.TargetRules, func(id string) bool {
				return slices.Contains(disabled, id)
			})
			if len(list.TargetRules) == 0 {
				continue
			}
		}
		kept = append(kept, list)
	}
	base.Allowlists = kept
}

// withoutSecrets redacts the secrets of a rule file in an error about the file. The error may quote a piece of a
// secret, which rules find only in the whole file.
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

// eachString calls visit for each string in a tree of settings, including keys.
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

// readRules merges the configurations of all rules and compiles the result.
func readRules(options Options, extra bool) (specs, error) {
	merged, err := parseConfig(config.DefaultConfig)
	if err != nil {
		return specs{}, fmt.Errorf("read gitleaks' default rules: %w", err)
	}
	own := map[string]bool{}
	if extra {
		widen(&merged)
		more, err := parseConfig(extraConfig)
		if err != nil {
			return specs{}, fmt.Errorf("read the built-in extra rules: %w", err)
		}
		for _, r := range more.Rules {
			own[r.ID] = true
		}
		merge(&merged, more)
	}
	at := options.ConfigPath
	if at != "" {
		if err := mergeFile(&merged, at, 0, options.Warn); err != nil {
			return specs{}, err
		}
	}
	merged.Extend, merged.MinVersion = config.Extend{}, "" // it is merged; gitleaks would print a warning
	compiled, err := merged.Translate()
	if err != nil {
		if at != "" {
			return specs{}, configError(at, err)
		}
		return specs{}, fmt.Errorf("compile the built-in rules: %w", err)
	}
	return newSpecs(compiled, own)
}

// parseConfig parses a configuration in gitleaks' TOML form. It uses its own viper, since gitleaks' loader counts
// extended files in a global variable and never resets it.
func parseConfig(text string) (config.ViperConfig, error) {
	var c config.ViperConfig
	v := viper.New()
	v.SetConfigType("toml")
	if err := v.ReadConfig(strings.NewReader(text)); err != nil {
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column := at.Position()
			err = fmt.Errorf("line %d, column %d: %w", line, column, at)
		}
		return c, err
	}
	err := v.Unmarshal(&c)
	if err != nil {
		if at := ruleAt.FindStringSubmatch(err.Error()); at != nil {
			if n, _ := strconv.Atoi(at[1]); n < len(c.Rules) {
				err = fmt.Errorf("rule %q: %s: %w", c.Rules[n].ID, strings.ToLower(at[2]), err)
			}
		}
	}
	for i := range c.Rules { // the older form, [allowlist], is still in use beside [[allowlists]]
		if r := &c.Rules[i]; r.AllowList != nil && len(r.Allowlists) == 0 {
			r.Allowlists, r.AllowList = append(r.Allowlists, r.AllowList), nil
		}
	}
	//lint:ignore SA1019 as above
	if c.AllowList != nil {
		//lint:ignore SA1019 as above
		c.Allowlists, c.AllowList = append(c.Allowlists, c.AllowList), nil
	}
	return c, err
}
