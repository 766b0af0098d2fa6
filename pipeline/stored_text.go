package pipeline

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"memoir/rollout"
	"memoir/secrets"
	"memoir/store"
)

// textSum stands for a text: generations have most of their files in common.
type textSum [16]byte

func sumOf(text string) (sum textSum) {
	whole := sha256.Sum256([]byte(text))
	copy(sum[:], whole[:])
	return sum
}

// maxClean bounds how many texts are remembered as clean.
const maxClean = 1 << 20

// learn takes up the secrets that rules see in a text, and reports whether there are any.
func (s *sweep) learn(owner, text string) bool {
	j, sum := s.judgeOf(owner), sumOf(text)
	if j.clean[sum] {
		return false
	}
	before := s.known.Secrets()
	if j.text(text) != text {
		if s.sources != nil && s.known.Secrets() > before {
			s.sources = append(s.sources, s.source(owner, text))
		}
		return true
	}
	if len(j.clean) < maxClean {
		j.clean[sum] = true
	}
	return false
}

// mask is a text without secrets, by the rules of its owner.
func (s *sweep) mask(owner, text string) string {
	j := s.judgeOf(owner)
	if j.clean[sumOf(text)] {
		return j.again(text)
	}
	return j.text(text)
}

// maskPart is mask for the part of a piece.
func (s *sweep) maskPart(owner string, p Piece) string {
	if p.Start == 0 && p.End == len(p.Text) {
		return s.mask(owner, p.Text)
	}
	return s.judgeOf(owner).part(p)
}

// maskName is mask for the name of a file.
func (s *sweep) maskName(owner, name string) string { return asName(name, s.mask(owner, name)) }

// asName gives a redacted name the form that secrets.Scanner's Name gives it.
func asName(name, redacted string) string {
	if redacted == name {
		return name
	}
	return strings.NewReplacer(markerOpen, "redacted-", "]", "").Replace(redacted)
}

// markerOpen begins what stands for a secret.
const markerOpen = "[REDACTED:"

// maskRow is mask for a text of the database.
func (s *sweep) maskRow(t store.Text) string {
	switch owner := s.ownerOf(t); {
	case t.Name:
		return s.maskName(owner, t.Value)
	case t.Table == "file" && t.Column == "head":
		return s.maskHead(owner, t.Value)
	default:
		return s.mask(owner, t.Value)
	}
}

// maskHead is what cleanHead makes of a head by the rules of now: it does not stand
// for the file any more, and the next scan does not build on it.
func (s *sweep) maskHead(owner, text string) string {
	masked := s.mask(owner, text)
	if masked == text {
		return text
	}
	var head rollout.Head
	if json.Unmarshal([]byte(masked), &head) != nil {
		return masked
	}
	head.Mark = rollout.Mark{}
	out, err := json.Marshal(head)
	if err != nil {
		return masked
	}
	return string(out)
}

// elsewhere is the hint where no rule tells by this text alone that it is a secret.
const elsewhere = "known from another place"

// places lists where a text holds secrets, by line.
func (s *sweep) places(at StoredPlace, text string) []StoredPlace {
	masked := s.mask(at.owner, text)
	if masked == text || at.piece != nil && s.maskPart(at.owner, *at.piece) == at.piece.Part() {
		return nil
	}
	before := at.Line
	s.describe(&at)
	if at.name {
		at.Rule, at.Hint, at.Line, at.Column = firstRule(masked), elsewhere, 0, 0
		if found := s.judgeOf(at.owner).find(text); len(found) > 0 {
			at.Rule, at.Hint = found[0].Rule, found[0].Hint
		}
		return []StoredPlace{at}
	}
	byLine := map[int][]secrets.Finding{}
	for _, f := range s.judgeOf(at.owner).find(text) {
		byLine[f.Line] = append(byLine[f.Line], f)
	}
	var found []StoredPlace
	was, is := strings.Split(text, "\n"), strings.Split(masked, "\n")
	for i := range was {
		if i >= len(is) || was[i] == is[i] || !at.piece.has(i) {
			continue
		}
		at.Line = before + i + 1
		for _, f := range byLine[i+1] {
			at.Rule, at.Column, at.Hint = f.Rule, f.Column, f.Hint
			found = append(found, at)
		}
		if len(byLine[i+1]) == 0 && is[i] != "" { // an empty one is what is left of a secret of several lines
			at.Rule, at.Column, at.Hint = firstRule(is[i]), sameStart(was[i], is[i])+1, elsewhere
			found = append(found, at)
		}
	}
	if len(found) == 0 { // of a secret whose lines a rule counts otherwise
		at.Line, at.Rule, at.Column, at.Hint = before+1, firstRule(masked), 1, elsewhere
		found = append(found, at)
	}
	return found
}

// describe makes a place fit to be shown.
func (s *sweep) describe(at *StoredPlace) {
	at.shown = s.mask(at.owner, at.file)
	at.Path = at.shown
	switch {
	case at.Table != "":
		at.Key = s.mask(at.owner, at.Key)
		at.Path += "#" + at.Table + "." + at.Field + "[" + at.Key + "]"
	case at.File != "":
		at.File = s.mask(at.owner, at.File)
		at.Path += "#" + at.File
	}
	at.Project = s.mask(at.owner, at.Project)
}

// firstRule is the rule of the first marker in a text.
func firstRule(text string) string {
	_, rest, _ := strings.Cut(text, markerOpen)
	rule, _, _ := strings.Cut(rest, "]")
	return rule
}

// sameStart is how many characters two texts have in common at their beginning.
func sameStart(a, b string) (n int) {
	for a != "" && b != "" {
		r, size := utf8.DecodeRuneInString(a)
		other, _ := utf8.DecodeRuneInString(b)
		if r != other {
			break
		}
		a, b = a[size:], b[size:]
		n++
	}
	return n
}

// since is what was counted between two moments.
func since(before, after secrets.Counts) secrets.Counts {
	counts := secrets.Counts{}
	for rule, n := range after {
		if n -= before[rule]; n > 0 {
			counts[rule] = n
		}
	}
	return counts
}
