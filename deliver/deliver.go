// Package deliver decides what an agent is told during its work: after a failed command what passed after the same
// failure, after an edit what earlier sessions decided about the file. It reads the live memory of one project, and
// prefers silence. It does not know agents, and stores nothing of what they do; told.go records what was told.
//
// Start with deliver.go (the choice of statements), then told.go (once a session, and receipts), lately.go (what no
// consolidation has taken yet) and lesson.go (what a new user is shown).
package deliver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/memory"
)

// MaxBytes bounds a text.
const MaxBytes = 400

// The lines around a text, by which rollout recognises it in transcripts.
const (
	begin = "<memoir-context>\n"
	end   = "\n</memoir-context>\n"
)

// A Reader chooses statements of a project's live memory for one session.
type Reader struct {
	Project string // its id
	Root    memory.Root
	Top     string // of the working tree
	Session string // id of the session, whose own statements are not told

	// Removed returns the lines that people ever removed from the memory. Accepted returns the keys of lines that they
	// accepted in a review, which other members' commands need; nil if all are accepted. Said returns what sessions said
	// that no consolidation has taken yet, if one of the signatures may be in it.
	Removed  func() ([]string, error)
	Accepted func() (map[string]int64, error)
	Said     func(signatures map[string]bool) ([]memoir.Extraction, error)
}

// A Known is a statement with the session that taught it.
type Known struct {
	memoir.Statement
	Session string // its key
	times   int    // sessions that taught it
}

// maxSame bounds the failures, the newest first, that are compared with one.
const maxSame = 10

// AfterFailure says what passed after the same failure of earlier sessions. The text is empty if nothing did, if the
// sessions do not agree, if one session alone had it and its error does not point to what passed, or if first, which
// is called for the statement, returns false.
func (r Reader) AfterFailure(line, output string, first func(Known) bool) (string, error) {
	failed := extract.ReadFailed(line, output)
	content, err := r.open(memory.StatementsFile)
	if err != nil || len(failed.Signatures) == 0 {
		return "", err
	}
	said, err := r.Said(failed.Signatures) // with an error, what was published is told all the same
	var all []Known
	for _, content := range [][]byte{memory.EncodeStatements(extract.Later(said), memory.Neutralise), content} {
		for _, signature := range memory.Signed(content, failed.Signatures) {
			some, fault := r.statements(content, `"signature":"`+memory.InStatements(signature)+`"`)
			all, err = append(all, some...), cmp.Or(err, fault)
		}
	}
	since := slices.Clone(all) // it may say that a fix was none, also of one that was published
	all = slices.DeleteFunc(all, func(k Known) bool {
		return k.Kind != memoir.StatementFailure || !failed.Same(k.Statement) || !r.trusted(k) ||
			slices.ContainsFunc(since, func(s Known) bool { return s.At >= k.At && extract.Disproves(s.Statement, k.Statement) })
	})
	slices.SortStableFunc(all, newestFirst)
	all = all[:min(len(all), maxSame)]
	times := 0
	for _, k := range all {
		if times += k.times; !extract.Agree(all[0].Statement, k.Statement) {
			return "", err
		}
	}
	if times < 2 && (len(all) == 0 || !extract.Evident(all[0].Statement)) { // many causes may have one signature
		return "", err
	}
	all, fault := r.holding(all)
	if err = cmp.Or(err, fault); len(all) == 0 {
		return "", err
	}
	text := failure(all[0])
	if text == "" || !first(all[0]) {
		return "", err
	}
	return text, err
}

// OnEdit says what earlier sessions decided, refuted or saw fail that names a file, the newest first, for which first
// returns true. The path is relative to the top of the working tree.
func (r Reader) OnEdit(path string, first func(Known) bool) (string, error) {
	content, err := r.open(memory.StatementsFile)
	if err != nil {
		return "", err
	}
	all, err := r.statements(content, memory.InStatements(path))
	if err != nil {
		return "", err
	}
	all, err = r.holding(slices.DeleteFunc(all, func(k Known) bool {
		return !concerns(k.Statement, path) || !r.trusted(k)
	}))
	return listed("Of "+memoir.CodeSpan(memory.Neutralise(path))+", earlier sessions:", MaxBytes, all, first), err
}

// Bounds of what is told at a prompt.
const (
	maxPrompt = 600                // bytes of the text
	recent    = 7 * 24 * time.Hour // how old a line may be that the working tree does not confirm
)

