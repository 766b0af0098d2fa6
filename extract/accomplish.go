package extract

import "strings"

var achieved = newPhrases("fixed|opened|created|added|removed|replaced|changed|moved|kept|normalized|applied|updated|implemented|addressed|refactored|renamed|extracted|converted|introduced|restored|merged|released|published|hardened|tightened|switched|dropped|split|rewrote|wired|migrated|bumped|documented|reverted|reduced|simplified|disabled|enabled|excluded|included|cleaned|closed|made|set|used|turned|wrapped|validated|ported|deleted|pushed|committed|replied|completed|resolved|corrected|adjusted|improved")

// impersonal takes the agent out of a sentence that says what it did.
func impersonal(sentence string) string {
	sentence = strings.TrimLeft(sentence, "✅✓☑ ")
	for _, opening := range []string{"Done: ", "Done. ", "Done — ", "Done - "} {
		if rest, ok := strings.CutPrefix(sentence, opening); ok && len(rest) > 20 {
			sentence = rest
		}
	}
	for _, subject := range []string{"I've also ", "I also ", "I've successfully ", "I have also ", "I've ", "I’ve also ", "I’ve ", "I have ", "I "} {
		if rest, ok := strings.CutPrefix(sentence, subject); ok && (begins(words(rest), achieved) || begins(words(rest), phrases("chose|decided|picked|opted|settled"))) {
			return capital(rest)
		}
	}
	return sentence
}

// accomplishment weighs a sentence that says what was done; 0 for any other.
func accomplishment(sentence string) float64 {
	norm := words(sentence)
	n := strings.Count(norm, " ")
	if n < 5 || len(sentence) > 500 || strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, ":") {
		return 0
	}
	rest := norm
	if _, after, ok := strings.Cut(sentence, "` - "); ok && strings.HasPrefix(strings.TrimLeft(sentence, "✅✓☑ "), "`") {
		rest = words(after)
	}
	for _, subject := range []string{" i've also ", " i've successfully ", " i have also ", " i also ", " i've ", " i have ", " i ", " also ", " we ", " and ", " then "} {
		if trimmed, ok := strings.CutPrefix(rest, subject); ok {
			rest = " " + trimmed
			break
		}
	}
	did := begins(rest, achieved)
	for _, subject := range []string{" the fix ", " this ", " it ", " the pr ", " the change ", " new shape "} {
		if trimmed, ok := strings.CutPrefix(norm, subject); ok && (has(trimmed, phrases("now|so")) || strings.HasPrefix(trimmed, "makes ") || strings.HasPrefix(trimmed, "adds ") || strings.HasPrefix(trimmed, "normalizes ") || strings.HasPrefix(trimmed, "uses ")) {
			did = true
		}
	}
	if !did && !(strings.Contains(norm, " now ") && anchors(sentence) > 0 && !begins(norm, narrations) && !has(norm, causes) && !has(norm, phrases("right now|now always"))) {
		return 0
	}
	weight := 1 + 0.5*float64(min(anchors(sentence), 3))
	if has(norm, chatter) && !strings.Contains(norm, "/pull/") {
		weight -= 1.5
	}
	if anchors(sentence) == 0 && n < 9 {
		weight--
	}
	return max(weight, 0)
}

// actsOutside reports whether a tool of that name, by the verb in it, changes something
// outside of the session, or has another agent do so.
func actsOutside(tool string) bool {
	for w := range strings.FieldsFuncSeq(tool, func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch w {
		case "create", "update", "delete", "add", "save", "post", "send", "merge", "publish", "move", "rename", "remove", "edit", "write", "task", "agent":
			return !strings.HasPrefix(tool, "todo") && !strings.HasPrefix(tool, "task_") && tool != "taskcreate" && tool != "taskupdate"
		}
	}
	return false
}

// acted reports whether the agent changed something in a turn, with success.
func (t *turn) acted() bool {
	if t.edits > 0 || t.acts > 0 {
		return true
	}
	for _, run := range t.runs {
		if run.failed {
			continue
		}
		for _, s := range run.whole {
			if alters(s.words) {
				return true
			}
		}
	}
	return false
}

// alters reports whether a simple command changes files, the repository's history
// or something on a server.
func alters(args []string) bool {
	if len(args) < 2 {
		return false
	}
	sub, rest := next(args[1:])
	switch unquote(args[0]) {
	case "rm", "mv", "cp", "mkdir", "rmdir", "ln", "chmod", "tee", "touch", "kill", "pkill":
		return true
	case "sed", "perl":
		for _, w := range args[1:] {
			if strings.HasPrefix(w, "-i") || strings.HasPrefix(w, "-pi") {
				return true
			}
		}
	case "git":
		switch sub {
		case "add", "commit", "push", "merge", "rebase", "reset", "revert", "tag", "switch", "checkout", "cherry-pick", "apply", "mv", "rm", "restore", "stash", "am", "clean":
			return true
		}
	case "gh", "glab":
		verb, _ := next(rest)
		switch verb {
		case "create", "edit", "merge", "close", "comment", "review", "upload", "run", "reopen", "delete", "ready", "note", "update", "enable", "rerun":
			return true
		}
		if sub == "api" {
			for _, w := range rest {
				switch w {
				case "POST", "PUT", "PATCH", "DELETE", "-XPOST", "-XPUT", "-XPATCH", "-XDELETE":
					return true
				}
			}
		}
	}
	_, use := classify(args)
	return use == forInstall || use == forRelease || use == forFormat
}
