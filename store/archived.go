package store

import "context"

// RecordArchived records generations as their archives tell them: what is recorded of
// them otherwise is replaced. It returns how many rows that changes.
func (s *Store) RecordArchived(ctx context.Context, projectID string, archived []GenerationRecord) (n int, err error) {
	err = s.durably(ctx, func(t tx) error {
		n, err = recordArchived(t, projectID, archived)
		return err
	})
	return n, s.explain(err, "recording the generations of project %s", projectID)
}

func recordArchived(t tx, projectID string, archived []GenerationRecord) (changed int, err error) {
	for _, g := range archived {
		list, err := g.inputs()
		if err != nil {
			return changed, err
		}
		n, err := t.exec(`INSERT INTO generation (project_id, n, fence, manifest_hash, inputs, seq, at) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (project_id, n) DO UPDATE SET manifest_hash = excluded.manifest_hash, inputs = excluded.inputs
			WHERE manifest_hash <> excluded.manifest_hash OR inputs <> excluded.inputs`,
			projectID, g.N, g.Fence, g.ManifestHash, list, g.Seq, millis(g.At))
		if err != nil {
			return changed, err
		}
		changed += int(n)
	}
	return changed, nil
}