// AtPrompt says the lines of MEMORY.md with some keys, in their order, of which first accepts a statement. A line is of
// the last days, or the working tree confirms it.
func (r Reader) AtPrompt(keys []string, now time.Time, first func(Known) bool) (string, error) {
	content, err := r.open(memory.StatementsFile)
	all, errStatements := r.statements(content, `"id":`)
	if err = cmp.Or(err, errStatements); err == nil {
		all, err = r.holding(all)
	}
	if err != nil || len(all) == 0 {
		return "", err
	}
	_, made, err := r.lines()
	if err != nil {
		return "", err
	}
	var about []Known
	for _, key := range keys {
		i := slices.IndexFunc(all, func(k Known) bool { return slices.Contains(made[k.ID], key) })
		if i < 0 || !r.trusted(all[i]) {
			continue
		}
		checked, err := r.Root.Check(r.Top, []string{all[i].Text})
		day, errDay := time.Parse("2006-01-02", all[i].At)
		if err == nil && (checked[0].State == memory.Fresh || errDay == nil && now.Sub(day) < recent) {
			about = append(about, all[i])
		}
	}
	return listed("Earlier sessions, about this:", maxPrompt, about, first), nil
}

// concerns reports whether a statement is of a kind that is told on an edit, and names the file.
func concerns(st memoir.Statement, path string) bool {
	switch st.Kind {
	case memoir.StatementDecision:
	case memoir.StatementRefuted: // not what a later word overturned
		if st.Outcome != "" {
			return false
		}
	case memoir.StatementFailure: // a tool's words alone are no evidence
		if st.Command == "" {
			return false
		}
	default:
		return false
	}
	if st.By == memoir.ByTool && st.Kind != memoir.StatementFailure {
		return false
	}
	return slices.Contains(st.Paths, path) || names(st.Text, path)
}

// names reports whether a text has a path as a whole.
func names(text, path string) bool {
	inPath := func(c byte) bool {
		return strings.IndexByte("/_-~", c) >= 0 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
	}
	for from := 0; ; {
		at := strings.Index(text[from:], path)
		if at < 0 {
			return false
		}
		at += from
		from = at + len(path)
		ahead := strings.TrimSuffix(text[:at], "./")
		before := ahead == "" || !inPath(ahead[len(ahead)-1]) && ahead[len(ahead)-1] != '.'
		after := from == len(text) || !inPath(text[from]) &&
			(text[from] != '.' || from+1 == len(text) || !inPath(text[from+1]))
		if before && after {
			return true
		}
	}
}

// statements returns the statements that have a text, the newest first, each once. It leaves out those of entries, of
// this session, and those that the project's own files say or that wait for a person.
func (r Reader) statements(content []byte, text string) (out []Known, err error) {
	sessions, err := memory.StatementsWith(content, text)
	known := map[string]int{}   // by id: its place, from 1
	taught := map[string]bool{} // by id and session
	for _, session := range sessions {
		if _, id := memoir.SplitKey(session.SessionKey); id == r.Session && id != "" || memoir.IsEntry(session.SessionKey) {
			continue
		}
		as := memoir.CountedAs(session.SessionKey)
		for _, st := range session.Statements {
			st.At = cmp.Or(st.At, session.EndedAt.UTC().Format(time.DateOnly))
			if i := known[st.ID]; i > 0 {
				if !taught[st.ID+as] {
					out[i-1].times, taught[st.ID+as] = out[i-1].times+1, true
				}
				// A member may word another command so.
				ours, theirs := memoir.MemberOf(session.SessionKey), memoir.MemberOf(out[i-1].Session)
				if theirs != "" && (ours == "" || st.At > out[i-1].At) {
					out[i-1].Statement, out[i-1].Session = st, session.SessionKey
				}
			} else if st.Stands == "" && st.Signal != memoir.SignalMaybe && extract.Known(st.Signal) {
				out = append(out, Known{st, session.SessionKey, 1})
				known[st.ID], taught[st.ID+as] = len(out), true
			}
		}
	}
	slices.SortStableFunc(out, newestFirst)
	return out, err
}

func newestFirst(a, b Known) int { return cmp.Compare(b.At, a.At) }

// open returns a file of the memory; empty if there is none.
func (r Reader) open(file string) ([]byte, error) {
	content, err := r.Root.Open(file)
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		err = nil
	}
	return content, err
}

// trusted reports whether a statement may be told: it has no command and no agent wrote it of their work, it is of this
// person, or they accepted it. Where nobody can, commands are told that name no address, and fixes of several sessions.
func (r Reader) trusted(k Known) bool {
	posted := extract.Posted(k.Signal)
	if k.Command+k.Fix == "" && !posted || memoir.MemberOf(k.Session) == "" {
		return true
	}
	if r.Accepted == nil {
		return !posted && !extract.Fetches(k.Statement) && (k.Fix == "" || k.times > 1)
	}
	accepted, err := r.Accepted()
	return err == nil && consolidate.Accepted(accepted, k.Statement)
}

