package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"memoir"
)

// Home returns the directory of memoir's data: the flag --home, else
// $MEMOIR_HOME, else $XDG_DATA_HOME/memoir, else ~/.local/share/memoir. The path
// is absolute; it need not exist. Environ is as os.Environ returns it.
func Home(flag string, environ []string) (string, error) {
	env := lookup(environ)
	name, dir := "--home", flag
	if dir == "" {
		name, dir = "MEMOIR_HOME", env("MEMOIR_HOME")
	}
	if dir == "" {
		return userDir(env, "XDG_DATA_HOME", ".local/share", "set HOME, or say where with --home DIR or MEMOIR_HOME")
	}
	dir, err := expandHome(dir, homeDir(env))
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return "", memoir.Errorf(memoir.CodeConfig, "give an absolute path", "%s: %w", name, err)
	}
	return dir, nil
}

// ConfigDir returns the directory of config.yml: $XDG_CONFIG_HOME/memoir, else
// ~/.config/memoir. It need not exist.
func ConfigDir(environ []string) (string, error) {
	return userDir(lookup(environ), "XDG_CONFIG_HOME", ".config", "set HOME or XDG_CONFIG_HOME")
}

// userDir applies the XDG base directory rules, by which a relative path in one
// of its variables is to be ignored.
func userDir(env func(string) string, variable, below, hint string) (string, error) {
	base := env(variable)
	if home := homeDir(env); !filepath.IsAbs(base) && home != "" {
		base = filepath.Join(home, filepath.FromSlash(below))
	}
	if !filepath.IsAbs(base) {
		return "", memoir.Errorf(memoir.CodeConfig, hint,
			"no home directory: neither HOME nor %s is an absolute path", variable)
	}
	return filepath.Join(base, "memoir"), nil
}

// UserHome returns the person's home directory as the environment names it, or "".
func UserHome(environ []string) string { return homeDir(lookup(environ)) }

func homeDir(env func(string) string) string {
	home := env("HOME")
	if home == "" && runtime.GOOS == "windows" {
		home = env("USERPROFILE")
	}
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Clean(home)
}

// expandHome replaces a leading "~" by the home directory.
func expandHome(path, home string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || (rest != "" && rest[0] != '/' && !os.IsPathSeparator(rest[0])) {
		return path, nil
	}
	if home == "" {
		return "", memoir.Errorf(memoir.CodeConfig, "set HOME, or write the path in full",
			"%q needs a home directory, and HOME is not set", path)
	}
	return home + rest, nil
}

// lookup returns a function that reads a variable of environ.
func lookup(environ []string) func(string) string {
	return func(name string) string {
		for _, entry := range environ {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// RulesFile is where a person's own secret rules are, if they have any, in
// gitleaks' form; "" without a configuration directory.
func RulesFile(configDir string) string {
	if configDir == "" {
		return ""
	}
	return filepath.Join(configDir, ".gitleaks.toml")
}
