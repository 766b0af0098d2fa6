package extract

import (
	"slices"
	"strings"
)

var (
	// What sets what is against what should be.
	contrasting = newPhrases(", but|but the|but those|but that|but not|, while|yet|never|already|too late|missing|absent|not yet|instead|without|unused|stale|out of sync|half-present|only|still|even though|although|unlike|no longer")
	// What the agent says of a change that it makes next.
	announces = newPhrases("i'm|i am|i'll|i will|i'm going to|let me|let's|now i|next|so i'm|so i'll|then i'll|i need to|i have to|time to|fixing|adding|patching")
	changing  = newPhrases("fix|fixing|add|adding|patch|patching|making|make|updating|update|moving|move|factoring|changing|change|switching|switch|stopping|fetching|fetch|restoring|restore|initializing|initialize|applying|apply|renaming|rename|replacing|replace|removing|remove|rewriting|installing|install|creating|create|editing|edit|extending|extend|keeping|keep|wiring|promoting|taking|correcting|converting|resetting|reset|dropping|drop|treating|skip|skipping|split|splitting|merging|cleaning|clean|handle|handling|using|use|running|run|rerun|rerunning")
	waiting   = newPhrases("is holding|are holding|is queued|are queued|is downloading|is installing|is fetching|search shows|search now|grep shows|diff shows|still compiling|still building|still running|still progressing|still in progress|waiting for|waiting on|compiling|is building|nothing actionable|so far|in the meantime|has passed|have passed|passed|is in place|are in place|is in|look scoped|looks scoped|no job|no jobs|no failing|no failures|no failed|remain active|remains active|is still active|exit code")
	// A short sentence that says that the cause was found; it stands in the next.
	foundIt = newPhrases("found it|found the issue|found the problem|found the bug|found the cause|found the culprit|found the root cause|i found the issue|i found the problem|i found the bug|i found the cause|i found the root cause|i see the issue|i see the problem|i see the bug|now i see the issue|now i see the problem|i see what|there it is|that's the bug|that's the issue|that's the problem|got it|now i understand|i understand now|here's the issue|here's the problem|this is the issue|this is the problem|mystery solved|ich habe das problem|ich sehe das problem|problem gefunden|trouvé|j'ai trouvé|encontré|encontrei|нашёл|нашел")
	// A label that says that something found follows.
	flags = newPhrases("nuance|caveat|subtlety|wrinkle|gotcha|catch|detail|insight|split point|key point|problem|issue|cause|causes|culprit|finding|spot|failure mode|trick|reason|is right|was right|are right|correct|difference|constraint|limitation|bug|found|note|important|ursache|grund|problem ist|raison|problème|razón|problema|motivo|causa|причина|проблема")
)

func contrasts(norm string) bool { return has(norm, contrasting) }

// waits reports whether a sentence tells of waiting, or of what just went well.
func waits(norm string) bool { return has(norm, waiting) && !has(norm, causes) }

// unveil cuts off what announces a finding: "One nuance: X" gives X, and tells
// that it was announced.
func unveil(sentence string) (rest string, flagged bool) {
	label, after, ok := strings.Cut(sentence, ": ")
	if !ok {
		label, after, ok = strings.Cut(sentence, "：")
	}
	if ok && !strings.Contains(label, "`") && len(strings.Fields(label)) <= 10 && len(strings.Fields(after)) >= 5 && !begins(words(label), phrases("i'm|i'll|let me|should|small note|fix|fixed|test|tests|verified")) && has(words(label), flags) {
		if after = unpointed(capital(after)); begins(words(after), dangling) {
			return sentence, true
		}
		return after, true
	}
	sentence = withoutAim(sentence)
	for _, opening := range []string{"Actually, ", "Interesting: ", "Interesting, ", "Interestingly, ", "Ah, ", "Hmm, ", "Good, ", "Note that ", "Important: ", "It turns out that ", "Turns out ", "This means that ", "This means ", "That means ", "As a result, ", "In other words, ", "In practice, "} {
		if after, ok := strings.CutPrefix(sentence, opening); ok && len(strings.Fields(after)) >= 5 {
			return capital(after), opening == "Note that " || opening == "Important: " || strings.Contains(opening, "urns out") || strings.Contains(opening, "means")
		}
	}
	return sentence, false
}

