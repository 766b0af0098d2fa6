package secrets

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Some files are a secret as a whole, which only their name shows: .vault_pass, master.key, /run/secrets/db. Their
// content is searched as a line of `"password":"value"`, so that the allowlists for passwords apply.

const (
	minFileSecret = 8    // bytes, as minRepeated
	maxFileSecret = 2048 // bytes of the file, and of a tool call that reads or writes it
)

// secretFile matches the path of a file that contains only a secret.
var secretFile = lazyregexp.New(`(?i)(?:^|[/\\])(?:` +
	`\.?(?:[\w-]{1,40}[._-]|ansible|vault|db|root|admin|my|api|auth)?(?:password|passwd|passphrase|passcode|passwort` +
	`|pass|pwd|secret|token|psk|` +
	`(?:api|secret|access|private|encryption|master|signing|license)[._-]?key)s?(?:[._-]?file)?(?:\.(?:txt|key|pw|pwd` +
	`|pass|secret|dat|asc|conf))?` +
	`|master\.key|credentials[/\\][\w.-]{1,60}\.key|credentials\.yml\.key|\.erlang\.cookie` +
	`|(?:var[/\\])?run[/\\]secrets[/\\][\w./-]{1,80}` +
	`|[\w-]{0,40}\.secret)$`)

// secretFileParts are in lower case. Each path that secretFile matches contains one of them.
var secretFileParts = []string{"pass", "pwd", "secret", "token", "psk", "key", "cookie"}

// inFile returns the secret in the text of a file with that name, or "" without one.
func inFile(name, text string) string {
	if len(text) > maxFileSecret || !secretFile.MatchString(name) {
		return ""
	}
	value := strings.TrimSpace(lineMark.ReplaceAllString(strings.TrimSpace(text), ""))
	if len(value) < minFileSecret || strings.ContainsAny(value, " \t\r\n\"\\<>{}$=") || strings.Count(value, ":") > 3 ||
		secretFile.MatchString(value) {
		return ""
	}
	return value
}

// lineMark matches the number before a line, as tools print it.
var lineMark = lazyregexp.New(`^[ \t]{0,8}\d{1,5}(?:→|\t|: |\| )`)

// asNamed returns a value in a form that rules match.
func asNamed(value string) string { return `"password":"` + value + `"` }

// File remembers the secret of a file that only the file's name shows, so that it is redacted in later texts. It
// reports whether there is one. It counts nothing.
func (r *Redactor) File(name, text string) bool {
	value := inFile(name, text)
	return value != "" && r.Learn(asNamed(value))
}

// FindFile is Find, but it also returns a secret that only the file's name shows.
func (s *Scanner) FindFile(name, text string) []Finding {
	found := s.Find(text)
	value := inFile(name, text)
	if value == "" || len(found) > 0 {
		return found
	}
	named := s.Find(asNamed(value))
	if len(named) == 0 {
		return nil
	}
	start := strings.Index(text, value)
	return inOrder(text, []Finding{{Rule: named[0].Rule, Start: start, End: start + len(value), Hint: hint(value)}})
}

// readsFile matches a command that prints a file, and captures the file's name.
var readsFile = lazyregexp.New(`(?:^|[;&|(\s])(?:cat|bat|batcat|tac|head|tail|less|more|nl|type|gc` +
	`|Get-Content)(?:[ \t]+-[\w=-]+)*[ \t]+["']?([^\s"'|;&<>()]+)|\$\(<[ \t]*["']?([^\s"'|;&<>()]+)`)

// writesFile matches a command that writes a word to a file, and captures the word and the file's name.
var writesFile = lazyregexp.New(`(?:echo|printf)(?:[ \t]+-\w+)*[ \t]+(?:'%s(?:\\n)?'[ \t]+` +
	`|"%s(?:\\n)?"[ \t]+)?["']?([^\s"'|;&<>()]+)["']?` +
	`[ \t]*(?:>>?|\|[ \t]*(?:sudo[ \t]+)?tee(?:[ \t]+-a)?)[ \t]*["']?([^\s"'|;&<>()]+)`)

// The arguments of tools that have the name and the content of a file.
var (
	pathArguments = []string{"file_path", "path", "filePath", "filename", "absolute_path", "target_file", "abs_path",
		"file"}
	contentArguments = []string{"content", "text", "file_text", "contents"}
)

// filesOf remembers the secrets in the files that a tool call reads and writes.
func (r *Redactor) filesOf(it memoir.Item) {
	if it.Kind != memoir.ItemTool || len(it.Input) > maxFileSecret {
		return
	}
	lower := strings.ToLower(it.Input)
	if !slices.ContainsFunc(secretFileParts, func(part string) bool { return strings.Contains(lower, part) }) {
		return
	}
	if strings.HasPrefix(it.Input, "{") {
		name := argument(it.Input, pathArguments)
		if name == "" || !secretFile.MatchString(name) {
			return
		}
		r.File(name, it.Output)
		r.File(name, argument(it.Input, contentArguments))
		return
	}
	if len(it.Output) <= maxFileSecret {
		for _, m := range readsFile.FindAllStringSubmatch(it.Input, -1) {
			r.File(m[1]+m[2], it.Output)
		}
	}
	for _, m := range writesFile.FindAllStringSubmatch(it.Input, -1) {
		r.File(m[2], m[1])
	}
}

