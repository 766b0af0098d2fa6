package consolidate

import (
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// formed gives a statement the form in which the built-in extractor writes those of its
// kind, as far as a language model kept from it; one that has the form is left as it is.
func formed(st memoir.Statement) string {
	switch st.Kind {
	case memoir.StatementFailure:
		return failureForm(st.Text)
	case memoir.StatementCommand:
		return commandForm(st.Text)
	case memoir.StatementFile:
		return fileForm(st.Text)
	case memoir.StatementProcedure:
		return procedureForm(st.Text)
	}
	return st.Text
}

// resolving begins, in a language model's words, the part of a failure that tells what
// made it succeed, with the sign and the words in front of it.
var resolving = lazyregexp.New(`(?i)(?:[;,.:→(]|->| [—–-]) *(?:and |then |this |it )?(?:(?:was|is|were|got|has been) )?` +
	`((?:fixed|solved|resolved|mended|corrected|avoided|cured|worked around|passed|passes|worked|works|succeeded|succeeds) (?:by|with|after|once|when|using|without|through|via|if|instead)\b|(?:the )?(?:fix|solution|remedy|workaround)(?: is| was|:) )`)

// unmended ends a failure that nobody mended.
var unmended = lazyregexp.New(`(?i)(?:[;,.:(]| [—–-]) *(?:still |was |is )*(?:unresolved|unsolved|unfixed|not (?:yet )?(?:fixed|solved|resolved)|failing|open)[.)]*$`)

// failureForm writes a failure as "`command` failed: error — cause — passed after …". The
// words in which a model tells what helped are kept.
func failureForm(text string) string {
	if _, ok := troubleOf(text); ok {
		return text
	}
	if _, ok := unresolved(text); ok {
		return text
	}
	if at := unmended.FindStringIndex(text); at != nil && at[0] > 0 {
		return text[:at[0]] + " — unresolved"
	}
	var found []int
	for _, m := range resolving.FindAllStringSubmatchIndex(text, -1) {
		if m[0] > 0 && strings.Count(text[:m[0]], "`")%2 == 0 && strings.Count(text[:m[0]], "“") == strings.Count(text[:m[0]], "”") {
			found = m
			break
		}
	}
	if found == nil {
		return text
	}
	remedy := strings.TrimRight(text[found[2]:], " .;")
	if text[found[0]] == '(' {
		remedy = strings.TrimSuffix(remedy, ")")
	}
	return symptomForm(strings.TrimRight(text[:found[0]], " ,;.—–-")) + " — " + strings.ToLower(remedy[:1]) + remedy[1:]
}

// symptomForm sets an error off from its cause, where its signs tell where it ends.
func symptomForm(text string) string {
	head := ""
	if what, rest, ok := strings.Cut(text, " failed: "); ok && strings.HasPrefix(what, "`") {
		head, text = what+" failed: ", rest
	}
	if strings.Contains(text, " — ") {
		return head + text
	}
	if end := quoted(text); end > 0 && end < len(text) {
		symptom, cause := text[:end], strings.TrimLeft(text[end:], " :;,–-")
		if cause != "" {
			return head + symptom + " — " + cause
		}
	}
	if symptom, cause, ok := strings.Cut(text, "; "); ok {
		return head + symptom + " — " + cause
	}
	return head + text
}

// quoted is where the code or the quotation ends that a text begins with and that a
// sign of punctuation follows; 0 if it begins with none.
func quoted(text string) int {
	for _, marks := range [][2]string{{"`", "`"}, {"“", "”"}, {`"`, `"`}} {
		rest, ok := strings.CutPrefix(text, marks[0])
		if !ok {
			continue
		}
		if i := strings.Index(rest, marks[1]); i > 0 {
			end := len(marks[0]) + i + len(marks[1])
			if end == len(text) || strings.ContainsAny(text[end:end+1], ":;,") || strings.HasPrefix(text[end:], " –") || strings.HasPrefix(text[end:], " -") {
				return end
			}
		}
	}
	return 0
}

// inCode is the first code in a text.
var inCode = lazyregexp.New("`[^`]+`")

var runVerbs = map[string]bool{"run": true, "use": true, "call": true, "execute": true, "start": true, "with": true, "by": true, "runs": true, "running": true, "using": true}

// commandForm begins the statement of a command with it: "Run `make test` before a commit"
// is "`make test` before a commit".
func commandForm(text string) string {
	at := inCode.FindStringIndex(text)
	if strings.HasPrefix(text, "`") || at == nil {
		return text
	}
	before := strings.Fields(strings.TrimRight(text[:at[0]], " :,—–-"))
	for len(before) > 0 && runVerbs[strings.ToLower(before[len(before)-1])] {
		before = before[:len(before)-1]
	}
	use := strings.Join(before, " ")
	if use != "" {
		use = " " + strings.ToLower(use[:1]) + use[1:]
	}
	return text[at[0]:at[1]] + use + strings.TrimRight(text[at[1]:], " .")
}

// fileForm begins the statement of a file with its path.
func fileForm(text string) string {
	if strings.HasPrefix(text, "`") {
		return text
	}
	first, rest, _ := strings.Cut(text, " ")
	if path := strings.TrimRight(first, ":,"); strings.ContainsAny(path, "/.") && !strings.ContainsAny(path, "`“\"(") {
		return "`" + path + "`" + first[len(path):] + " " + rest
	}
	if at := inCode.FindStringIndex(text); at != nil {
		return text[at[0]:at[1]] + " — " + strings.TrimRight(text[:at[0]], " :") + text[at[1]:]
	}
	return text
}

// procedureForm joins the steps of a procedure by arrows.
func procedureForm(text string) string {
	text = strings.ReplaceAll(text, "` -> `", "` → `")
	if strings.Contains(text, " → ") {
		return text
	}
	label, steps, ok := strings.Cut(text, ": ")
	if !ok || strings.Contains(label, "`") && !strings.HasSuffix(label, "`") {
		label, steps = "in order", text
	}
	if all := inCode.FindAllString(steps, -1); len(all) > 1 {
		return label + ": " + strings.Join(all, " → ")
	}
	return text
}
