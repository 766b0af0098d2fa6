package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
	"unicode"

	"memoir"
	"memoir/config"
)

// Role is a setting that names a model.
type Role struct {
	Setting string // modelRoles.phase1
	Model   string // provider/model, or builtin; empty: not set
	Origin  string // file:line, or what else set it; empty: not looked up
}

// Roles returns the settings that name models.
func Roles(s config.Settings) []Role {
	m := s.ModelRoles
	return slices.DeleteFunc([]Role{
		{Setting: "modelRoles.default", Model: m.Default}, {Setting: "modelRoles.smol", Model: m.Smol},
		{Setting: "modelRoles.phase1", Model: m.Phase1}, {Setting: "modelRoles.phase2", Model: m.Phase2},
		{Setting: "shadowJournal.model", Model: s.ShadowJournal.Model},
	}, func(r Role) bool { return r.Model == "" })
}

// Phases returns the roles of the two phases.
func Phases(m config.ModelRoles) (one, two Role) {
	roles := map[string]Role{}
	for _, r := range Roles(config.Settings{ModelRoles: m}) {
		roles[strings.TrimPrefix(r.Setting, "modelRoles.")] = r
	}
	return cmp.Or(roles["phase1"], roles["default"]), cmp.Or(roles["phase2"], roles["smol"], roles["default"])
}

// Choice is the model of a role with its options, found without a call.
type Choice struct {
	Role
	Spec    Spec
	Options Options // without the key
	Key     Key     // its source
}

// Choose returns the model and the options of a role. Errors have memoir.CodeConfig and name the role.
func Choose(s config.Settings, role Role) (Choice, error) {
	role.Origin = s.Origin(role.Setting)
	c, err := Find(s, role)
	return c, role.Name(err)
}

// Name adds the role's place and name to an error.
func (r Role) Name(err error) error {
	if err == nil {
		return nil
	}
	place := r.Setting
	if r.Origin != "" && r.Origin != "default" {
		place = r.Origin + ": " + r.Setting
	}
	return memoir.Errorf(memoir.CodeOf(err), memoir.HintOf(err), "%s: %w", place, err)
}

// Find is Choose for a model that is not in the settings. Errors do not name the role.
func Find(s config.Settings, role Role) (Choice, error) {
	spec, err := SpecOf(s, role.Model)
	c := Choice{Role: role, Spec: spec}
	if err != nil || spec.Builtin() {
		return c, err
	}
	set, known := s.Providers[spec.Provider], providers[spec.Provider]
	api := cmp.Or(API(set.API), known.api)
	if api == APIExec || set.BaseURL == "" && known.baseURL == "" { // a program, or a further account at the API's server
		known = providers[map[API]string{APIChat: "openai", APIAnthropic: "anthropic"}[api]]
	}
	c.Options = Options{
		API:     cmp.Or(api, APIChat), // what servers have in common
		BaseURL: cmp.Or(set.BaseURL, known.baseURL), Command: set.Command, Preset: set.Preset,
		Effort: set.Effort, Temperature: set.Temperature, MaxOutput: set.MaxOutputTokens, Window: set.Window,
		Timeout: time.Duration(set.TimeoutSeconds) * time.Second,
		Price:   Price{Input: set.InputPrice, Cached: set.CachedPrice, Output: set.OutputPrice},
	}
	c.Key = Key{Provider: spec.Provider, Variable: set.KeyEnv, Command: set.KeyCommand,
		Origin: s.Origin("providers." + spec.Provider + ".keyCommand")}
	if set.KeyEnv == "" && len(set.KeyCommand) == 0 {
		c.Key.Variable, c.Key.Optional = known.keyEnv, known.keyEnv != "" && set.BaseURL != ""
	}
	switch {
	case api == APIExec:
		_, _, err = presetOf(spec, c.Options)
	case c.Options.BaseURL == "":
		err = memoir.Errorf(memoir.CodeConfig, "set providers."+spec.Provider+".baseURL, or its api",
			"provider %s has no address", spec.Provider)
	}
	return c, err
}

