package model

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode"

	"memoir"
)

const (
	keyTime = 10 * time.Second // time limit of a key command
	maxKey  = 16 << 10         // bytes
)

// Key is the source of a provider's key. Neither it nor its errors contain the key or the
// output of a key command.
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

// failed returns an error of the command, without the program's name: people may have written
// the key in its place.
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
