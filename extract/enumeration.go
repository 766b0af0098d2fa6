package extract

import "strings"

// enumeration reads a statement that ends in a colon together with the list of
// short entries behind it: "The paths are: a via b; c via d". It returns how many
// blocks the list has.
func enumeration(all []block, final bool, root string) (line string, weight float64, used int) {
	lead := all[0]
	if lead.bullet || !strings.HasSuffix(lead.text, ":") || len(all) < 2 || !all[1].bullet {
		return "", 0, 0
	}
	sentence := conclusion(lastSentence(local(tidy(lead.text), root)))
	norm := words(sentence)
	if final && has(norm, flows) {
		return flow(sentence, all[1:], root)
	}
	if strings.Count(norm, " ") < 4 || !has(norm, verbs) && !has(norm, together) || has(norm, phrases("now|issues|findings|options|changes|improvements|suggestions|problems|steps|comments|you can")) || has(norm, offers) || has(norm, chatter) || has(norm, intends) || narrating(norm) || accomplishment(strings.TrimSuffix(sentence, ":")) > 0 || begins(norm, achieved) {
		return "", 0, 0
	}
	line = sentence
	anchor := anchors(sentence)
	for _, b := range all[1:] {
		if !b.bullet {
			break
		}
		used++
		entry := strings.TrimRight(local(tidy(b.text), root), ".;,")
		if sep := map[bool]string{true: " ", false: "; "}[used == 1]; len(line)+len(sep)+len(entry) <= 300 {
			line += sep + entry
			anchor += anchors(entry)
		}
	}
	if begins(norm, dangling) || sessionBound(sentence, norm) || has(norm, phrases("these|those|this")) {
		return "", 0, used
	}
	if anchor < 2 || len(line) < len(sentence)+10 {
		return "", 0, 0
	}
	weight = 2 + 0.4*float64(min(anchor, 4))
	if has(norm, causes) || has(norm, constraints) {
		weight++
	}
	if has(norm, guesses) {
		weight--
	}
	if begins(norm, phrases("now|each|all|you|your|at")) {
		weight -= 1.2
	}
	return shorten(line, 300), weight, used
}

func lastSentence(text string) string {
	all := sentences(text)
	if len(all) == 0 {
		return text
	}
	return all[len(all)-1]
}

// together are verbs as plural subjects have them.
var together = newPhrases("add|use|generate|create|return|call|read|write|run|fail|need|require|live|store|keep|take|depend|share|belong|expect|support|contain|include|get|stay|become|lose")

// flows are leads of a list that tells how something goes, step by step.
var flows = newPhrases("the flow|the flow now|flow is|lifecycle|the sequence|how it works|works like this|works as follows|behaves as follows|works now|goes like this|so funktioniert|der ablauf|voici comment|funciona así")

// flow joins the steps of such a list, which say little one by one.
func flow(lead string, all []block, root string) (line string, weight float64, used int) {
	line = lead
	anchor := 0
	for _, b := range all {
		if !b.bullet {
			break
		}
		used++
		step := strings.TrimRight(local(tidy(b.text), root), ".;,")
		if len(line)+len(step) > 480 {
			continue
		}
		if used > 1 {
			line += ";"
		}
		line += " " + step
		anchor += anchors(step)
	}
	if used < 3 || anchor == 0 {
		return "", 0, 0
	}
	return shorten(line, 500), 2.8 + 0.2*float64(min(anchor, 4)), used
}