// Check validates a model without calling it or running a command. Errors are as of Choose.
func (c Choice) Check(getenv func(string) string) error {
	if c.Spec.Builtin() {
		return nil
	}
	if err := c.Key.Check(getenv); err != nil {
		return c.Name(err)
	}
	_, err := Open(c.Spec, c.Options)
	return c.Name(err)
}

// Program returns the path of the model's program; "" if it has none or it is not found.
func (c Choice) Program() string {
	if p, err := newProgram(c.Spec, c.Options); err == nil {
		return p.command[0]
	}
	return ""
}

// Builtin is the name of the built-in model, which needs no network and no key.
const Builtin = "builtin"

// Spec names a model: a provider and the provider's name of the model. The built-in model
// has the provider Builtin and no model name.
type Spec struct {
	Provider string
	Model    string
}

// Builtin reports whether the spec names the built-in model.
func (s Spec) Builtin() bool { return s.Provider == Builtin }

// String returns the form that SpecOf reads.
func (s Spec) String() string { return strings.TrimSuffix(s.Provider+"/"+s.Model, "/") }

// SpecOf reads "provider/model", "exec/preset", "exec/preset/model" or "builtin". The model's name may itself contain
// slashes. The provider must be known or configured. Other names are an error with memoir.CodeConfig.
func SpecOf(s config.Settings, text string) (Spec, error) {
	text = strings.TrimSpace(text)
	if text == Builtin {
		return Spec{Provider: Builtin}, nil
	}
	provider, name, _ := strings.Cut(text, "/")
	if provider == "" || name == "" || strings.HasSuffix(name, "/") ||
		strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return Spec{}, memoir.Errorf(memoir.CodeConfig, "write provider/model, or builtin",
			"%q is not the name of a model", text)
	}
	_, isKnown := providers[provider]
	if _, configured := s.Providers[provider]; configured || isKnown {
		return Spec{Provider: provider, Model: name}, nil
	}
	known := slices.Sorted(maps.Keys(providers))
	hint := fmt.Sprintf("use %s, %s, or say in providers.%s where it is reached",
		Builtin, strings.Join(known, ", "), provider)
	if near, ok := config.Nearest(provider, slices.AppendSeq(known, maps.Keys(s.Providers))); ok {
		hint = "did you mean " + near + "/" + name + "?"
	}
	return Spec{}, memoir.Errorf(memoir.CodeConfig, hint, "provider %q is neither known nor configured", provider)
}

// provider has the defaults of a known provider.
type provider struct {
	api     API
	baseURL string
	keyEnv  string // the variable that the provider's documentation names; empty: no key is needed
	usual   string // the model that is offered if the key is set; empty: none
}

// providers need no settings except a key. Local servers need none and have their default addresses.
var providers = map[string]provider{
	"openai":     {APIChat, "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-5"},
	"anthropic":  {APIAnthropic, "https://api.anthropic.com", "ANTHROPIC_API_KEY", "claude-sonnet-4-5"},
	"openrouter": {APIChat, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "openai/gpt-5"},
	"gemini": {APIChat, "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY",
		"gemini-2.5-flash"},
	"ollama":   {APIChat, "http://127.0.0.1:11434/v1", "", ""},
	"lmstudio": {APIChat, "http://127.0.0.1:1234/v1", "", ""},
	"llamacpp": {APIChat, "http://127.0.0.1:8080/v1", "", ""},
	"vllm":     {APIChat, "http://127.0.0.1:8000/v1", "", ""},
	"exec":     {APIExec, "", "", ""},
}

// Offer is a model that can be used on this machine without provider settings.
type Offer struct {
	Model string // provider/model
	Why   string // one line for people
}

