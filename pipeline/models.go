package pipeline

import (
	"cmp"
	"context"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/config"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/model"
	"memoir/prompts"
)

// callTimeout is the time limit of a call where none is set.
const callTimeout = 10 * time.Minute

// retries says how a call is tried again before its session, or the run, has failed.
var retries = model.RetryPolicy{Attempts: 4, Base: time.Second, MaxWait: time.Minute}

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

// phases picks the role of either phase.
func phases(m config.ModelRoles) (one, two Role) {
	one = Role{Setting: "modelRoles.default", Model: m.Default}
	two = one
	if m.Smol != "" {
		two = Role{Setting: "modelRoles.smol", Model: m.Smol}
	}
	if m.Phase1 != "" {
		one = Role{Setting: "modelRoles.phase1", Model: m.Phase1}
	}
	if m.Phase2 != "" {
		two = Role{Setting: "modelRoles.phase2", Model: m.Phase2}
	}
	return one, two
}

// Choice is the model of a role, as far as it is known without calling anybody.
type Choice struct {
	Role
	Spec    model.Spec
	Options model.Options // without the key
	Key     Key           // where that comes from
}

// Choose finds out what a role's model is called with. Errors have
// memoir.CodeConfig and name the role.
func Choose(s config.Settings, role Role) (Choice, error) {
	role.Origin = s.Origin(role.Setting)
	c, err := choose(s, role)
	return c, role.name(err)
}

// name adds the role's place and name to an error.
func (r Role) name(err error) error {
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
	spec, err := parseSpec(s, role.Model)
	c := Choice{Role: role, Spec: spec}
	if err != nil || spec.Builtin() {
		return c, err
	}
	provider, call := s.Providers[spec.Provider], s.CallOf(spec.Provider, spec.String())
	known, variable, isKnown := model.Known(spec.Provider)
	o := model.Options{
		API: model.API(provider.API), BaseURL: provider.BaseURL, Command: provider.Command, Preset: provider.Preset,
		Effort: call.Effort, Temperature: call.Temperature, MaxOutput: call.MaxOutputTokens, Window: call.Window,
		Timeout: cmp.Or(time.Duration(call.TimeoutSeconds)*time.Second, callTimeout),
		Price: model.Price{
			Input:  value(call.InputPrice),
			Cached: value(call.CachedPrice),
			Output: value(call.OutputPrice),
		},
	}
	switch {
	case o.API == "" && isKnown:
		o.API = known.API
	case o.API == "" && spec.Provider == string(model.APIExec):
		o.API = model.APIExec
	case o.API == "" && o.BaseURL != "":
		o.API = model.APIChat // what servers have in common
	case o.API == "":
		return c, memoir.Errorf(memoir.CodeConfig, "set providers."+spec.Provider+".baseURL, or its api",
			"nothing says where provider %s is reached", spec.Provider)
	}
	c.Key = Key{Provider: spec.Provider, Variable: provider.KeyEnv, Command: provider.KeyCommand,
		Origin: s.Origin("providers." + spec.Provider + ".keyCommand")}
	if provider.KeyEnv != "" {
		c.Key.VariableOrigin = s.Origin("providers." + spec.Provider + ".keyEnv")
	}
	if o.API != model.APIExec {
		if o.BaseURL == "" && !isKnown { // another account at the API's own server
			known, variable, _ = model.Known(makerOf(o.API))
		}
		o.BaseURL = cmp.Or(o.BaseURL, known.BaseURL)
		if c.Key.Variable == "" && len(c.Key.Command) == 0 {
			c.Key.Variable, c.Key.Optional = variable, variable != "" && nearby(o.BaseURL)
		}
	}
	c.Options = o
	return c, nil
}

