package model

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/config"
)

// Role is a setting that names a model.
type Role struct {
	Setting string // modelRoles.phase1
	Model   string // provider/model, or builtin; empty: not set
	Origin  string // file:line, or what else set it; empty: not looked up
}

// Roles lists the settings that name a model, as far as they are set.
func Roles(m config.ModelRoles) []Role {
	return slices.DeleteFunc([]Role{
		{Setting: "modelRoles.default", Model: m.Default}, {Setting: "modelRoles.smol", Model: m.Smol},
		{Setting: "modelRoles.phase1", Model: m.Phase1}, {Setting: "modelRoles.phase2", Model: m.Phase2},
	}, func(r Role) bool { return r.Model == "" })
}

// Phases picks the role of either phase.
func Phases(m config.ModelRoles) (one, two Role) {
	roles := map[string]Role{}
	for _, r := range Roles(m) {
		roles[strings.TrimPrefix(r.Setting, "modelRoles.")] = r
	}
	return cmp.Or(roles["phase1"], roles["default"]), cmp.Or(roles["phase2"], roles["smol"], roles["default"])
}

// Choice is the model of a role, as far as it is known without calling anybody.
type Choice struct {
	Role
	Spec    Spec
	Options Options // without the key
	Key     Key     // where that comes from
}

// Choose finds out what a role's model is called with. Errors have
// memoir.CodeConfig and name the role.
func Choose(s config.Settings, role Role) (Choice, error) {
	role.Origin = s.Origin(role.Setting)
	c, err := choose(s, role)
	return c, role.Name(err)
}

// Name adds the role's place and name to an error.
func (r Role) Name(err error) error {
	if err == nil {
		return nil
	}
	place := r.Setting
	if r.Origin != "" {
		place = r.Origin + ": " + r.Setting
	}
	return memoir.Errorf(memoir.CodeOf(err), memoir.HintOf(err), "%s: %w", place, err)
}

func choose(s config.Settings, role Role) (Choice, error) {
	spec, err := SpecOf(s, role.Model)
	c := Choice{Role: role, Spec: spec}
	if err != nil || spec.Builtin() {
		return c, err
	}
	provider := s.Providers[spec.Provider]
	known, variable, isKnown := Known(spec.Provider)
	o := Options{
		API: API(provider.API), BaseURL: provider.BaseURL, Command: provider.Command, Preset: provider.Preset,
		Effort: provider.Effort, Temperature: provider.Temperature,
		MaxOutput: provider.MaxOutputTokens, Window: provider.Window,
		Timeout: cmp.Or(time.Duration(provider.TimeoutSeconds)*time.Second, callTimeout),
		Price:   Price{Input: provider.InputPrice, Cached: provider.CachedPrice, Output: provider.OutputPrice},
	}
	switch {
	case o.API == "" && isKnown:
		o.API = known.API
	case o.API == "" && spec.Provider == string(APIExec):
		o.API = APIExec
	case o.API == "" && o.BaseURL != "":
		o.API = APIChat // what servers have in common
	case o.API == "":
		return c, memoir.Errorf(memoir.CodeConfig, "set providers."+spec.Provider+".baseURL, or its api",
			"nothing says where provider %s is reached", spec.Provider)
	}
	c.Key = Key{Provider: spec.Provider, Variable: provider.KeyEnv, Command: provider.KeyCommand,
		Origin: s.Origin("providers." + spec.Provider + ".keyCommand")}
	if o.API != APIExec {
		if o.BaseURL == "" && !isKnown { // another account at the API's own server
			known, variable, _ = Known(makerOf(o.API))
		}
		o.BaseURL = cmp.Or(o.BaseURL, known.BaseURL)
		if c.Key.Variable == "" && len(c.Key.Command) == 0 {
			c.Key.Variable, c.Key.Optional = variable, variable != "" && provider.BaseURL != ""
		}
	}
	c.Options = o
	return c, nil
}

// SpecOf reads the name of a model whose provider is known or configured.
func SpecOf(s config.Settings, name string) (Spec, error) {
	return ParseSpec(name, slices.Sorted(maps.Keys(s.Providers))...)
}

// makerOf is the provider that made an API.
func makerOf(api API) string {
	if api == APIAnthropic {
		return "anthropic"
	}
	return "openai"
}

// Check finds what can be known to be wrong with a model without calling it or
// running a command. Errors are as of Choose.
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

// Program is the path of the program that the model is; "" if it is none, or cannot be found.
func (c Choice) Program() string {
	m, err := Open(c.Spec, c.Options)
	if p, ok := m.(interface{ Program() string }); ok && err == nil {
		return p.Program()
	}
	return ""
}
