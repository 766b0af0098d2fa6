package extract

import (
	"slices"
	"strings"

	"memoir"
)

// account reads one answer of a turn that changed something: its sentences that
// tell of a thing done, and its lists of changes.
func account(s said, root string) []found {
	var out []found
	add := func(text string, weight float64) {
		out = append(out, found{memoir.Statement{Kind: memoir.StatementOutcome, Text: text, Items: []int{s.item}}, weight})
	}
	all := blocks(s.text, false)
	heading := ""
	for n := 0; n < len(all); n++ {
		b := all[n]
		lead := withoutNumbers(lastSentence(local(tidy(b.lead), root)))
		titled := b.lead != "" && strings.Contains(s.text, "# "+b.lead)
		if titled {
			heading = lead
		}
		norm := words(lead)
		if b.lead != "" && (has(norm, notDone) || strings.HasSuffix(b.lead, "?")) {
			continue
		}
		if b.bullet && lead != "" && len(lead) < 160 {
			last := n
			for last+1 < len(all) && all[last+1].bullet && all[last+1].lead == b.lead {
				last++
			}
			if together := heads(lead, titled, all[n:last+1]); together {
				if !titled && heading != "" && anchors(lead) == 0 && begins(norm, achieved) {
					lead = heading + ": " + lead
				}
				for _, line := range joined(impersonal(lead), all[n:last+1], root) {
					add(line, 2+0.2*float64(min(anchors(line), 4)))
				}
				n = last
				continue
			}
		}
		if under := below(all, n); under > 0 && len(b.text) < 160 {
			head := strings.TrimRight(labels(local(tidy(withoutNumbers(b.text)), root)), ":. ")
			for _, line := range joined(head, all[n+1:n+1+under], root) {
				if weight := 1.2 + 0.3*float64(min(anchors(line), 4)); standsAlone(line) {
					add(line, weight)
				}
			}
			n += under
			continue
		}
		prev := -1
		for _, sentence := range sentences(local(tidy(b.text), root)) {
			sentence = withoutOffer(withoutAim(withoutHandling(withoutNumbers(sentence))))
			norm := words(sentence)
			if unsettled(sentence) || offered(norm) || tally(sentence) || wellOnly(sentence, norm) {
				prev = -1
				continue
			}
			if prev >= 0 && (begins(norm, dangling) || begins(norm, phrases("now"))) && len(out[prev].Text)+len(sentence) < maxTold && !has(norm, chatter) {
				out[prev].Text += " " + sentence
				continue
			}
			weight := accomplishment(sentence)
			if weight == 0 && b.bullet {
				weight = listed(sentence, lead)
			}
			if prev = -1; weight > 0 && standsAlone(sentence) {
				add(shorten(impersonal(sentence), 280), weight)
				prev = len(out) - 1
			}
		}
	}
	return out
}

// heads reports whether a list is told in one line behind what introduces it: a
// line that says what changed, or the heading of a part of the work.
func heads(lead string, titled bool, entries []block) bool {
	norm := words(lead)
	if has(norm, intends) || has(norm, plans) || begins(norm, handled) || announcement(lead) {
		return false
	}
	if titled {
		if begins(norm, ofChanges) || len(entries) < 2 {
			return false
		}
		did := 0
		for _, b := range entries {
			if accomplishment(b.text+" in this part of it") > 0 {
				did++
			}
		}
		return 2*did >= len(entries)
	}
	return has(norm, ofChanges) && (anchors(lead) > 0 || has(norm, phrases("now"))) || begins(norm, achieved) && anchors(lead)+anchors(entries[0].text) > 0
}

// handled begins what tells of the handling of a change; what was changed stands
// in the list behind it.
var handled = newPhrases("opened|merged|pushed|closed|addressed|committed|replied|resolved|validated|verified|released|published|completed|done|all|both|updated the pr|created the pr|created pr|opened pr")

// below counts the entries of the list that stands under the entry at n.
func below(all []block, n int) int {
	if !all[n].bullet {
		return 0
	}
	under := 0
	for _, b := range all[n+1:] {
		if !b.bullet || b.indent <= all[n].indent {
			break
		}
		under++
	}
	return under
}

// overruled returns the words of an objection to what came of the turn at i, if a
// person made one, the agent saw it, and files of the turn were changed again.
func overruled(r *reading, i int) map[string]bool {
	t, k := r.turns[i], i+1
	for k < len(r.turns) && len(r.turns[k].says) == 0 && len(r.turns[k].said.own) == 0 {
		k++ // a command to the agent's prompt
	}
	if k >= len(r.turns) {
		return nil
	}
	next := r.turns[k]
	text := strings.Join(next.said.own, " ") + " " + next.said.quoted
	conceded := false
	for _, s := range next.says[:min(len(next.says), 3)] { // it may look first
		if next.ask != nil && begins(words(s.text), concessions) {
			conceded = true
			text += " " + s.text
			break
		}
	}
	if !next.said.denies && !conceded {
		return nil
	}
	if slices.ContainsFunc(t.files, func(f string) bool { return r.lastTurn(f) >= k }) {
		return contentWords(text)
	}
	return nil
}

// lastTurn is the index of the last turn that changed a file.
func (r *reading) lastTurn(file string) int {
	if r.changed == nil {
		r.changed = map[string]int{}
		for i, t := range r.turns {
			for _, f := range t.files {
				r.changed[f] = i
			}
		}
	}
	return r.changed[file]
}

// touches reports whether a text speaks of what an objection speaks of.
func touches(text string, objection map[string]bool) bool {
	for w := range contentWords(text) {
		if objection[w] {
			return true
		}
	}
	return false
}

