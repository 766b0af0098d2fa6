package config

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// applyProviders reads providers: {name: {baseURL: …, keyEnv: …}}.
func (s *Settings) applyProviders(e entry, home string) error {
	pairs, err := e.pairs()
	if err != nil {
		return err
	}
	s.Providers = make(map[string]Provider)
	for _, sub := range pairs {
		if !providerName.MatchString(sub.key) || sub.key == builtin {
			return sub.errorf("use lower-case letters, digits, dashes, and not "+builtin, "is no name for a provider")
		}
		var p Provider
		if err := s.fields(sub, &p, false, home); err != nil {
			return err
		}
		if err := sub.whole(p); err != nil {
			return err
		}
		s.Providers[sub.key] = p
	}
	return nil
}

// whole checks that the fields of a provider go together.
func (e entry) whole(p Provider) error {
	exec := p.API == "exec" || p.API == "" && e.key == "exec"
	switch {
	case !exec && (len(p.Command) > 0 || p.Preset != ""):
		return e.errorf("set api: exec, or remove command and preset", "has a command, but not the API for one")
	case exec && p.BaseURL != "":
		return e.errorf("remove baseURL", "is a command, which has no URL")
	case exec && (p.KeyEnv != "" || len(p.KeyCommand) > 0):
		return e.errorf("log in with the program, or give it its key in the environment",
			"is a command, which is given no key")
	case exec && len(p.Command) == 0 && p.Preset == "" && e.key != "exec":
		return e.errorf("set command to a program and its arguments, or name a preset", "has no command")
	}
	return nil
}

// applyModels reads models: {provider/model: {window: …}}, after the providers.
func (s *Settings) applyModels(e entry) error {
	pairs, err := e.pairs()
	if err != nil {
		return err
	}
	s.Models = make(map[string]Call)
	for _, sub := range pairs {
		provider, model, _ := strings.Cut(sub.key, "/")
		if !providerName.MatchString(provider) || model == "" ||
			strings.ContainsFunc(sub.key, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			return sub.errorf("write provider/model", "is no name of a model")
		}
		p := Provider{Call: s.Providers[provider].Call}
		if err := s.fields(sub, &p, true, ""); err != nil {
			return err
		}
		s.Models[sub.key] = p.Call
		s.setOrigin(sub.name, sub.origin())
	}
	return nil
}

// fields reads the settings of one provider, or of one model.
func (s *Settings) fields(e entry, p *Provider, callOnly bool, home string) error {
	pairs, err := e.pairs()
	if err != nil {
		return err
	}
	for _, sub := range pairs {
		known := fieldNames(callOnly)
		if !slices.Contains(known, sub.key) {
			hint := "a key is never in a file: name a variable with keyEnv; set one of " + strings.Join(known, ", ")
			if near, ok := Nearest(sub.key, known); ok {
				hint = "did you mean " + near + "?"
			}
			return sub.errorf(hint, "is an unknown setting")
		}
		i := slices.IndexFunc(providerFields, func(f providerField) bool { return f.Name == sub.key })
		if err := providerFields[i].read(p, sub, home); err != nil {
			return err
		}
		s.setOrigin(sub.name, sub.origin())
	}
	return nil
}

// read sets a field to an entry's value.
func (f providerField) read(p *Provider, e entry, home string) error {
	v, isCommand := f.field(p).(*[]string)
	if !isCommand {
		text, err := e.text()
		if err != nil {
			return err
		}
		if err := f.set(f.field(p), text); err != nil {
			return e.errorf(f.Doc, "%w", err)
		}
		return nil
	}
	words, wrong := e.command()
	if wrong == "" {
		words[0], wrong = program(words[0], home)
	}
	if wrong != "" {
		return e.errorf("write it as a list: [program, argument]", "%s", wrong)
	}
	*v = words
	return nil
}

// command reads program and arguments: a list, or a text of words. No shell
// reads it, so that a text which needs one is refused instead of misread. The list
// has at least one element unless something is wrong with it.
func (e entry) command() (words []string, wrong string) {
	words, err := e.list()
	if err != nil {
		return nil, "must be a program and its arguments, a list of texts"
	}
	if resolve(e.node).Kind == yaml.ScalarNode {
		if strings.ContainsAny(words[0], "\"'`\\$|&;<>(){}*?") {
			return nil, "holds what only a shell understands, and none is started"
		}
		words = strings.Fields(words[0])
	}
	if len(words) == 0 {
		return nil, "must begin with a program"
	}
	return words, ""
}
