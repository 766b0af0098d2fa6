package secrets

import (
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

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
	single := !strings.ContainsAny(output, " \t\r\n") && len(output) >= minFileSecret && len(output) <= maxFileSecret
	if single {
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
