package store

import (
	"maps"
	"slices"
	"strings"
)

// dropStrangers deletes the rows of projects that there are not, where all projects are
// known: such a row was overwritten.
func (s *salvage) dropStrangers() error {
	if s.damaged["project"] {
		return nil
	}
	for _, ref := range projectReferences {
		name, column, _ := strings.Cut(ref, ".")
		if s.catalog.tables[name] == nil {
			continue
		}
		statement := `DELETE FROM ` + name
		if name == "session" {
			statement = `UPDATE session SET project_id = NULL`
		}
		n, err := s.into.exec(statement + ` WHERE ` + column + ` NOT IN (SELECT id FROM project)`)
		if err != nil {
			return err
		}
		if n > 0 {
			s.damaged[name] = true
		}
	}
	return nil
}

// projectReferences are the columns that name a project whose row must be there.
var projectReferences = []string{"extraction.project_id", "session.project_id", "generation.project_id", "note.project_id",
	"project_directory.project_id", "project_alias.project_id", "withdrawal.project_id", "project_union.into_id"}

// mendIDs puts right a project's id of which a few bytes were overwritten, in its own
// row or in one that names it: ids end in a hash, so that no two of them are alike by
// chance. Where the row is the odd one out it is renamed, for what it is about is there.
func (s *salvage) mendIDs() error {
	names, err := s.idsNamed()
	if err != nil {
		return err
	}
	known, err := keysOf(s.into, `SELECT id FROM project ORDER BY id`)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(names)) {
		if slices.Contains(known, id) {
			continue
		}
		like := slices.DeleteFunc(slices.Clone(known), func(other string) bool { return !alike(id, other) })
		if len(like) != 1 {
			continue
		}
		if names[like[0]] == 0 {
			if _, err := s.into.exec(`UPDATE project SET id = ? WHERE id = ?`, id, like[0]); err != nil {
				return err
			}
			known = append(known, id)
			continue
		}
		for _, ref := range projectReferences {
			name, column, _ := strings.Cut(ref, ".")
			if s.catalog.tables[name] == nil {
				continue
			}
			if _, err := s.into.exec(`UPDATE OR IGNORE `+name+` SET `+column+` = ? WHERE `+column+` = ?`, like[0], id); err != nil {
				return err
			}
		}
	}
	return nil
}

// idsNamed counts how often rows name each project.
func (s *salvage) idsNamed() (names map[string]int, err error) {
	names = map[string]int{}
	for _, ref := range projectReferences {
		name, column, _ := strings.Cut(ref, ".")
		if s.catalog.tables[name] == nil {
			continue
		}
		err := s.into.each(`SELECT `+column+`, count(*) FROM `+name+` WHERE coalesce(`+column+`, '') <> '' GROUP BY 1`, nil, func(scan func(...any) error) error {
			var id string
			var n int
			err := scan(&id, &n)
			names[id] += n
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// mostOverwritten is in how many bytes two ids may differ that are one.
const mostOverwritten = 2

func alike(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	differ := 0
	for i := range len(a) {
		if a[i] != b[i] {
			differ++
		}
	}
	return differ <= mostOverwritten
}
