package store

import (
	"strings"
)

// settle makes a consistent database of the rows that were read: what they refer to is
// there, nothing is in the hands of a process, and what was lost is not taken for done.
func (s *salvage) settle() error {
	if err := s.keepForgotten(); err != nil {
		return err
	}
	if err := s.dropGarbled(); err != nil {
		return err
	}
	lost, err := s.lostKeys("extraction")
	if err != nil {
		return err
	}
	all := s.damaged["extraction"] && !s.sure["extraction"]
	has := func(table string) bool { return s.catalog.tables[table] != nil }
	// No index tells of a title or a directory that is another now, so the next run looks
	// at every file again. It reads none anew that is what it was.
	statements := []string{`DELETE FROM file`}
	if s.damaged["draft"] || s.damaged["session"] || s.damaged["project"] {
		statements = append(statements, `DELETE FROM draft`)
	}
	if s.damaged["project"] {
		statements = append(statements, projectsReferredTo(has)...)
	}
	statements = append(statements,
		// Sessions whose row is lost, as far as the extraction tells about them.
		`INSERT INTO session (key, source, thread_id, project_id, kind, parent, title, cwd, branch, remote, bytes, created_at, updated_at, version, error, reason)
			SELECT session_key, substr(session_key, 1, instr(session_key, ':') - 1), substr(session_key, instr(session_key, ':') + 1), project_id,
				'main', '', title, cwd, branch, '', 0, started_at, ended_at,
				coalesce((SELECT done_version FROM job WHERE kind = 'extract' AND key = session_key), ''), '', 'up_to_date'
			FROM extraction WHERE session_key NOT IN (SELECT key FROM session)`,
		// Of the two the key is the one that an index tells.
		`UPDATE session SET source = substr(key, 1, instr(key, ':') - 1), thread_id = substr(key, instr(key, ':') + 1) WHERE key <> source || ':' || thread_id`,
		// One whose job is lost is read once more, and costs no call if it is what it was.
		`INSERT INTO job (kind, key, status, done_hash, filter_version) SELECT 'extract', session_key, 'done', content_hash, filter_version
			FROM extraction WHERE true ON CONFLICT DO NOTHING`,
		// Nobody holds anything: the processes that did are gone.
		`UPDATE job SET status = CASE WHEN next_attempt_at > 0 THEN 'error' ELSE 'pending' END, owner = '', holder = '', lease_until = 0
			WHERE status = 'running'`,
		// A fence that was given out must not be given out again.
		`UPDATE counter SET n = max(n, coalesce((SELECT max(fence) FROM project), 0), coalesce((SELECT max(fence) FROM generation), 0)) WHERE name = 'fence'`,
		`UPDATE project SET generation = max(generation, coalesce((SELECT max(n) FROM generation WHERE project_id = project.id), 0)),
			published_at = max(published_at, coalesce((SELECT max(at) FROM generation WHERE project_id = project.id), 0)),
			change_seq = max(change_seq, consumed_seq, coalesce((SELECT max(seq) FROM extraction WHERE project_id = project.id), 0))`,
	)
	// A session whose extraction is lost is read again. Where nobody can tell whether there
	// was one, all are that have none.
	undone := `UPDATE job SET status = 'pending', done_version = '', done_hash = '' WHERE kind = 'extract' AND status = 'done' AND done_hash <> ''
		AND key NOT IN (SELECT session_key FROM extraction)`
	if all {
		statements = append(statements, undone)
	} else if len(lost) > 0 {
		if _, err := s.into.exec(undone+` AND key IN (SELECT value FROM json_each(?))`, jsonList(lost)); err != nil {
			return err
		}
	}
	if s.damaged["session"] {
		// The next run finds it again, unless its row was overwritten.
		statements = append(statements, `DELETE FROM session WHERE key NOT IN (SELECT session_key FROM extraction)
			AND key NOT IN (SELECT key FROM job WHERE kind = 'extract' AND done_version <> '') AND key NOT IN (SELECT session_key FROM mark)`)
	}
	statements = append(statements, s.orphans()...) // after all else that deletes
	for _, statement := range statements {
		if _, err := s.into.exec(statement); err != nil {
			return err
		}
	}
	// A session's reason follows from the rest.
	return s.reopen()
}

