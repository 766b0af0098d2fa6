// Package config knows the settings: their names, defaults, bounds and meaning,
// the layers they come from (defaults, config.yml, MEMOIR_* variables, flags),
// what a project's own .memoir.yml may change, and which such files are trusted.
// It also knows where memoir's home and configuration directories are. It knows
// nothing of what the settings are for.
//
// Read definition.go first (the table), then load.go (the layers), provider.go
// (language models) and projectfile.go (what a repository may say about itself).
package config
