package memory

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"memoir"
)

// Manifest describes a generation. It has no time and no fence, which differ after a crash or a concurrent
// run: the same inputs give the same bytes.
type Manifest struct {
	Version    int `json:"version"` // of the format
	Generation int `json:"generation"`

	// Anchors are memoir.Consolidation's. They come before the fields that grow with the number of sessions,
	// since the start of a session waits until they are read.
	Anchors map[string][]memoir.Anchor `json:"anchors,omitempty"`

	Files      []FileSum      `json:"files"` // by path
	Inputs     []Input        `json:"inputs"`
	Redactions map[string]int `json:"redactions"` // by rule

	// EditedFrom is the generation whose files people edited. Such a state has an archive and was never live.
	EditedFrom int `json:"edited_from,omitempty"`
	// RestoredFrom is the generation whose content a restoration published again.
	RestoredFrom int `json:"restored_from,omitempty"`
	// RedactedFrom is the generation whose content this one has, without secrets that were found later.
	RedactedFrom int `json:"redacted_from,omitempty"`
	// Deferred are sessions that a restoration undid. With the same content hash, they are not inputs of this
	// generation or a later one.
	Deferred []Input `json:"set_aside,omitempty"`
	// Citations are memoir.Consolidation's: all sessions of a line that cites several.
	Citations map[string][]string `json:"citations,omitempty"`
	// Lines are memoir.Consolidation's: what each line was made from.
	Lines map[string]memoir.LineOrigin `json:"lines,omitempty"`
	// Edited are memoir.Consolidation's: what members made of lines of a hub's memory. A machine has them by the ids of
	// its statements that said these lines.
	Edited map[string]memoir.LineEdit `json:"edited,omitempty"`
}

// FileSum is one file of a generation as it was published.
type FileSum struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"` // bytes
}

// Input is one session that a generation was made from.
type Input struct {
	Session string `json:"session"` // its key
	Hash    string `json:"hash"`    // of the extracted content
}

const manifestVersion = 1

// Describing returns the manifest with the fields that follow from n and the files, in canonical order.
func (m Manifest) Describing(n int, files Files) Manifest {
	m.Version, m.Generation = manifestVersion, n
	m.Files = make([]FileSum, 0, len(files))
	for _, path := range files.Paths() {
		m.Files = append(m.Files, FileSum{Path: path, SHA256: sum(files[path]), Size: int64(len(files[path]))})
	}
	m.Inputs, m.Deferred = inOrder(m.Inputs), inOrder(m.Deferred)
	if m.Inputs == nil {
		m.Inputs = []Input{}
	}
	if m.Redactions == nil {
		m.Redactions = map[string]int{}
	}
	return m
}

func inOrder(inputs []Input) []Input {
	return slices.SortedFunc(slices.Values(inputs), func(a, b Input) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Hash, b.Hash))
	})
}

// Encode returns the content of manifest.json.
func (m Manifest) Encode() []byte {
	out, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return append(out, '\n')
}

// Hash returns the SHA-256 of the encoded manifest, in hex. It identifies the generation's whole content.
func (m Manifest) Hash() string { return sum(m.Encode()) }

// verify returns an error for the first difference between files and the manifest.
func (m Manifest) verify(files Files) error {
	if len(files) != len(m.Files) {
		return fmt.Errorf("%d files instead of %d", len(files), len(m.Files))
	}
	for _, want := range m.Files {
		content, ok := files[want.Path]
		if !ok {
			return fmt.Errorf("%s is missing", want.Path)
		}
		if sum(content) != want.SHA256 {
			return fmt.Errorf("%s does not have the content it was published with", want.Path)
		}
	}
	return nil
}

func (m Manifest) published(files Files) Files {
	out := Files{}
	for _, f := range m.Files {
		if content, ok := files[f.Path]; ok && sum(content) == f.SHA256 {
			out[f.Path] = content
		}
	}
	return out
}

// parseManifest decodes a manifest, and checks its version, numbers and paths.
func parseManifest(data []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return Manifest{}, fmt.Errorf("parse %s: %w", manifestName, err)
	}
	if m.Version != manifestVersion {
		return Manifest{}, fmt.Errorf("%s has version %d, not %d", manifestName, m.Version, manifestVersion)
	}
	if m.Generation < 1 {
		return Manifest{}, fmt.Errorf("%s names generation %d", manifestName, m.Generation)
	}
	for _, earlier := range []int{m.EditedFrom, m.RestoredFrom, m.RedactedFrom} {
		if earlier < 0 || earlier >= m.Generation {
			return Manifest{}, fmt.Errorf("%s of generation %d depends on generation %d", manifestName, m.Generation,
				earlier)
		}
	}
	for i, f := range m.Files {
		if err := memoir.CheckPath(f.Path); err != nil {
			return Manifest{}, err
		}
		if i > 0 && m.Files[i-1].Path >= f.Path {
			return Manifest{}, fmt.Errorf("%s is out of order at %s", manifestName, f.Path)
		}
	}
	return m, nil
}

