package extract

import "strings"

// buried finds a rule that stands in one clause of a longer request: "add the flag,
// and keep the public API as it is". The clause comes back behind an ellipsis; empty
// if there is none, or if it cannot be understood without the rest.
func buried(s string) string {
	if len(s) > 700 || strings.HasSuffix(strings.TrimRight(s, `"') `), "?") && strings.Count(s, " ") < 12 {
		return ""
	}
	for _, clause := range clauses(s) {
		norm := words(clause)
		if has(norm, passing) || forNow(norm) || has(norm, guesses) || strings.Count(norm, " ") < 4 || strings.HasSuffix(clause, "?") {
			continue
		}
		binding := stays(norm) || directive(norm, "never") || directive(norm, "always") || sparing(norm)
		if object := forbidden(norm); object != "" && !has(norm, notForbid) {
			binding = binding || general(object)
		}
		if begins(norm, phrases("make sure|ensure|be sure")) {
			binding = binding || has(norm, upheld)
		}
		if binding && !deicticObject(norm) {
			return "… " + strings.TrimRight(clause, " ,;")
		}
	}
	return ""
}

// clauses splits a sentence of two clauses or more; the first comes along.
func clauses(s string) []string {
	var out []string
	rest := s
	for {
		at, width := -1, 0
		for _, sep := range []string{", and ", ", but ", "; ", " — ", " – ", " - ", ", then ", " and ", " but ", ", ", " ("} {
			if i := strings.Index(rest, sep); i >= 0 && (at < 0 || i < at || i == at && len(sep) > width) {
				at, width = i, len(sep)
			}
		}
		if at < 0 {
			break
		}
		out = append(out, strings.TrimSpace(rest[:at]))
		rest = rest[at+width:]
	}
	if len(out) == 0 && !strings.Contains(s, " without ") {
		return nil
	}
	out = append(out, strings.Trim(strings.TrimSpace(rest), ".!)"))
	for i, c := range out {
		if w := strings.Index(c, "without "); w > 0 { // "do it without breaking the API"
			out = append(out, c[w:])
			out[i] = c[:w]
		}
	}
	return out
}

// sparing reports whether a clause says what to leave alone or do without:
// "without breaking the public interface", "no new dependencies".
func sparing(norm string) bool {
	fields := strings.Fields(norm)
	switch {
	case len(fields) < 3:
		return false
	case fields[0] == "without":
		switch fields[1] {
		case "adding", "introducing", "breaking", "changing", "touching", "altering", "modifying", "pulling", "bumping", "adopting", "new", "any", "losing", "dropping":
			return true
		}
	case fields[0] == "no":
		switch fields[1] {
		case "new", "extra", "additional", "external", "third-party", "breaking", "global", "more":
			return true
		}
	}
	return false
}

// deicticObject reports whether a clause acts on a thing at hand only.
func deicticObject(norm string) bool {
	norm = strings.ReplaceAll(norm, " as it is ", " ")
	return has(norm, phrases("this|that|it|these|those|them|here|there|one")) && len(strings.Fields(norm)) < 9
}

// reproach reports whether a question asks why the agent did what it did.
func reproach(s string) bool {
	return strings.Contains(s, "?") && begins(words(s), phrases("why did you|why are you|why do you|why would you|why have you|why you|how come you|wait , why did you|wait why did you|hm , why did you|hmm , why did you|who told you to|did you just|did you really|warum hast du|wieso hast du|pourquoi as-tu|pourquoi tu as|por qué has"))
}

// explains reports whether a sentence behind such a question tells what holds instead.
func explains(s string) bool {
	norm := words(s)
	if s == "" || strings.Contains(s, "?") || strings.Count(norm, " ") < 3 || begins(norm, phrases("i|please|fix|revert|undo|it broke|it breaks|now|you broke|stop")) {
		return false
	}
	return has(norm, phrases("is|are|that's|it's|they're|those are|we|must|should|shouldn't|belongs|belong|only|never|always|ist|sind|wird|est|sont|es|son"))
}
