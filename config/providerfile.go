package config

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"memoir/internal/lazyregexp"
)

var (
	providerName = lazyregexp.New(`^[a-z0-9][a-z0-9_-]{0,39}$`)
	variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	presetName   = lazyregexp.New(`^[a-z]{1,20}$`)
	keyName      = lazyregexp.New(`(?i)^(api[_-]?)?(key|token|secret)$`)
)

// No check repeats the text that it refuses: it may be a key, put in the wrong place.

func checkBaseURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || strings.ContainsAny(text, " \t\r\n"):
		return "must be an http or https URL"
	case u.User != nil:
		return "must not hold a password; name a variable with keyEnv"
	case u.RawQuery != "" || u.Fragment != "":
		return "must be without a query and a fragment; a key is named with keyEnv"
	}
	return ""
}

func checkKeyEnv(text string) string {
	if !variableName.MatchString(text) {
		return "must be the name of an environment variable, not the key itself"
	}
	return ""
}

func checkPreset(text string) string {
	if !presetName.MatchString(text) {
		return "must be the name of an agent"
	}
	return ""
}

// applyProviders reads providers: {name: {baseURL: …, keyEnv: …}}.
func (s *Settings) applyProviders(e entry, home string) error {
	providers := make(map[string]Provider)
	err := e.pairs(e.node, func(key, value *yaml.Node) error {
		name := key.Value
		sub := entry{name: nameProviders + "." + name, file: e.file, line: key.Line, node: value}
		if !providerName.MatchString(name) {
			sub.name = nameProviders
			return sub.errorf("use lower-case letters, digits, dashes", "has a provider named %s", printable(name))
		}
		if name == builtin {
			return sub.errorf("choose another name", "is the name of the model that needs no provider")
		}
		p, err := s.fields(sub, false, home)
		if err != nil {
			return err
		}
		providers[name] = p
		return sub.whole(name, p)
	})
	s.Providers = providers
	return err
}

// whole checks that the fields of a provider go together.
func (e entry) whole(name string, p Provider) error {
	exec := p.API == "exec" || p.API == "" && name == "exec"
	if !exec && (len(p.Command) > 0 || p.Preset != "") {
		if p.API != "" {
			return e.errorf(
				"set api: exec, or remove command and preset",
				"is reached by %s, which takes no command",
				p.API,
			)
		}
		return e.errorf("set api: exec", "has a command, but not the API for one")
	}
	if !exec {
		return nil
	}
	switch {
	case p.BaseURL != "":
		return e.errorf("remove baseURL", "is a command, which has no URL")
	case p.KeyEnv != "" || len(p.KeyCommand) > 0:
		return e.errorf(
			"log in with the program, or give it its key in the environment",
			"is a command, which is given no key",
		)
	case len(p.Command) == 0 && p.Preset == "" && name != "exec":
		return e.errorf("set command to a program and its arguments, or name a preset", "has no command")
	}
	return nil
}

// applyModels reads models: {provider/model: {window: …}}.
func (s *Settings) applyModels(e entry) error {
	models := make(map[string]Call)
	err := e.pairs(e.node, func(key, value *yaml.Node) error {
		provider, model, _ := strings.Cut(key.Value, "/")
		if !providerName.MatchString(provider) || model == "" ||
			strings.ContainsFunc(key.Value, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			at := entry{name: nameModels, file: e.file, line: key.Line}
			return at.errorf("write provider/model", "has a model named %s", printable(key.Value))
		}
		sub := entry{name: nameModels + "." + key.Value, file: e.file, line: key.Line, node: value}
		p, err := s.fields(sub, true, "")
		models[key.Value] = p.Call
		s.setOrigin(sub.name, sub.origin())
		return err
	})
	s.Models = models
	return err
}

