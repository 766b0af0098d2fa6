package pipeline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
)

// markUserDue makes the user's own memory due if the shared rules have changed.
func (r *run) markUserDue(ctx context.Context) error {
	if !r.selected(memoir.UserProjectID) {
		return nil
	}
	state, noted, err := r.store.Changes(ctx)
	if err != nil || noted {
		return err
	}
	shared, err1 := r.sharedRules(ctx, r.opts.Settings.Memories.MaxRawMemoriesForGlobal)
	last, err2 := r.store.LastInputs(ctx, memoir.UserProjectID)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	now := memoir.MapOf(shared, func(e memoir.Extraction) (string, string) { return e.SessionKey, e.ContentHash })
	return r.store.RecordChanges(ctx, state, !maps.Equal(now, last))
}

// leastProjects is the number of projects in which a person must state a rule for it to hold in all.
const leastProjects = 2

// sharedRules returns the inputs of the user's memory: for each session only the rules that the person stated in at
// least leastProjects projects, not by the same first prompt, and did not delete from their memory. It returns at most
// most sessions, those that ended last.
func (r *run) sharedRules(ctx context.Context, most int) ([]memoir.Extraction, error) {
	all, err := r.store.Stated(ctx, memoir.StatementPreference, memoir.StatementRefuted)
	if err != nil {
		return nil, err
	}
	all = extract.Later(extract.OfKnown(all))
	slices.SortStableFunc(all, func(a, b memoir.Extraction) int { return a.EndedAt.Compare(b.EndedAt) })
	projects := map[string]map[string]bool{} // of a rule
	orders := map[string]map[string]bool{}   // of a rule: its sessions, those with the same first prompt once
	words := map[string]memoir.Statement{}   // of the session that stated it last
	struck := map[string]map[string]bool{}   // rules that a person deleted, by project
	for _, e := range all {
		if struck[e.ProjectID] == nil {
			if struck[e.ProjectID], err = r.struck(ctx, all, e.ProjectID); err != nil {
				return nil, err
			}
		}
		for key, rule := range rulesOf(e) {
			if struck[e.ProjectID][key] {
				continue
			}
			if projects[key] == nil {
				projects[key], orders[key] = map[string]bool{}, map[string]bool{}
			}
			projects[key][e.ProjectID], orders[key][cmp.Or(rule.Order, e.SessionKey)] = true, true
			words[key] = rule
		}
	}
	var shared []memoir.Extraction
	for _, e := range slices.Backward(all) {
		one := memoir.Extraction{SessionKey: e.SessionKey, ProjectID: memoir.UserProjectID, Title: e.Title,
			StartedAt: e.StartedAt, EndedAt: e.EndedAt}
		for key, rule := range rulesOf(e) {
			if min(len(projects[key]), len(orders[key])) >= leastProjects && !struck[e.ProjectID][key] {
				rule.Text, rule.Quote = words[key].Text, words[key].Quote
				one.Statements = append(one.Statements, rule)
			}
		}
		if len(one.Statements) == 0 {
			continue
		}
		one.Identify()
		sum := sha256.Sum256([]byte(one.RawMemory()))
		one.ContentHash = hex.EncodeToString(sum[:])
		shared = append(shared, one)
	}
	shared = shared[:min(len(shared), most)]
	slices.SortFunc(shared, func(a, b memoir.Extraction) int { return strings.Compare(a.SessionKey, b.SessionKey) })
	return shared, nil
}

// struck returns the keys of the rules whose lines a person deleted from a project's MEMORY.md. A line may be cut.
func (r *run) struck(ctx context.Context, all []memoir.Extraction, projectID string) (map[string]bool, error) {
	removed := map[string]bool{} // by the key of a line
	edits, err := r.store.HandEdits(ctx, projectID)
	for _, n := range edits {
		if path.Clean(n.File) == memoir.MemoryFile {
			removed[memoir.RuleKey(consolidate.Uncited(n.Text))] = n.Action == memoir.EditRemoved && n.Others == 0
		}
	}
	rules := map[string]bool{}
	for _, e := range all {
		if e.ProjectID != projectID {
			continue
		}
		for _, st := range e.Statements {
			line := memoir.RuleKey(consolidate.LineOf(st))
			if st.Kind == memoir.StatementPreference && removed[line] {
				rules[ruleKey(st)] = true
			}
		}
	}
	return rules, err
}

// ruleKey identifies a rule by the words of the person, without the context that they refer to.
func ruleKey(st memoir.Statement) string { return memoir.RuleKey(cmp.Or(st.Quote, st.Text)) }

// rulesOf returns the rules that a person stated in a session, by key, without their context, which belongs to one
// project. A correction that is repeated in another project is a rule.
func rulesOf(e memoir.Extraction) iter.Seq2[string, memoir.Statement] {
	return func(yield func(string, memoir.Statement) bool) {
		for _, st := range e.Statements {
			key := ruleKey(st)
			if st.Kind != memoir.StatementPreference || key == "" {
				continue
			}
			if st.Signal == memoir.SignalMaybe || st.Signal == memoir.SignalRule {
				st.Signal = memoir.SignalRepeated
			}
			if st.Quote != "" {
				st.Text = "“" + st.Quote + "”"
			}
			if !yield(key, st) {
				return
			}
		}
	}
}
