package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/consolidate"
)

// consolidatorOf returns the consolidator of a project. The user's own memory is always made by the built-in
// model.
func (r *run) consolidatorOf(projectID string) consolidate.Consolidator {
	if projectID == memoir.UserProjectID {
		return consolidate.NewBuiltin()
	}
	return r.consolidator
}

// markUserDue makes the user's own memory due if the shared rules have changed.
func (r *run) markUserDue(ctx context.Context) error {
	if !r.selected(memoir.UserProjectID) {
		return nil
	}
	state, noted, err := r.store.Changes(ctx)
	if err != nil || noted {
		return err
	}
	shared, err := r.sharedRules(ctx, r.opts.Settings.Memories.MaxRawMemoriesForGlobal)
	if err != nil {
		return err
	}
	last, err := r.store.LastInputs(ctx, memoir.UserProjectID)
	if err != nil {
		return err
	}
	now := map[string]string{}
	for _, e := range shared {
		now[e.SessionKey] = e.ContentHash
	}
	return r.store.RecordChanges(ctx, state, !maps.Equal(now, last))
}

// leastProjects is the number of projects in which a person must state a rule for it to hold in all.
const leastProjects = 2

// sharedRules returns the inputs of the user's memory: for each session only the rules that the person stated
// in at least leastProjects projects, and did not delete from their memory. It returns at most most sessions, those
// that ended last.
func (r *run) sharedRules(ctx context.Context, most int) ([]memoir.Extraction, error) {
	all, err := r.store.Stated(ctx, memoir.StatementPreference)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b memoir.Extraction) int { return a.EndedAt.Compare(b.EndedAt) })
	projects := map[string]map[string]bool{} // of a rule
	words := map[string]string{}             // of the session that stated it last
	struck := map[string]map[string]bool{}   // rules that a person deleted, by project
	for _, e := range all {
		if struck[e.ProjectID] == nil {
			if struck[e.ProjectID], err = r.struck(ctx, e.ProjectID); err != nil {
				return nil, err
			}
		}
		for _, rule := range rulesOf(e) {
			key := memoir.RuleKey(rule.Text)
			if struck[e.ProjectID][key] {
				continue
			}
			if projects[key] == nil {
				projects[key] = map[string]bool{}
			}
			projects[key][e.ProjectID], words[key] = true, rule.Text
		}
	}
	var shared []memoir.Extraction
	for _, e := range slices.Backward(all) {
		var rules []memoir.Statement
		for _, rule := range rulesOf(e) {
			key := memoir.RuleKey(rule.Text)
			if key != "" && len(projects[key]) >= leastProjects && !struck[e.ProjectID][key] {
				rule.Text = words[key]
				rules = append(rules, rule)
			}
		}
		if len(rules) == 0 {
			continue
		}
		text := memoir.FormatStatements(rules)
		sum := sha256.Sum256([]byte(text))
		shared = append(shared, memoir.Extraction{
			SessionKey: e.SessionKey, ProjectID: memoir.UserProjectID, RawMemory: text,
			StartedAt: e.StartedAt, EndedAt: e.EndedAt, ContentHash: hex.EncodeToString(sum[:]),
		})
	}
	shared = shared[:min(len(shared), most)]
	slices.SortFunc(shared, func(a, b memoir.Extraction) int { return strings.Compare(a.SessionKey, b.SessionKey) })
	return shared, nil
}

// struck returns the rules whose lines a person deleted from a project's MEMORY.md.
func (r *run) struck(ctx context.Context, projectID string) (map[string]bool, error) {
	rules := map[string]bool{}
	edits, err := r.store.HandEdits(ctx, projectID)
	for _, n := range edits {
		if path.Clean(n.File) == memoir.MemoryFile {
			text, _, _ := strings.Cut(consolidate.Uncited(n.Text), "” (after: ")
			rules[memoir.RuleKey(text)] = n.Action == memoir.EditRemoved
		}
	}
	return rules, err
}

// rulesOf returns the rules that a person stated in a session, without the context that they refer to, which
// belongs to one project. A correction that is repeated in another project is a rule.
func rulesOf(e memoir.Extraction) []memoir.Statement {
	var rules []memoir.Statement
	for _, st := range memoir.ParseStatements(e.RawMemory) {
		if st.Kind != memoir.StatementPreference {
			continue
		}
		st.Text = strings.TrimPrefix(st.Text, memoir.CorrectionMark)
		if quoted, _, ok := strings.Cut(st.Text, "” (after: "); ok {
			st.Text = quoted + "”"
		}
		rules = append(rules, st)
	}
	return rules
}
