package model

import (
	"slices"
	"strings"

	"memoir"
)

// Builtin is the name of the model that is part of the program: no network, no
// key, no cost.
const Builtin = "builtin"

// Spec names a model: a provider and what the provider calls the model. The
// built-in model has the provider Builtin and no model name.
type Spec struct {
	Provider string
	Model    string
}

// Builtin reports whether the spec names the built-in model.
func (s Spec) Builtin() bool { return s.Provider == Builtin }

// String is the form that ParseSpec reads.
func (s Spec) String() string {
	if s.Model == "" {
		return s.Provider
	}
	return s.Provider + "/" + s.Model
}

// ParseSpec reads "provider/model", "exec/preset", "exec/preset/model" or "builtin".
// The model's name may itself contain slashes. The provider is one that is known, or
// one of those that the caller says are configured. A name that has not this form,
// or whose provider is neither, is an error with memoir.CodeConfig.
func ParseSpec(text string, configured ...string) (Spec, error) {
	const write = "write provider/model, or builtin"
	text = strings.TrimSpace(text)
	if text == Builtin {
		return Spec{Provider: Builtin}, nil
	}
	provider, name, slash := strings.Cut(text, "/")
	switch {
	case text == "":
		return Spec{}, memoir.Errorf(memoir.CodeConfig, write, "the model's name is empty")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return Spec{}, memoir.Errorf(memoir.CodeConfig, write, "the model's name %q contains spaces", text)
	case strings.EqualFold(provider, Builtin):
		return Spec{}, memoir.Errorf(memoir.CodeConfig, "write builtin", "the built-in model is %s, not %q", Builtin, text)
	case !slash:
		return Spec{}, memoir.Errorf(memoir.CodeConfig, write, "model %q names no provider", text)
	case provider == "" || name == "" || strings.HasSuffix(name, "/"):
		return Spec{}, memoir.Errorf(memoir.CodeConfig, write, "model %q lacks its provider or its name", text)
	}
	spec := Spec{Provider: provider, Model: name}
	if slices.Contains(configured, provider) {
		return spec, nil
	}
	if _, _, ok := Known(provider); ok {
		return spec, nil
	}
	if provider == string(APIExec) {
		preset, _, _ := strings.Cut(name, "/")
		if slices.Contains(Presets(), preset) {
			return spec, nil
		}
		return Spec{}, memoir.Errorf(memoir.CodeConfig, "use one of "+strings.Join(Presets(), ", ")+", or name your own command in providers",
			"no command is known by the name exec/%s", preset)
	}
	known := append(KnownProviders(), string(APIExec))
	hint := "use " + Builtin + ", " + strings.Join(known, ", ") + ", or say in providers." + provider + " where it is reached"
	for _, k := range slices.Concat(known, configured) {
		if strings.EqualFold(k, provider) {
			hint = "write " + k + "/" + name
		}
	}
	return Spec{}, memoir.Errorf(memoir.CodeConfig, hint, "provider %q is neither known nor configured", provider)
}
