package store

import (
	"context"
)

// Check examines the whole database and returns what is wrong with it, a line
// each; nothing if all is well. It reads every page.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	var found []string
	err := s.read(ctx, func(t tx) error {
		err := t.each(`PRAGMA integrity_check`, nil, func(scan func(...any) error) error {
			var line string
			err := scan(&line)
			if line != "ok" {
				found = append(found, line)
			}
			return err
		})
		if err != nil {
			return err
		}
		err = t.each(`SELECT "table" || ' refers to a row of ' || parent || ' that is not there' FROM pragma_foreign_key_check
			WHERE "table" <> 'extraction_mark'`, nil, // which does no harm: LostExtractions tells why
			func(scan func(...any) error) error {
				var line string
				err := scan(&line)
				found = append(found, line)
				return err
			})
		if err != nil {
			return err
		}
		return t.each(`SELECT 'the inputs of generation ' || n || ' of project ' || project_id || ' cannot be read' FROM generation WHERE NOT json_valid(inputs)
			UNION ALL SELECT 'session ' || key || ' goes by another key' FROM session WHERE key <> source || ':' || thread_id`, nil,
			func(scan func(...any) error) error {
				var line string
				err := scan(&line)
				found = append(found, line)
				return err
			})
	})
	return found, s.explain(err, "checking database")
}