func argument(arguments string, names []string) string {
	for _, name := range names {
		if v := gjson.Get(arguments, name); v.Type == gjson.String {
			return v.Str
		}
	}
	return ""
}

// printedRule is the rule for the output of a command that prints a secret. Its expression matches a value after
// printedMark, so that the allowlists exclude placeholders.
const (
	printedRule = "command-output"
	printedMark = "command-output="
)

// readsSecret matches a simple command that prints a secret.
var readsSecret = lazyregexp.New(`^\s*(?:(?:sudo|command|builtin|exec|\w+=\S*)\s+)*(?:` +
	// password managers and keyrings
	`pass(?:\s+-\S+)*\s+(?:show\s|[\w.@-]+/\S)|gopass\s+(?:show|cat)\s|op\s+(?:read|item\s+get)\s` +
	`|bw\s+get\s+(?:password|totp|notes|item)\s|lpass\s+show\s|secret-tool\s+lookup\s|keyring\s+get\s` +
	`|security\s+find-(?:generic|internet)-password\s.*-\w*w|chamber\s+(?:read|export)\s|doppler\s+secrets\s+get\s` +
	// servers and clouds
	`|vault\s+(?:kv\s+get|read|print\s+token|token\s+lookup)\b|aws\s+(?:\S+\s+)*?(?:secretsmanager\s+get-secret-value` +
	`|ssm\s+get-parameters?|ecr\s+get-login-password|sts\s+get-session-token|configure\s+get\s+\S*(?:secret|token))\b` +
	`|gcloud\s+(?:\S+\s+)*?(?:secrets\s+versions\s+access|print-(?:access|identity)-token)\b` +
	`|az\s+(?:keyvault\s+secret\s+show|account\s+get-access-token|acr\s+credential\s+show)\b` +
	`|(?:kubectl|oc)\s+(?:\S+\s+)*?get\s+(?:\S+\s+)*?secrets?\b.*(?:-o|--output|--template|base64\s+(?:-d|-D|--decode))` +
	`|(?:kubectl|oc)\s+(?:create\s+token|whoami\s+-t)\b|heroku\s+config:get\s|fly(?:ctl)?\s+auth\s+token` +
	`|(?:gh|glab|hub)\s+auth\s+(?:token|status\s.*(?:-t|--show-token))\b|npm\s+config\s+get\s+\S*(?i:token|password)` +
	`|terraform\s+output\s+(?:-\S+\s+)*-raw\b|sops\s+(?:-d|decrypt|--decrypt)\b|ansible-vault\s+(?:view|decrypt)\b` +
	`|argocd\s+(?:admin\s+initial-password|account\s+generate-token)|wg\s+gen(?:key|psk)\b` +
	`|openssl\s+rand\b|pwgen\b|htpasswd\s.*-\w*n` +
	// variables
	`|(?:echo|printf)\s+(?:-\w+\s+|["']?%s(?:\\n)?["']?\s+)*["']?\$\{?` + secretVariable + `(?:["'}\s]|$)` +
	`|printenv\s+` + secretVariable + `(?:\s|$))`)

// secretVariable matches the name of a variable that holds a secret.
const secretVariable = `\w*(?i:password|passwd|passphrase|_pass|_pwd|secret|token|credentials?|_pat` +
	`|(?:api|access|private|secret|encryption|signing|master|auth|service)_?key)`

// filters matches a command after a pipe that prints its input or a part of it.
var filters = lazyregexp.New(`^\s*(?:base64|tr|head|tail|cut|jq|yq|cat|tee|sed|awk|xxd|xargs|grep|sort|uniq)\b`)

// splits matches the separator of two commands, elsewhere a redirection of standard output to a file.
var (
	splits    = lazyregexp.New(`\|\||&&|[;\n]`)
	elsewhere = lazyregexp.New(`(?:^|[^2&0-9])1?>{1,2}\s*[^\s&>]`)
)

// printsSecret reports whether a command line has a command that readsSecret matches and that prints its output.
func printsSecret(line string) bool {
	for command := range strings.Lines(splits.ReplaceAllString(line, "\n")) {
		first, rest, _ := strings.Cut(command, "|")
		if !readsSecret.MatchString(command) || elsewhere.MatchString(command) {
			continue
		}
		printed := true
		for rest != "" && printed {
			printed = filters.MatchString(rest)
			_, rest, _ = strings.Cut(rest, "|")
		}
		if printed && first != "" {
			return true
		}
	}
	return false
}

// printed redacts the output of a command that prints a secret. A single word of minFileSecret to maxFileSecret
// bytes becomes a secret of the session if a rule matches it. Any other output is replaced by a marker. The output
// of a failed command is an error message, but of several commands another one may have failed.
func (r *Redactor) printed(it memoir.Item) memoir.Item {
	output := strings.TrimSpace(it.Output)
	alone := !splits.MatchString(strings.TrimSpace(it.Input))
	if output == "" || it.Failed && alone || !it.Shell() || !printsSecret(it.Input) {
		return it
	}
	if !strings.ContainsAny(output, " \t\r\n") && len(output) >= minFileSecret && len(output) <= maxFileSecret {
		r.Learn(printedMark + output)
		return it
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if rule := r.rules.byID[printedRule]; rule != nil {
		r.counts[printedRule]++
		it.Output = marker(rule)
	}
	return it
}
