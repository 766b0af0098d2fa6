package extract

import (
	"slices"
	"strings"
)

// hostGroups are the groups of gh's and glab's subcommands that only look, or
// are steps of any piece of work.
var hostGroups = map[string]bool{
	"pr": true, "mr": true, "issue": true, "repo": true, "auth": true, "browse": true, "search": true, "status": true, "config": true, "alias": true, "extension": true, "help": true,
	"completion": true, "label": true, "gist": true,
}

// hostCommand renders a command of a host's program that is worth remembering by
// its form: a call of its API, a subcommand beyond the everyday ones. Numbers and
// texts become placeholders. mutates tells that it changes something.
func hostCommand(words []string) (text string, mutates bool) {
	group, rest := next(words[1:])
	if hostGroups[group] || group == "" || asksAbout(words[1:]) {
		return "", false
	}
	verb, _ := next(rest)
	switch verb {
	case "list", "ls", "view", "watch", "download", "status", "diff", "checks":
		if group != "api" {
			return "", false
		}
	}
	mutates = group != "api"
	out := []string{unquote(words[0])}
	for i := 1; i < len(words); i++ {
		w := unquote(words[i])
		name, value, assigned := strings.Cut(w, "=")
		switch {
		case strings.ContainsAny(w, "`\n"):
			w = "…"
		case valued[words[i]] && i+1 < len(words):
			v := unquote(words[i+1])
			if words[i] == "-X" || words[i] == "--method" {
				mutates = mutates || strings.ToUpper(v) != "GET"
				out = append(out, words[i], v)
				i++
				continue
			}
			if key, value, ok := strings.Cut(v, "="); ok && (words[i] == "-f" || words[i] == "-F" || words[i] == "--field" || words[i] == "--raw-field") {
				if key == "query" {
					return "", false
				}
				mutates = true
				if !setting(key, value) {
					value = "…"
				}
				out = append(out, words[i], key+"="+value)
			} else if words[i] != "--jq" && words[i] != "-q" && words[i] != "--template" && words[i] != "-t" && words[i] != "-H" && words[i] != "--header" {
				out = append(out, words[i], "…")
			}
			i++
			continue
		case strings.HasPrefix(w, "--") && assigned && len(value) > 30:
			w = name + "=…"
		case strings.HasPrefix(w, "repos/") || strings.HasPrefix(w, "/repos/") || strings.Contains(w, "/"):
			w = numbered(strings.Split(w, "?")[0])
		case strings.Trim(w, "0123456789") == "" && w != "":
			w = "N"
		}
		if strings.Contains(w, "$") || len(w) > 100 || strings.ContainsAny(w, " ") {
			w = "…"
		}
		out = append(out, w)
	}
	text = strings.Join(slices.Compact(out), " ")
	if len(text) > 160 || group == "api" && !strings.Contains(text, "/") {
		return "", false
	}
	return text, mutates
}

// mutation is the name of what a call of the host's query language changes.
var mutation = newPattern(`\bmutation\b[^{]{0,400}\{\s*(?:\w+\s*:\s*)?(\w+)`)

// hostStep renders a call of a host's API that changes something there, as a step of
// a procedure; empty for any other command.
func hostStep(words []string) string {
	if base := unquote(words[0]); base != "gh" && base != "glab" {
		return ""
	}
	if group, rest := next(words[1:]); group == "api" {
		if what, _ := next(rest); what == "graphql" {
			for _, w := range rest {
				if m := mutation.FindStringSubmatch(w); m != nil {
					return unquote(words[0]) + " api graphql -f query='mutation … " + m[1] + " …'"
				}
			}
			return ""
		}
		if text, mutates := hostCommand(words); mutates {
			return text
		}
	}
	return ""
}

// looks are what shows, on a repository's host, what people or checks said of the work.
var looks = wordSet("pr/view pr/checks pr/diff mr/view issue/view run/view run/watch discussion/view ci/status ci/trace")

// hostLook renders a command that reads what others said of the work on its host: a
// step of answering them, though nothing is changed by it. Empty for any other.
func hostLook(words []string) string {
	base := unquote(words[0])
	if base != "gh" && base != "glab" || asksAbout(words[1:]) {
		return ""
	}
	group, rest := next(words[1:])
	if group == "api" {
		if what, _ := next(rest); what == "graphql" {
			for _, w := range rest {
				if strings.Contains(w, "mutation") {
					return ""
				}
				for _, about := range []string{"reviewThreads", "comments", "discussion"} {
					if strings.Contains(w, about) {
						return base + " api graphql -f query='… " + about + " …'"
					}
				}
			}
			return ""
		}
		for _, w := range rest {
			if w = numbered(strings.Split(unquote(w), "?")[0]); strings.Contains(w, "/") && (strings.HasSuffix(w, "/comments") || strings.HasSuffix(w, "/reviews")) && !strings.ContainsAny(w, "$` ") {
				if _, mutates := hostCommand(words); !mutates {
					return base + " api " + w
				}
			}
		}
		return ""
	}
	verb, _ := next(rest)
	if !looks()[group+"/"+verb] {
		return ""
	}
	text := base + " " + group + " " + verb
	for _, w := range rest {
		if w == "--comments" || w == "--log-failed" || w == "--watch" {
			text += " " + w
		}
	}
	return text
}

// maxSetting is how many bytes a value has at most that is told with its key.
const maxSetting = 16

// setting reports whether a field of a call holds a value to choose, such as true or
// write, rather than a text or what differs from call to call.
func setting(key, value string) bool {
	switch key {
	case "body", "title", "message", "description", "name", "login", "owner", "repo":
		return false
	}
	return value != "" && len(value) <= maxSetting && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz_-") == ""
}

// valued options are followed by a value.
var valued = map[string]bool{
	"-X": true, "--method": true, "-f": true, "-F": true, "--field": true, "--raw-field": true, "--body": true, "-b": true, "--body-file": true, "--title": true, "--jq": true, "-q": true,
	"--template": true, "-t": true, "-H": true, "--header": true, "--input": true, "-R": true, "--repo": true, "--ref": true, "--json": true,
}

// numbered writes N for the numbers in a path.
func numbered(p string) string {
	parts := strings.Split(p, "/")
	for i, s := range parts {
		if s != "" && strings.Trim(s, "0123456789") == "" {
			parts[i] = "N"
		}
	}
	return strings.Join(parts, "/")
}
