package extract

import (
	"strings"
	"sync"
)

// imperatives are verbs that requests begin with.
var imperatives = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`adapt analyse analyze diagnose measure profile rebuild redeploy repair reproduce reset restart retry add address adjust align bring configure deploy disable draft enable expose finish fold hide inspect introduce modify polish reopen reorder shorten summarise sync tidy trigger tweak unify upload ask answer apply assume be build bump call change check choose clean close comment commit compare convert copy create cut debug
			delete describe do document drop edit ensure execute explain export extract fetch find fix follow format generate get give go handle ignore implement import
			improve include inline install investigate keep kill leave let link list load log look make mark merge migrate mock mention move name note open optimize pass
			pick pin plan port post prefer prepare print propose provide publish pull push put quote read rebase redo reduce refactor regenerate release rely remember remove rename
			replace reply report request rerun resolve respond restore return reuse revert review rewrite run save scan search see send separate set show simplify skip sort
			split squash start stay stick stop submit suggest summarize switch tag take target tell test think throw track translate treat trim try type undo update upgrade use
			validate verify wait wire work wrap write`) {
		m[w] = true
	}
	return m
})

// directive reports whether the adverb stands where an instruction has it: at
// the beginning of a clause, or behind a modal verb or the person spoken to.
func directive(norm, adverb string) bool {
	for i, rest := 0, norm; ; {
		j := strings.Index(rest, " "+adverb+" ")
		if j < 0 {
			return false
		}
		i += j
		before := strings.TrimSpace(norm[:i])
		prev := before[strings.LastIndexByte(before, ' ')+1:]
		after, _, _ := strings.Cut(strings.TrimSpace(norm[i+len(adverb)+2:]), " ")
		switch prev {
		case "", "please", "and", "but", ",", ";", ":", "(", "—", "–", "-", "you", "should", "must", "to", "we", "also", "or", "can", "may", "shall", "so", "just", "i", "ok", "will", "ever", "!":
			if after != "" && after != "mind" && after != "the" && !(after == "had" || after == "seen" || after == "heard" || after == "been") {
				if prev == "you" || prev == "we" || prev == "i" || prev == "" || prev != "to" || strings.Contains(norm, " sure to ") || strings.Contains(norm, " remember to ") || strings.Contains(norm, " need to ") || strings.Contains(norm, " want you to ") {
					return true
				}
			}
		}
		i += len(adverb) + 1
		rest = norm[i:]
	}
}

// commands reports whether a sentence is in the imperative, as far as its first words tell.
func commands(norm string) bool {
	fields := strings.Fields(norm)
	for i, w := range fields {
		if i > 5 {
			return false
		}
		if imperatives()[w] {
			return true
		}
		switch w {
		case "no", ",", "please", "ok", "okay", "actually", "just", "also", "and", "then", "alright", "omfg", "btw", "so", "but", "can", "could", "you", "instead",
			"yes", "well", "hmm", "now", "first", "always", "never", "don't", "do", "not", "only", "again", "would", "—", "-", "dude", "better", "let's", "to", "you'll", "should", "must":
		default:
			return false
		}
	}
	return false
}

// forbids are what a prohibition begins with.
var forbids = []string{"don't", "do not", "dont", "never", "stop", "avoid", "no more", "please don't", "do n't", "must not", "mustn't", "never ever"}

// forbidden returns what follows a "don't" at the beginning of a clause.
func forbidden(norm string) string {
	for _, f := range forbids {
		for i, rest := 0, norm; ; {
			j := strings.Index(rest, " "+f+" ")
			if j < 0 {
				break
			}
			i += j
			before := strings.TrimSpace(norm[:i])
			switch before[strings.LastIndexByte(before, ' ')+1:] {
			case "", ",", ";", ":", "(", "—", "–", "and", "but", "please", "also", "so", "just", "!", "ok", "then", "or", "you":
				return strings.TrimSpace(norm[i+len(f)+2:])
			}
			i += len(f) + 1
			rest = norm[i:]
		}
	}
	return ""
}

// general reports whether the object of a prohibition is a kind of thing ("push
// to main", "add comments") rather than a thing at hand ("touch that file").
func general(object string) bool {
	fields := strings.Fields(object)
	if len(fields) < 2 {
		return false
	}
	if len(fields) > 20 {
		fields = fields[:20]
	}
	for i, w := range fields[1:] {
		switch w {
		case "this", "that", "it", "these", "those", "them", "anything", "yet", "everything":
			return false
		case "the", "my", "your":
			rest := fields[i+2:]
			for _, noun := range rest[:min(3, len(rest))] {
				switch noun {
				case "api", "schema", "interface", "interfaces", "signatures", "contract", "protocol", "pipeline", "license", "headers", "exports", "submodules", "production", "config",
					"folder", "directory", "branch", "files", "tests", "docs", "snapshots", "migrations", "fixtures", "database", "lockfile", "changelog":
					return true
				}
			}
			return false
		case ",", ".", ";", ":", ")":
			return i > 0
		}
	}
	return true
}

// contrast reports whether a sentence sets one way of doing against another.
func contrast(norm string) bool {
	if has(norm, phrases("instead of|rather than|and not|, not|but as|not as")) {
		return true
	}
	i := strings.Index(norm, " use ")
	return i >= 0 && (strings.Contains(norm[i:], " not ") || strings.Contains(norm[i:], " no "))
}

// banned reports whether a sentence cries out "no <things>!".
func banned(s string) bool {
	fields := strings.Fields(strings.ToLower(s))
	for i, w := range fields {
		if w != "no" || i+1 >= len(fields) {
			continue
		}
		for _, noun := range fields[i+1 : min(i+4, len(fields))] {
			if trimmed := strings.TrimRight(noun, "!"); trimmed != noun {
				return strings.HasSuffix(trimmed, "s") || strings.HasSuffix(trimmed, "ing")
			}
		}
	}
	return false
}

// emphasis is 1 for a sentence that is shouted.
func emphasis(s string) float64 {
	if strings.Contains(s, "!") {
		return 1
	}
	for w := range strings.FieldsSeq(s) {
		switch strings.Trim(w, ".,;:()*_") {
		case "NEVER", "ALWAYS", "NOT", "DON'T", "DONT", "MUST", "ONLY", "STOP", "DO":
			return 1
		}
	}
	return 0
}
