package secrets

import (
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// printedRule is the rule for what a command that reads a secret prints. Its expression sees a value
// behind printedMark, so that the placeholders of all rules say what is none.
const (
	printedRule = "command-output"
	printedMark = "command-output="
)

// readsSecret matches a simple command that prints a secret: what it asks, and of whom.
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

// filters matches what may stand behind a pipe and prints what it is given, or a part of it.
var filters = lazyregexp.New(`^\s*(?:base64|tr|head|tail|cut|jq|yq|cat|tee|sed|awk|xxd|xargs|grep|sort|uniq)\b`)

// splits matches what stands between two commands.
var (
	splits    = lazyregexp.New(`\|\||&&|[;\n]`)
	elsewhere = lazyregexp.New(`(?:^|[^2&0-9])1?>{1,2}\s*[^\s&>]`)
)

// printsSecret reports whether a command line prints what it reads from where secrets are kept.
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

// printed takes out what a command printed that reads a secret. A single value of 8 bytes and more
// that is no placeholder is a secret of the session; anything else goes where it stands alone. What
// a command prints that fails is an error, but of several commands another one may have failed.
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
