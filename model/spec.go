package model

import (
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

// ParseSpec reads "provider/model" or "builtin". The model's name may itself
// contain slashes. A name that has not this form, or whose provider this version
// cannot call, is an error with memoir.CodeConfig.
func ParseSpec(text string) (Spec, error) {
	text = strings.TrimSpace(text)
	if text == Builtin {
		return Spec{Provider: Builtin}, nil
	}
	provider, name, slash := strings.Cut(text, "/")
	switch {
	case text == "":
		return Spec{}, memoir.Errorf(memoir.CodeConfig, "write provider/model, or builtin", "the model's name is empty")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return Spec{}, memoir.Errorf(memoir.CodeConfig, "write provider/model, or builtin", "the model's name %q contains spaces", text)
	case strings.EqualFold(provider, Builtin):
		return Spec{}, memoir.Errorf(memoir.CodeConfig, "write builtin", "the built-in model is %s, not %q", Builtin, text)
	case !slash:
		return Spec{}, memoir.Errorf(memoir.CodeConfig, "write provider/model, or builtin", "model %q names no provider", text)
	case provider == "" || name == "":
		return Spec{}, memoir.Errorf(memoir.CodeConfig, "write provider/model, or builtin", "model %q lacks its provider or its name", text)
	}
	return Spec{}, memoir.Errorf(memoir.CodeConfig, "use "+Builtin,
		"provider %q is not supported by this version", provider)
}