// aimed is what a sentence or entry names first when it answers one of many
// remarks, or how a run went that the rest explains.
var aimed = newPattern(`^(?:\[[^\]]{0,60}#\d+\]\([^)]*\): |(?:For |On )?#\d+[:,] |(?:The|All|That|This) (?:[\w-]+ ){0,3}(?:tests?|checks?|builds?|runs?|suite|cases?) (?:passed|succeeded|failed|worked|ran), but )`)

// withoutAim drops what a sentence names first.
func withoutAim(sentence string) string {
	if at := aimed.FindStringIndex(sentence); at != nil && len(strings.Fields(sentence[at[1]:])) >= 5 {
		return capital(sentence[at[1]:])
	}
	return sentence
}

// henceforth announces how things are done from then on.
var henceforth = newPattern(`^(?:Going forward|From now on|From here on|In (?:the )?future|Henceforth|To release|To publish|To deploy|Ab jetzt|Künftig|Désormais|À l'avenir|De ahora en adelante|En adelante|A partir de agora|Daqui em diante|Впредь|今后|以后|今後は)[:,，、]? ?`)

// procedureOf reads a sentence that says how things are done from then on, with
// the one behind it, which goes on with it.
func procedureOf(list []string) (line string, used int) {
	at := henceforth.FindStringIndex(list[0])
	rest := ""
	if at != nil {
		rest = list[0][at[1]:]
	}
	if len(strings.Fields(rest)) < 4 && wide(rest) < 8 || strings.HasSuffix(list[0], "?") || begins(words(rest), phrases("i|i'll|i'd|we could|you could|you can|should i")) {
		return "", 0
	}
	line, used = list[0], 1
	if len(list) > 1 && has(words(list[1]), phrases("that|it|this|then|them|merging")) && !strings.HasSuffix(list[1], "?") && !narrating(words(list[1])) {
		line += " " + list[1]
		used++
	}
	return shorten(line, 400), used
}

// unpointed makes a noun that a sentence points at the noun itself: "This parser
// reads" gives "The parser reads".
func unpointed(sentence string) string {
	rest, ok := strings.CutPrefix(sentence, "This ")
	if !ok {
		return sentence
	}
	noun, _, _ := strings.Cut(rest, " ")
	if noun = strings.ToLower(noun); artefacts()[noun] || runnables()[noun] || has(" "+noun+" ", verbs) || noun == "one" || noun == "pattern" || noun == "way" || strings.HasSuffix(noun, "ly") {
		return sentence
	}
	return "The " + rest
}

// narrating reports whether a sentence tells what the agent does: "Searching the
// log." does, "Searching the log finds nothing." does not.
func narrating(norm string) bool {
	if !begins(norm, narrations) {
		return false
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(norm), " ")
	return !strings.HasSuffix(first, "ing") || !has(" "+rest, phrases("finds|returns|fails|gives|shows|yields|requires|needs|is|does|doesn't|works|prints|produces|breaks|leads|means|takes|always|never"))
}

// disclosed reports whether a sentence says no more than that something was found.
func disclosed(sentence string) bool {
	norm := words(sentence)
	return strings.Count(norm, " ") <= 9 && (begins(norm, foundIt) || has(norm, phrases("i see the issue|i see the problem|found the issue|found the problem|the issue more clearly")))
}

// withoutPlan cuts the agent's own next step off the end of a sentence.
func withoutPlan(sentence string) string {
	for _, tie := range []string{", so I", ", and I", ", but I", "; I", " — I", " – I", " so I’", " so I'", ", then I"} {
		i := strings.Index(sentence, tie)
		if i < 0 {
			continue
		}
		rest := sentence[i+len(tie):]
		if !strings.HasPrefix(rest, "'") && !strings.HasPrefix(rest, "’") && !strings.HasPrefix(rest, " ") {
			continue
		}
		if head := sentence[:i]; len(strings.Fields(head)) >= 6 && strings.Count(head, "`")%2 == 0 {
			return head + "."
		}
	}
	return sentence
}

// backing is what stands around a sentence of a message that is not final: that
// the agent acts on it next, and that something failed just before.
func (g *gathering) backing(s said, later []string) float64 {
	if s.final {
		return 0
	}
	weight := 0.0
	for _, l := range later {
		norm := words(l)
		if !begins(norm, announces) {
			continue
		}
		weight = max(weight, 0.4)
		if has(norm, changing) {
			weight = 1
		}
	}
	from, _ := slices.BinarySearchFunc(g.t.runs, s.item-4, runAt)
	for _, run := range g.t.runs[from:] {
		if run.item >= s.item {
			break
		}
		if run.failed || run.looksFailed() {
			return weight + 0.6
		}
	}
	return weight
}