// dropGarbled deletes what was read under a key that was overwritten: a sound index does
// not know it, and no other row names it.
func (s *salvage) dropGarbled() error {
	for name, statement := range map[string]string{
		"extraction": `DELETE FROM extraction WHERE session_key NOT IN (SELECT value FROM json_each(?))
			AND session_key NOT IN (SELECT key FROM session) AND session_key NOT IN (SELECT key FROM job)`,
		"session": `DELETE FROM session WHERE key NOT IN (SELECT value FROM json_each(?))
			AND key NOT IN (SELECT session_key FROM extraction) AND key NOT IN (SELECT key FROM job)
			AND key NOT IN (SELECT session_key FROM file WHERE session_key IS NOT NULL)`,
	} {
		if !s.sure[name] {
			continue
		}
		keys := []string{}
		for key := range s.known[name] {
			keys = append(keys, strings.TrimSuffix(strings.TrimPrefix(key, "["), "]"))
		}
		n, err := s.into.exec(statement, jsonList(keys))
		if err != nil {
			return err
		}
		if n > 0 {
			s.damaged[name] = true
			s.lost[name] = max(s.lost[name], int(n))
		}
	}
	return nil
}

// reopen gives the sessions that were closed for good, and are to be read again, a
// reason that runs look at.
func (s *salvage) reopen() error {
	_, err := s.into.exec(`UPDATE session SET reason = 'eligible' WHERE reason = 'up_to_date'
		AND version <> coalesce((SELECT done_version FROM job WHERE kind = 'extract' AND job.key = session.key), '')`)
	if err != nil {
		return err
	}
	_, err = s.into.exec(`UPDATE session SET reason = CASE WHEN reason IN ('subagent', 'automation', 'own_run') THEN reason ELSE 'forgotten' END, project_id = NULL, title = '', cwd = '', branch = '', remote = '', error = ''
		WHERE key IN (SELECT session_key FROM mark WHERE forgotten)`)
	return err
}

// projectsReferredTo makes rows for projects that are lost and that other rows name.
// What they are called follows from their id; the next run finds out the rest.
func projectsReferredTo(has func(string) bool) []string {
	var from []string
	for _, ref := range projectReferences {
		name, column, _ := strings.Cut(ref, ".")
		if has(name) {
			from = append(from, `SELECT `+column+` AS id FROM `+name+` WHERE coalesce(`+column+`, '') <> ''`)
		}
	}
	return []string{`INSERT INTO project (id, name, identity, remote, change_seq)
		SELECT DISTINCT id, substr(id, 1, length(id) - 13), id, '', 1 FROM (` + strings.Join(from, " UNION ") + `)
		WHERE id NOT IN (SELECT id FROM project)`}
}

// orphans deletes rows whose parent is lost.
func (s *salvage) orphans() []string {
	var out []string
	for _, o := range [][3]string{
		{"file", "session_key IS NOT NULL AND session_key", "session (key)"},
		{"skipped_record", "session_key", "session (key)"},
		{"extraction_mark", "session_key", "extraction (session_key)"},
		{"draft", "project_id", "project (id)"},
		{"project_union", "from_id", "project (id)"},
	} {
		if s.catalog.tables[o[0]] == nil {
			continue
		}
		parent, column, _ := strings.Cut(strings.TrimSuffix(o[2], ")"), " (")
		out = append(out, `DELETE FROM `+o[0]+` WHERE `+o[1]+` NOT IN (SELECT `+column+` FROM `+parent+`)`)
	}
	// Of what is forgotten nothing may come back from a page that no tree leads to.
	kept := ``
	if s.catalog.tables["withdrawal"] != nil {
		kept = ` AND coalesce(project_id, '') NOT IN (SELECT project_id FROM withdrawal)`
	}
	return append([]string{`DELETE FROM extraction WHERE session_key IN (SELECT session_key FROM mark WHERE forgotten)` + kept}, out...)
}