// nearby reports whether a URL is of this machine or of the network around it, as
// far as its name tells: servers there mostly ask for no key.
func nearby(baseURL string) bool {
	u, err := url.Parse(baseURL)
	if err != nil {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	_, top, dotted := strings.Cut(host, ".")
	top = top[strings.LastIndexByte(top, '.')+1:]
	return host != "" && (!dotted || slices.Contains([]string{"localhost", "local", "lan", "internal"}, top))
}

// parseSpec reads the name of a model whose provider is known or configured.
func parseSpec(s config.Settings, name string) (model.Spec, error) {
	configured := slices.Sorted(maps.Keys(s.Providers))
	spec, err := model.ParseSpec(name, configured...)
	if err == nil {
		return spec, nil
	}
	// A provider or preset whose name is near to a known one is misspelt.
	provider, rest, _ := strings.Cut(strings.TrimSpace(name), "/")
	known := slices.Concat(model.KnownProviders(), configured, []string{model.Builtin, string(model.APIExec)})
	switch near, ok := config.Nearest(provider, known); {
	case len(provider) < 3: // near to anything
	case ok && near == model.Builtin:
		return spec, memoir.Errorf(memoir.CodeOf(err), "did you mean "+near+"?", "%w", err)
	case ok && near != provider && rest != "":
		return spec, memoir.Errorf(memoir.CodeOf(err), "did you mean "+near+"/"+rest+"?", "%w", err)
	case provider == string(model.APIExec):
		preset, rest, _ := strings.Cut(rest, "/")
		if near, ok := config.Nearest(preset, model.Presets()); ok && near != preset {
			return spec, memoir.Errorf(
				memoir.CodeOf(err),
				"did you mean "+strings.TrimSuffix(provider+"/"+near+"/"+rest, "/")+"?",
				"%w",
				err,
			)
		}
	}
	return spec, err
}

// makerOf is the provider that made an API.
func makerOf(api model.API) string {
	if api == model.APIAnthropic {
		return "anthropic"
	}
	return "openai"
}

// value is a number that may not be set.
func value(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

// CheckModels checks that what is said of single models is said of some that can be
// named: else it would never be heeded.
func CheckModels(s config.Settings) error {
	for _, name := range slices.Sorted(maps.Keys(s.Models)) {
		if _, err := parseSpec(s, name); err != nil {
			return memoir.Errorf(
				memoir.CodeConfig,
				memoir.HintOf(err),
				"%s: models.%s: %w",
				s.Origin("models."+name),
				name,
				err,
			)
		}
	}
	return nil
}

// Check finds what can be known to be wrong with a model without calling it or
// running a command. Errors are as of Choose.
func (c Choice) Check(getenv func(string) string) error {
	if c.Spec.Builtin() {
		return nil
	}
	if err := c.Key.Check(getenv); err != nil {
		return c.name(err)
	}
	_, err := model.Open(c.Spec, c.Options)
	return c.name(err)
}

// Program is the path of the program that the model is; "" if it is none, or cannot be found.
func (c Choice) Program() string {
	m, err := model.Open(c.Spec, c.Options)
	if p, ok := m.(interface{ Program() string }); ok && err == nil {
		return p.Program()
	}
	return ""
}

// chooseModels puts the models that are set in the place of the built-in ones. It comes
// before anything is claimed: a model that cannot be had costs no session an attempt, and
// is never replaced by another. A dry run needs no key.
func (r *run) chooseModels(ctx context.Context) error {
	settings := r.opts.Settings
	if err := CheckModels(settings); err != nil {
		return err
	}
	for _, role := range Roles(settings.ModelRoles) {
		if _, err := Choose(settings, role); err != nil {
			return err
		}
	}
	files, err := prompts.LoadDir(settings.Prompts.Dir)
	if err != nil {
		return memoir.Errorf(
			memoir.CodeOf(err),
			memoir.HintOf(err),
			"prompts.dir (%s): %w",
			settings.Origin("prompts.dir"),
			err,
		)
	}
	r.prompts = files
	if r.opts.Phases != nil {
		r.extractor, r.consolidator, err = r.opts.Phases(r.meter.of)
		return err
	}
	defer clear(r.secretKeys)
	one, two := phases(settings.ModelRoles)
	extractor, called, err := r.modelOf(ctx, one)
	if err != nil {
		return err
	}
	consolidator, asked, err := r.modelOf(ctx, two)
	if err != nil {
		return err
	}
	if extractor != nil {
		r.extractor = extract.NewLLM(extract.LLM{
			Model: extractor, Prompts: files,
			InputTokens: settings.Memories.Phase1InputTokenLimit, Payload: settings.Memories.RolloutPayloadPercent,
			Passes:    settings.Memories.MaxPassesPerSession,
			MaxOutput: called.MaxOutput, Report: r.extracted,
		})
	}
	if consolidator != nil {
		r.consolidator = consolidate.NewLLM(
			consolidate.LLM{Model: consolidator, Prompts: files, MaxOutput: asked.MaxOutput, Report: r.consolidated},
		)
	}
	for _, w := range settings.Warnings() {
		r.warn(w.Message, w.Hint)
	}
	return nil
}

// modelOf is the language model of a role, ready to be called, with what it is called
// with but the key; nil for the built-in one.
func (r *run) modelOf(ctx context.Context, role Role) (model.Model, model.Options, error) {
	choice, err := Choose(r.opts.Settings, role)
	if err != nil || choice.Spec.Builtin() {
		return nil, model.Options{}, err
	}
	role = choice.Role // with its place
	o := choice.Options
	o.Warn, o.Redact = r.warn, r.redact
	switch err := choice.name(choice.Key.Check(r.getenv)); {
	case err == nil:
	case r.opts.DryRun:
		r.warn(err.Error(), memoir.HintOf(err))
	default:
		return nil, model.Options{}, err
	}
	if !r.opts.DryRun {
		if o.Key, err = r.key(ctx, choice.Key); err != nil {
			return nil, model.Options{}, role.name(err)
		}
	}
	m, err := model.Open(choice.Spec, o)
	if err != nil {
		return nil, model.Options{}, role.name(err)
	}
	policy := retries
	policy.Sleep = r.patience(m.Name())
	return model.Retrying(guarded{r.meter.of(m, o), r}, policy), choice.Options, nil
}

// key returns the key of a provider. A command that prints it, and may ask a person
// first, runs once.
func (r *run) key(ctx context.Context, k Key) (string, error) {
	if key, ok := r.secretKeys[k.Provider]; ok {
		return key, nil
	}
	key, err := k.read(ctx, r.getenv)
	if err == nil {
		r.secretKeys[k.Provider] = key
	}
	return key, err
}

// getenv reads a variable of the run's environment.
func (r *run) getenv(name string) string {
	if r.opts.Env.Getenv == nil {
		return ""
	}
	return r.opts.Env.Getenv(name)
}