var concessions = newPhrases("i see the issue|i see the problem|actually|du hast recht|vous avez raison|tienes razón|you're right|you are right|you're absolutely right|you are absolutely right|absolutely right|good catch|good point|my mistake|sorry|oops|right , i|i was wrong|i misunderstood|i overcomplicated|fair point|you caught")

var (
	numberless = newPattern(`^Lines? \d+(?:[-–]\d+)?(?: in|:)? | ?\((?:~?[Ll]ines?|L) ?\d+[^)]*\)| (?:on|at) lines? \d+(?:[-–]\d+)?`)
	ofChanges  = newPhrases("change|changes|changed|changes made|made|summary|fix|fixes|fixed|implemented|done|updates|updated|highlights|result|new|created|creates|added|adds|refactoring|now|improvements|i've|i have|what it does|covers|includes|implementation|refactored|moved")
	notDone    = newPhrases("option|options|proposal|proposed|suggested|suggestions|recommend|recommended|recommendation|alternatives|next steps|next step|remaining|still|todo|to do|not done|left|limitations|issues found|findings|issues|comments|test plan|you can|could|should|would|want me|if you|plan|questions|problems|phase|validation|verification|tests|verified|checks")
	handling   = newPattern(`(?:, (?:and )?|; | and )(?:then )?(?:committed|pushed|force-pushed|replied|resolved the|re-ran|reran|posted) .*$`)
)

// handlings are the words of which whatever handling matches holds one.
var handlings = []string{"committed", "pushed", "replied", "resolved the", "re-ran", "reran", "posted"}

// withoutNumbers drops what names lines of a file by their numbers.
func withoutNumbers(text string) string {
	if !strings.Contains(text, "ine") && !strings.Contains(text, "(L") && !strings.Contains(text, "(~L") {
		return text
	}
	return numberless.ReplaceAllString(text, "")
}

// joined renders a list behind the line that introduces it, in as many lines as it takes.
func joined(lead string, entries []block, root string) []string {
	var out []string
	line := ""
	for _, b := range entries {
		entry := strings.TrimRight(withoutNumbers(local(tidy(b.text), root)), ".;,: ")
		if lineNumber(words(entry)) || entry == "" {
			continue
		}
		entry = shorten(entry, 240)
		switch {
		case line == "":
			line = lead + ": " + entry
		case len(line)+len(entry) < maxTold:
			line += "; " + entry
		default:
			out = append(out, line)
			line = lead + ": " + entry
		}
	}
	if line != "" {
		out = append(out, line)
	}
	return out
}

// listed weighs an entry of a list of changes that is no sentence of its own, or
// states the new behaviour; 0 if the list is of something else.
func listed(entry, lead string) float64 {
	norm := words(entry)
	if !has(words(lead), ofChanges) || strings.Count(norm, " ") < 6 || len(entry) > 400 || strings.HasSuffix(entry, "?") || strings.HasSuffix(entry, ":") || has(norm, chatter) || has(norm, intends) {
		return 0
	}
	if rest := unlabelled(entry); rest != entry {
		if w := accomplishment(rest); w > 0 {
			return w
		}
		if bids(rest) {
			return 0
		}
		return 1 + 0.3*float64(min(anchors(entry), 3))
	}
	if bids(entry) || begins(norm, phrases("no")) {
		return 0
	}
	if anchors(entry) == 0 {
		return 0
	}
	return 0.8 + 0.3*float64(min(anchors(entry), 3))
}

// wellOnly reports whether a sentence says that all is well with something that it does
// not name.
func wellOnly(sentence, norm string) bool {
	return anchors(sentence) == 0 && !strings.ContainsAny(sentence, "0123456789/") && has(norm, wellbeing)
}

var wellbeing = newPhrases("no outstanding issues|no outstanding|no remaining issues|no further issues|no more issues|ready to commit|ready to merge|ready to push|ready to ship|ready for review|ready for you|everything is clean|everything is in place|everything looks good|everything works|all set|good to go|good shape|all good")

// bids reports whether an entry tells somebody to do something.
func bids(entry string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(words(entry)), " ")
	return imperatives()[first]
}

// unlabelled cuts the short label off an entry: a name, a link, a file.
func unlabelled(entry string) string {
	for _, sep := range []string{": ", " - ", " — ", " – "} {
		label, rest, ok := strings.Cut(entry, sep)
		if ok && len(strings.Fields(label)) <= 6 && len(strings.Fields(rest)) >= 3 {
			return rest
		}
	}
	return entry
}

// withoutHandling drops the end of a sentence that tells of commits and pushes.
func withoutHandling(sentence string) string {
	if !holdsAny(sentence, handlings) {
		return sentence
	}
	at := handling.FindStringIndex(sentence)
	if at == nil || len(strings.Fields(sentence[:at[0]])) < minOutcomeWords || strings.Count(sentence[:at[0]], "`")%2 == 1 {
		return sentence
	}
	return sentence[:at[0]] + "."
}

// standsAlone reports whether a sentence on something done can be read without the
// one before it, and will still be true when lines have moved.
func standsAlone(sentence string) bool {
	norm := words(impersonal(sentence))
	if lineNumber(norm) || begins(norm, dangling) || begins(norm, phrases("now|its|their|his|her|you")) {
		return false
	}
	fields := strings.Fields(norm)
	if len(fields) > 1 {
		switch fields[1] {
		case "it", "that", "this", "these", "those", "them", "its", "their", "both", "all":
			return len(fields) > 2 && fields[1] == "both" || fields[1] == "all"
		}
	}
	return true
}