func sum(content []byte) string {
	h := sha256.Sum256(content)
	return hex.EncodeToString(h[:])
}

// StatementsFile has the statements of all sessions of a generation, a session a line, as data.
const StatementsFile = "statements.jsonl"

type sessionLine struct {
	Session    string             `json:"session"` // its key
	Title      string             `json:"title"`
	Slug       string             `json:"slug"`
	CWD        string             `json:"cwd"`
	Branch     string             `json:"branch"`
	Started    time.Time          `json:"started"`
	Ended      time.Time          `json:"ended"`
	Model      string             `json:"model"`
	Statements []memoir.Statement `json:"statements"`
}

// EncodeStatements returns the content of StatementsFile, with each text changed, in the order of the extractions.
func EncodeStatements(extractions []memoir.Extraction, change func(string) string) []byte {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	for _, e := range extractions {
		line := sessionLine{e.SessionKey, change(e.Title), e.RolloutSlug, change(e.CWD), change(e.Branch), e.StartedAt.UTC(),
			e.EndedAt.UTC(), e.Model, memoir.Changed(e.Statements, change)}
		if err := to.Encode(line); err != nil {
			panic(err) // texts, numbers and times always encode
		}
	}
	return []byte(inert.Replace(b.String()))
}

// inert escapes the characters with which Markdown loads something. JSON has them in strings alone; the encoder escapes
// angle brackets itself.
var inert = strings.NewReplacer("@", `\u0040`, "!", `\u0021`, "(", `\u0028`)

// StatementsWith is DecodeStatements of the statements alone that have a text in their JSON, such as "fix": or the
// result of InStatements. It does not decode others.
func StatementsWith(content []byte, text string) (out []memoir.Extraction, err error) {
	for line := range bytes.Lines(content) {
		if !bytes.Contains(line, []byte(text)) {
			continue
		}
		e := memoir.Extraction{SessionKey: gjson.GetBytes(line, "session").Str, EndedAt: gjson.GetBytes(line, "ended").Time()}
		gjson.GetBytes(line, "statements").ForEach(func(_, one gjson.Result) bool {
			var st memoir.Statement
			if !strings.Contains(one.Raw, text) {
				return true
			}
			if err = json.Unmarshal([]byte(one.Raw), &st); err == nil {
				e.Statements = append(e.Statements, st)
			}
			return err == nil
		})
		out = append(out, e)
	}
	return out, err
}

// Signed returns those of some signatures that StatementsFile has, each once. It decodes nothing.
func Signed(content []byte, signatures map[string]bool) (out []string) {
	known, begin := map[string]string{}, []byte(`"signature":"`)
	for signature := range signatures {
		known[InStatements(signature)] = signature
	}
	for _, rest, found := bytes.Cut(content, begin); found; _, rest, found = bytes.Cut(rest, begin) {
		end := 0
		for ; end < len(rest) && rest[end] != '"'; end++ {
			if rest[end] == '\\' {
				end++
			}
		}
		if signature, ok := known[string(rest[:min(end, len(rest))])]; ok {
			out = append(out, signature)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// InStatements returns a text as StatementsFile has it in a string.
func InStatements(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // texts always encode
	}
	return inert.Replace(string(quoted[1 : len(quoted)-1]))
}

// DecodeStatements is the inverse of EncodeStatements. The extractions have no rollout summaries and no hashes. With an
// error it returns those of the lines that are valid.
func DecodeStatements(content []byte) (out []memoir.Extraction, err error) {
	n := 0
	for line := range bytes.Lines(content) {
		n++
		var l sessionLine
		if fault := json.Unmarshal(line, &l); fault != nil {
			err = cmp.Or(err, fmt.Errorf("%s:%d: %w", StatementsFile, n, fault))
			continue
		}
		out = append(out, memoir.Extraction{SessionKey: l.Session, Title: l.Title, RolloutSlug: l.Slug, CWD: l.CWD,
			Branch: l.Branch, StartedAt: l.Started, EndedAt: l.Ended, Model: l.Model, Statements: l.Statements})
	}
	return out, err
}

// ChangeStatements returns the content of StatementsFile with each text and slug changed. It returns a content that is
// not valid as it is.
func ChangeStatements(content []byte, change, slug func(string) string) []byte {
	all, err := DecodeStatements(content)
	if err != nil {
		return content
	}
	for i := range all {
		all[i].RolloutSlug = slug(all[i].RolloutSlug)
	}
	return EncodeStatements(all, change)
}

// Readable returns the content of a file as text: of StatementsFile, without the escapes of JSON.
func Readable(path string, content []byte) string {
	if path != StatementsFile {
		return string(content)
	}
	return readable.Replace(string(content))
}

var readable = strings.NewReplacer(`\u0040`, "@", `\u0021`, "!", `\u0028`, "(", `\u003c`, "<", `\u003e`, ">",
	`\u0026`, "&", `\"`, `"`, `\\`, `\`, `\n`, "\n", `\t`, "\t")
