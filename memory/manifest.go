package memory

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

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
	redactions := map[string]int{}
	maps.Copy(redactions, m.Redactions)
	m.Redactions = redactions
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

// sums returns Files by path.
func (m Manifest) sums() map[string]FileSum {
	out := make(map[string]FileSum, len(m.Files))
	for _, f := range m.Files {
		out[f.Path] = f
	}
	return out
}

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

// published returns the files that are unchanged since their publication.
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
			return Manifest{}, fmt.Errorf(
				"%s of generation %d depends on generation %d",
				manifestName,
				m.Generation,
				earlier,
			)
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