// fields reads the settings of one provider, or of one model.
func (s *Settings) fields(e entry, callOnly bool, home string) (Provider, error) {
	var p Provider
	err := e.pairs(e.node, func(key, value *yaml.Node) error {
		at := entry{name: e.name + "." + key.Value, file: e.file, line: key.Line, node: resolve(value)}
		i := slices.IndexFunc(providerFields, func(f providerField) bool { return f.name == key.Value })
		switch {
		case i >= 0 && callOnly && !providerFields[i].call:
			return at.errorf("a model has "+strings.Join(fieldNames(true), ", "), "belongs to the provider")
		case i >= 0:
		case keyName.MatchString(key.Value):
			return at.errorf(
				"name a variable with keyEnv, or a command with keyCommand",
				"is no setting: a key is never in a file",
			)
		default:
			what := "a provider has "
			if callOnly {
				what = "a model has "
			}
			at.name = e.name + "." + strings.Trim(printable(key.Value), `"`)
			hint := what + strings.Join(fieldNames(callOnly), ", ")
			if near, ok := Nearest(key.Value, fieldNames(callOnly)); ok {
				hint = "did you mean " + near + "?"
			}
			return at.errorf(hint, "is an unknown setting")
		}
		f := providerFields[i]
		if err := f.read(&p, at, home); err != nil {
			return err
		}
		s.setOrigin(at.name, at.origin())
		return nil
	})
	return p, err
}

// read sets a field to an entry's value.
func (f providerField) read(p *Provider, e entry, home string) error {
	scalar, tag := e.node.Kind == yaml.ScalarNode, e.node.ShortTag()
	switch v := f.field(p).(type) {
	case *string:
		switch {
		case !scalar || tag != "!!str" || strings.ContainsFunc(e.node.Value, isControl):
			return e.errorf(f.doc, "must be a text")
		case f.choices != nil && !slices.Contains(f.choices, e.node.Value):
			return e.errorf(f.doc, "must be one of %s", strings.Join(f.choices, ", "))
		}
		if f.check != nil {
			if wrong := f.check(e.node.Value); wrong != "" {
				return e.errorf(f.doc, "%s", wrong)
			}
		}
		*v = e.node.Value
	case *[]string:
		words, wrong := commandLine(e.node)
		if wrong == "" {
			words[0], wrong = program(words[0], home)
		}
		if wrong != "" {
			return e.errorf("write it as a list: [program, argument]", "%s", wrong)
		}
		*v = words
	default:
		return f.readNumber(v, e)
	}
	return nil
}

// readNumber sets a numeric field, v, to an entry's value.
func (f providerField) readNumber(v any, e entry) error {
	scalar, tag := e.node.Kind == yaml.ScalarNode, e.node.ShortTag()
	number, err := strconv.ParseFloat(e.node.Value, 64)
	whole, isInt := v.(*int)
	switch {
	case !scalar || tag != "!!int" && tag != "!!float" || err != nil:
		return e.errorf(f.doc, "must be a number from %s to %s", plain(f.min), plain(f.max))
	case !(number >= f.min && number <= f.max): // not a number is neither
		return e.errorf(f.doc, "must be from %s to %s, not %s", plain(f.min), plain(f.max), plain(number))
	case isInt && number != float64(int(number)):
		return e.errorf(f.doc, "must be a whole number from %s to %s, not %s", plain(f.min), plain(f.max), plain(number))
	case isInt:
		*whole = int(number)
	default:
		*v.(**float64) = &number
	}
	return nil
}

// commandLine reads program and arguments: a list, or a text of words. No shell
// reads it, so that a text which needs one is refused instead of misread. The list
// has at least one element unless something is wrong with it.
func commandLine(node *yaml.Node) (words []string, wrong string) {
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!str" {
		if strings.ContainsAny(node.Value, "\"'`\\$|&;<>(){}*?") {
			return nil, "holds what only a shell understands, and none is started"
		}
		if words = strings.Fields(node.Value); len(words) == 0 {
			return nil, "must not be empty"
		}
		return words, ""
	}
	if node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
		return nil, "must be a program and its arguments"
	}
	for _, element := range node.Content {
		element = resolve(element)
		if element.Kind != yaml.ScalarNode || element.ShortTag() != "!!str" || strings.ContainsRune(element.Value, 0) {
			return nil, "must be a list of texts; quote what is none"
		}
		words = append(words, element.Value)
	}
	return words, ""
}