// holding returns the statements that hold: no person removed their lines, nobody has to confirm them, and the working
// tree does not contradict them.
func (r Reader) holding(all []Known) (out []Known, err error) {
	if len(all) == 0 {
		return nil, nil
	}
	lines, made, err := r.lines()
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, k := range all {
		text := k.Text
		for _, key := range made[k.ID] {
			text = lines[key] // "" if a person removed or changed it
			if text != "" {
				break
			}
		}
		if len(made[k.ID]) == 0 && (r.removed(k.Text) || reworded(k.Statement, lines)) {
			text = ""
		}
		texts = append(texts, text)
	}
	for _, k := range all { // what passed may need files, which are gone
		texts = append(texts, "- run: "+memoir.CodeSpan(k.Fix))
	}
	checked, err := r.Root.Check(r.Top, texts)
	for i, k := range all {
		text := texts[i]
		if err == nil && text != "" && memoir.OnceMark(text) == "" && !strings.HasSuffix(text, memoir.Unconfirmed) &&
			!checked[i].Outdated() && !checked[len(all)+i].Outdated() {
			out = append(out, k)
		}
	}
	return out, err
}

// lines returns the lines of MEMORY.md by their keys, and the keys of the lines that each statement made; none before
// the first consolidation.
func (r Reader) lines() (lines map[string]string, made map[string][]string, err error) {
	content, err := r.open("MEMORY.md")
	manifest, errManifest := r.open("manifest.json")
	if err = cmp.Or(err, errManifest); err != nil {
		return nil, nil, err
	}
	lines, made = map[string]string{}, map[string][]string{}
	for line := range strings.Lines(string(content)) {
		lines[memoir.LineKey(line)] = strings.TrimSpace(line)
	}
	for key, value := range gjson.GetBytes(manifest, "lines").Map() {
		var from memoir.LineOrigin
		_ = from.UnmarshalText([]byte(value.Str))
		for _, id := range from.Statements {
			made[id] = append(made[id], key)
		}
	}
	for id := range gjson.GetBytes(manifest, "edited").Map() {
		made[id] = append(made[id], "") // the line that a member changed or removed for all
	}
	return lines, made, nil
}

// removed reports whether a person may have removed a line of a statement, of which the memory has no line now.
func (r Reader) removed(text string) bool {
	lines, err := r.Removed()
	words := memoir.WordsOf(text)
	return err != nil || slices.ContainsFunc(lines, func(line string) bool {
		return memoir.WordsOf(memoir.LineText(line)).Repeats(words)
	})
}

// reworded reports whether a line in a hub's words, which a member may have changed, stands for a failure and lacks
// what passed after it.
func reworded(st memoir.Statement, lines map[string]string) bool {
	for _, line := range lines {
		text := memoir.LineText(line)
		if strings.HasSuffix(text, memoir.HubsWords(memoir.TeamOf(text))) && st.Fix != "" &&
			!strings.Contains(text, memoir.CodeSpan(st.Fix)) && memoir.WordsOf(text).Alike(memoir.WordsOf(st.Text)) >= 0.5 {
			return true
		}
	}
	return false
}

// failure says what passed after a failure, "" if that does not fit. It gives no order.
func failure(k Known) string {
	k.Statement = memoir.Changed([]memoir.Statement{k.Statement}, memory.Neutralise)[0]
	passed := "then " + memoir.CodeSpan(k.Fix) + " passed"
	if k.Signal == memoir.SignalModel || k.Signal == memoir.SignalTeam {
		passed = "its account: fixed by " + memoir.CodeSpan(k.Fix)
	}
	head := fmt.Sprintf("On %s, in session %s, the same failure: ", k.At, k.Session)
	room := MaxBytes - len(begin) - len(end) - len(head) - len(passed) - len("``; .")
	command := memoir.CutBytes(strings.Join(strings.Fields(k.Command), " "), max(room, 0), "…")
	if room < len("…")+1 {
		return ""
	}
	return framed(head + memoir.CodeSpan(command) + "; " + passed + ".")
}

// listed says statements below a heading, as many as fit in limit bytes and as first, which is called once for each of
// them, accepts. The text is empty if there is none.
func listed(text string, limit int, all []Known, first func(Known) bool) string {
	room := limit - len(begin) - len(end) - len(text)
	told := false
	for _, k := range all {
		head := fmt.Sprintf("\n- %s, %s (%s): ", k.At, cmp.Or(kinds[k.Kind], "known"), k.Session)
		line := memory.Neutralise(strings.Join(strings.Fields(k.Text), " "))
		if !told && room-len(head) > minText {
			line = memoir.CutBytes(line, room-len(head), "…")
		}
		if line = head + line; len(line) <= room && first(k) {
			text, room, told = text+line, room-len(line), true
		}
	}
	if !told {
		return ""
	}
	return framed(text)
}

// minText is the number of bytes below which a cut statement says nothing.
const minText = 80

var kinds = map[memoir.StatementKind]string{
	memoir.StatementDecision: "decided", memoir.StatementRefuted: "refuted", memoir.StatementFailure: "failed",
}

func framed(text string) string { return begin + text + end }