// Offers lists the built-in model, the agents whose program is installed, and the providers whose key is in the
// environment. It makes no calls, so an agent may turn out not to be logged in.
func Offers(getenv func(string) string) []Offer {
	offers := []Offer{{Builtin, "precise and short; no key, no network"}}
	for _, p := range presets {
		if path, err := exec.LookPath(p.name); err == nil {
			offers = append(offers, Offer{Model: "exec/" + p.name, Why: path + " answers, with its own login"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		if p := providers[name]; p.usual != "" && getenv(p.keyEnv) != "" {
			offers = append(offers, Offer{Model: name + "/" + p.usual, Why: "$" + p.keyEnv + " is set"})
		}
	}
	return offers
}

const (
	keyTime = 10 * time.Second // time limit of a key command
	maxKey  = 16 << 10         // bytes
)

// Key is the source of a provider's key. Neither it nor its errors contain the key or the output of a key command.
type Key struct {
	Provider string
	Variable string   // of the environment; empty: none
	Command  []string // program and arguments; runs if the variable is not set; nil: none
	Origin   string   // of the setting: file:line
	Optional bool     // the variable may be unset
}

// Source describes the source of the key for people.
func (k Key) Source(getenv func(string) string) string {
	switch {
	case k.Variable != "" && k.fromEnvironment(getenv) != "":
		return "$" + k.Variable
	case len(k.Command) > 0:
		return "the command in " + k.Origin
	case k.Variable != "" && !k.Optional:
		return "$" + k.Variable + ", which is not set"
	}
	return "none needed"
}

func (k Key) fromEnvironment(getenv func(string) string) string {
	if k.Variable == "" || getenv == nil {
		return ""
	}
	return strings.TrimSpace(getenv(k.Variable))
}

// Check fails with memoir.CodeConfig if the key is not available. It does not run the command.
func (k Key) Check(getenv func(string) string) error {
	switch key := k.fromEnvironment(getenv); {
	case key != "":
		return k.usable(key, "the variable "+k.Variable)
	case len(k.Command) > 0:
		if _, err := exec.LookPath(k.Command[0]); err != nil {
			return k.failed("its program cannot be run: %v", errors.Unwrap(err))
		}
	case k.Variable != "" && !k.Optional:
		return memoir.Errorf(memoir.CodeConfig,
			fmt.Sprintf("set %s, or providers.%s.keyEnv or keyCommand", k.Variable, k.Provider),
			"provider %s has no key: the variable %s is not set", k.Provider, k.Variable)
	}
	return nil
}

// usable fails if a text can't be a key. The error does not repeat the text.
func (k Key) usable(key, from string) error {
	if strings.ContainsFunc(key, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return memoir.Errorf(memoir.CodeConfig, "it must be the key alone",
			"provider %s: %s contains spaces or more than one line", k.Provider, from)
	}
	return nil
}

// failed returns an error of the command, without the program's name: people may have written the key in its place.
func (k Key) failed(format string, args ...any) error {
	return memoir.Errorf(memoir.CodeConfig, "run it by hand: it must print the key, alone, within "+keyTime.String(),
		"%s: providers.%s.keyCommand: %s", k.Origin, k.Provider, fmt.Sprintf(format, args...))
}

// Read returns the key, "" if none is needed. Errors have memoir.CodeConfig, or say that ctx ended.
func (k Key) Read(ctx context.Context, getenv func(string) string) (string, error) {
	key := k.fromEnvironment(getenv)
	if err := k.Check(getenv); err != nil || key != "" || len(k.Command) == 0 {
		return key, err
	}
	return k.run(ctx, keyTime)
}

// run runs the command, without a shell and with an empty standard input, and returns the
// one line that it prints. Its children are ended with it.
func (k Key) run(ctx context.Context, limit time.Duration) (string, error) {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := run(within, start{command: k.Command, env: append(os.Environ(), memoir.ChildVariable+"=1")})
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case within.Err() != nil:
		return "", k.failed("printed no key within %s", limit)
	case errors.Is(err, errOutputTooLong) || len(out.stdout) > maxKey:
		return "", k.failed("printed more than a key")
	case err != nil:
		return "", k.failed("its program cannot be run: %v", errors.Unwrap(err))
	case out.status != 0:
		return "", k.failed("failed: exit status %d", out.status)
	}
	key := strings.TrimSpace(string(out.stdout))
	if key == "" {
		return "", k.failed("printed nothing")
	}
	return key, k.usable(key, "what the command in "+k.Origin+" prints")
}
