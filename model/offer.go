package model

import (
	"maps"
	"os/exec"
	"slices"
)

// Offer is a model that can be used on this machine without provider settings.
type Offer struct {
	Model string // provider/model
	Why   string // one line for people
	Local bool   // no data leaves the machine, and calls are free
}

// Offers lists the built-in model, the agents whose program is installed, and the providers whose key is in the
// environment. It makes no calls, so an agent may turn out not to be logged in.
func Offers(getenv func(string) string) []Offer {
	offers := []Offer{{Builtin, "precise and short; no key, no network", true}}
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
