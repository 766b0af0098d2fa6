package store

import (
	"maps"
	"slices"

	"memoir/store/page"
)

// keyTable holds the key without which the hashes of what was forgotten say nothing.
const keyTable = "forgotten_key"

// hashTables hold those hashes.
var hashTables = []string{"forgotten_beginning", "forgotten_line"}

// recallForgotten takes what was forgotten from earlier databases, as far as this one may
// have lost it and they can be read.
func (s *salvage) recallForgotten(earlier []string) error {
	if s.catalog.tables[keyTable] == nil {
		s.hasKey = true // of a schema that had none
	}
	damaged := !s.hasKey || s.damaged["mark"]
	for _, name := range hashTables {
		damaged = damaged || s.damaged[name]
	}
	for i := 0; damaged && i < len(earlier); i++ {
		if err := s.recall(earlier[i]); err != nil {
			return err
		}
	}
	if s.hasKey {
		return nil
	}
	// Hashes that were made with another key match nothing.
	for _, name := range hashTables {
		n, err := s.into.exec(`DELETE FROM ` + name)
		if err != nil {
			return err
		}
		if n > 0 {
			s.damaged[name] = true
			s.lost[name] += int(n)
		}
	}
	return nil
}

// recall looks into one earlier database.
func (s *salvage) recall(path string) error {
	file, closeFiles, err := readPages(path)
	if err != nil {
		return nil
	}
	defer closeFiles()
	other := &salvage{file: file, read: map[uint32]bool{}}
	other.readSchema()
	rows := func(name string) (all [][]any) {
		tb := s.catalog.tables[name]
		if root := other.roots[name]; root != 0 && tb != nil {
			file.Tree(root, !tb.withID, func(found page.Found) {
				for _, row := range found.Rows {
					if values, ok := tb.fit(row); ok {
						all = append(all, values)
					}
				}
			})
		}
		return all
	}
	if s.damaged["mark"] {
		s.recallMarks(rows("mark"))
	}
	for _, row := range rows(keyTable) {
		if len(row) < 2 {
			return nil
		}
		if !s.hasKey {
			if err := s.insert(s.catalog.tables[keyTable], row); err != nil {
				return err
			}
		}
		var same bool
		if err := s.into.get(`SELECT key = ? FROM `+keyTable, []any{row[1]}, &same); err != nil || !same {
			return err
		}
		for _, name := range hashTables {
			for _, row := range rows(name) {
				if err := s.insert(s.catalog.tables[name], row); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// recallMarks takes tombstones from rows of an earlier database.
func (s *salvage) recallMarks(rows [][]any) {
	tb := s.catalog.tables["mark"]
	place := func(name string) int {
		return slices.IndexFunc(tb.columns, func(c column) bool { return c.name == name })
	}
	forgotten, project := place("forgotten"), place("project_id")
	for _, values := range rows {
		if forgotten >= len(values) || values[forgotten] != int64(1) {
			continue
		}
		key, id := values[0].(string), ""
		if project >= 0 && project < len(values) {
			id, _ = values[project].(string)
		}
		if s.stones[key] == "" {
			s.stones[key] = id
		}
	}
}

// keepForgotten sees to it that what was forgotten stays so: tombstones are taken from
// their index and from the sessions' reasons, too. A mark that was garbled into another
// looks sound, so they are held against each other even where no row was lost.
func (s *salvage) keepForgotten() error {
	for _, key := range slices.Sorted(maps.Keys(s.stones)) {
		if err := s.entomb(key, s.stones[key]); err != nil {
			return err
		}
	}
	keys, err := keysOf(s.into, `SELECT key FROM session WHERE reason = 'forgotten'`)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := s.entomb(key, ""); err != nil {
			return err
		}
	}
	_, err = s.into.exec(`INSERT INTO mark (session_key, disabled, at) SELECT key, 1, 0 FROM session WHERE reason = 'disabled'
		ON CONFLICT (session_key) DO UPDATE SET disabled = 1 WHERE NOT excluded AND NOT forgotten`)
	return err
}

func (s *salvage) entomb(key, project string) error {
	names, marks := `session_key, forgotten, at`, `?1, 1, 0`
	args := []any{key}
	if slices.ContainsFunc(s.catalog.tables["mark"].columns, func(c column) bool { return c.name == "project_id" }) {
		names, marks, args = names+`, project_id`, marks+`, ?2`, append(args, project)
	}
	_, err := s.into.exec(`INSERT INTO mark (`+names+`) VALUES (`+marks+`) ON CONFLICT (session_key) DO UPDATE SET forgotten = 1`, args...)
	return err
}
