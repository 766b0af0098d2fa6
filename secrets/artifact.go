package secrets

import (
	"strings"

	"memoir"
)

// Name redacts a name or a slash-separated path. What stands for a secret is
// "redacted-rule-id", which is legal in a skill's name and in a file's.
func (s *Scanner) Name(name string) (string, Counts) {
	out, counts := s.Redact(name)
	if len(counts) == 0 {
		return name, counts
	}
	out = strings.ReplaceAll(out, markerOpen, "redacted-")
	return strings.ReplaceAll(out, markerClose, ""), counts
}

// Extraction redacts every text of an extraction that is stored or published.
// Keys, hashes and the model's name stay.
func (s *Scanner) Extraction(e memoir.Extraction) (memoir.Extraction, Counts) {
	r := s.Session()
	e.RawMemory = r.Text(e.RawMemory)
	e.RolloutSummary = r.Text(e.RolloutSummary)
	e.Title = r.Text(e.Title)
	e.CWD = r.Text(e.CWD)
	e.Branch = r.Text(e.Branch)
	counts := r.Counts()
	slug, more := s.Name(e.RolloutSlug)
	e.RolloutSlug = slug
	counts.Merge(more)
	return e, counts
}
