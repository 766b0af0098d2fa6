-- Times are unix milliseconds, 0 for none; modification times of files are unix nanoseconds. The number of
-- this file is the PRAGMA user_version of a database that it was applied to. Migrations cannot be undone:
-- the copy made before a migration has the earlier state.

-- A project's memory is due when change_seq or forced_seq is ahead of consumed_seq.
CREATE TABLE project (
    id           TEXT    NOT NULL PRIMARY KEY,
    name         TEXT    NOT NULL,
    identity     TEXT    NOT NULL,
    remote       TEXT    NOT NULL,
    change_seq   INTEGER NOT NULL DEFAULT 0, -- grows with every change of its extractions
    consumed_seq INTEGER NOT NULL DEFAULT 0, -- change_seq that the last consolidation began with
    forced_seq   INTEGER NOT NULL DEFAULT 0, -- change_seq at which a person asked for a consolidation
    generation   INTEGER NOT NULL DEFAULT 0, -- the one that is live; 0 before the first
    fence        INTEGER NOT NULL DEFAULT 0, -- of the last claim
    published_at INTEGER NOT NULL DEFAULT 0,
    history_seq  INTEGER NOT NULL DEFAULT 0  -- change_seq up to which the project's history has its sessions
) STRICT, WITHOUT ROWID;

CREATE TABLE project_directory (
    path       TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    origin     TEXT NOT NULL DEFAULT '' -- as in project_alias
) STRICT, WITHOUT ROWID;
CREATE INDEX project_directory_project ON project_directory (project_id);

CREATE TABLE project_alias (
    alias      TEXT NOT NULL,
    project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    -- A name that people may say; an identity, by which sessions find their project; or the inode of a directory,
    -- which tells it from others at its path.
    kind       TEXT NOT NULL CHECK (kind IN ('name', 'identity') OR kind = 'inode'),
    origin     TEXT NOT NULL DEFAULT '', -- identities of the projects that it was merged from, one a line, the last first
    PRIMARY KEY (alias, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX project_alias_project ON project_alias (project_id);

CREATE TABLE session (
    -- No generated column: SQLite would read the row wherever an index has the key.
    key        TEXT    NOT NULL PRIMARY KEY CHECK (key = source || ':' || thread_id),
    source     TEXT    NOT NULL,
    thread_id  TEXT    NOT NULL,
    project_id TEXT    REFERENCES project (id),
    kind       TEXT    NOT NULL,
    parent     TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    cwd        TEXT    NOT NULL,
    branch     TEXT    NOT NULL,
    remote     TEXT    NOT NULL,
    bytes      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version    TEXT    NOT NULL, -- fingerprint of its files
    error      TEXT    NOT NULL, -- why it can't be read
    reason     TEXT    NOT NULL,
    origin     TEXT    NOT NULL DEFAULT '' -- as in project_alias; the last line: the identity that it was found with
) STRICT;
CREATE INDEX session_project ON session (project_id, kind); -- counts a project's sessions without reading them
CREATE INDEX session_thread ON session (thread_id);
CREATE INDEX session_reason ON session (reason);
CREATE INDEX session_cwd ON session (cwd);
-- The sessions whose reason may change with time alone, in the order of claims.
CREATE INDEX session_open ON session (updated_at DESC, key)
    WHERE reason NOT IN ('subagent', 'own_run', 'forgotten', 'disabled', 'unreadable', 'no_project', 'up_to_date');

-- What a person or a setting decided about a session. It outlives the session's row, so that a scan after
-- a clear does not bring back what was forgotten.
CREATE TABLE mark (
    session_key TEXT    NOT NULL PRIMARY KEY,
    disabled    INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)), -- by a person
    -- What a setting says of its directory: its sessions are no inputs, or memory is off and they are not read.
    directory   TEXT    NOT NULL DEFAULT '' CHECK (directory IN ('', 'excluded', 'off')),
    forgotten   INTEGER NOT NULL DEFAULT 0 CHECK (forgotten IN (0, 1)),
    at          INTEGER NOT NULL,
    project_id  TEXT    NOT NULL DEFAULT '' -- whose memory a forgotten session was withdrawn from; '' for none
) STRICT, WITHOUT ROWID;
CREATE INDEX mark_forgotten ON mark (project_id) WHERE forgotten;

CREATE TABLE file (
    path        TEXT    NOT NULL PRIMARY KEY,
    size        INTEGER NOT NULL,
    mtime_ns    INTEGER NOT NULL,
    inode       INTEGER NOT NULL,
    session_key TEXT    REFERENCES session (key) ON DELETE CASCADE,
    position    INTEGER NOT NULL, -- in the session's reading order; -1: registered, but not read
    head        TEXT    NOT NULL, -- JSON, as the scanner left it
    error       TEXT    NOT NULL
) STRICT;
CREATE INDEX file_session ON file (session_key, position);

-- Claims write it often, and SQLite builds a table for each check of a list of more than two values.
CREATE TABLE job (
    kind            TEXT    NOT NULL CHECK (kind IN ('extract', 'consolidate')),
    key             TEXT    NOT NULL, -- a session's key, or a project's id
    status          TEXT    NOT NULL
        CHECK (status IN ('pending', 'running') OR status IN ('done', 'error') OR status = 'dead'),
    owner           TEXT    NOT NULL DEFAULT '', -- token of the claim
    holder          TEXT    NOT NULL DEFAULT '', -- JSON: the process
    lease_until     INTEGER NOT NULL DEFAULT 0,
    attempts        INTEGER NOT NULL DEFAULT 0, -- that failed, of this input version
    crashes         INTEGER NOT NULL DEFAULT 0, -- times that the holder was gone
    next_attempt_at INTEGER NOT NULL DEFAULT 0,
    last_error      TEXT    NOT NULL DEFAULT '',
    input_version   TEXT    NOT NULL DEFAULT '', -- at the last claim
    done_version    TEXT    NOT NULL DEFAULT '', -- that was last finished
    done_hash       TEXT    NOT NULL DEFAULT '', -- content hash of what was last finished
    filter_version  INTEGER NOT NULL DEFAULT 0,  -- of the filter that done_hash was made with
    started_at      INTEGER NOT NULL DEFAULT 0,
    finished_at     INTEGER NOT NULL DEFAULT 0,
    model           TEXT    NOT NULL DEFAULT '', -- that failed last
    -- What the last claim was for: the job's own work, other work on its project, or other work while the
    -- job was dead. A crash during other work does not count as a crash of the job.
    purpose         TEXT    NOT NULL DEFAULT 'own' CHECK (purpose = 'own' OR purpose IN ('other', 'other_dead')),
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_running ON job (kind, key) WHERE status = 'running';
CREATE INDEX job_suspect ON job (kind, key) WHERE crashes > 0;
CREATE UNIQUE INDEX job_owner ON job (owner) WHERE owner <> '';

CREATE TABLE extraction (
    session_key     TEXT    NOT NULL PRIMARY KEY REFERENCES session (key) ON DELETE CASCADE,
    project_id      TEXT    REFERENCES project (id),
    statements      TEXT    NOT NULL, -- JSON: an array of memoir.Statement, without ids
    rollout_summary TEXT    NOT NULL,
    rollout_slug    TEXT    NOT NULL,
    title           TEXT    NOT NULL,
    cwd             TEXT    NOT NULL,
    branch          TEXT    NOT NULL,
    started_at      INTEGER NOT NULL,
    ended_at        INTEGER NOT NULL,
    content_hash    TEXT    NOT NULL,
    filter_version  INTEGER NOT NULL,
    model           TEXT    NOT NULL,
    seq             INTEGER NOT NULL, -- the project's change_seq when it was stored
    stored_at       INTEGER NOT NULL,
    history_entry   TEXT    NOT NULL DEFAULT '' -- by a model, for the project's history; '': the statements are used
) STRICT;
CREATE INDEX extraction_project ON extraction (project_id, session_key);

-- One row for each call to a model. It is stored with an estimate before the call, so that a crash does not
-- lose it. Rows outlive the sessions and projects that they name.
CREATE TABLE ledger (
    id            INTEGER NOT NULL PRIMARY KEY,
    at            INTEGER NOT NULL,
    run           TEXT    NOT NULL,
    phase         TEXT    NOT NULL, -- a job's kind
    session_key   TEXT    NOT NULL,
    project_id    TEXT    NOT NULL,
    model         TEXT    NOT NULL,
    calls         INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost          REAL    NOT NULL, -- US dollars
    duration_ms   INTEGER NOT NULL,
    outcome       TEXT    NOT NULL, -- of the work that the call was made for; unfinished until the work ends
    call          TEXT    NOT NULL, -- state of the call: begun, answered, …
    estimated     INTEGER NOT NULL CHECK (estimated IN (0, 1)), -- tokens and cost are an estimate
    work          TEXT    NOT NULL  -- token of the claim that the call was made for; '' for none
) STRICT;
CREATE INDEX ledger_at ON ledger (at);
CREATE INDEX ledger_unfinished ON ledger (work) WHERE outcome = 'unfinished';

CREATE TABLE generation (
    project_id    TEXT    NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    n             INTEGER NOT NULL,
    fence         INTEGER NOT NULL,
    manifest_hash TEXT    NOT NULL,
    seq           INTEGER NOT NULL, -- change_seq that it consumed
    at            INTEGER NOT NULL,
    PRIMARY KEY (project_id, n)
) STRICT, WITHOUT ROWID;

-- The extractions that a generation was made from. Rows outlive the sessions that they name.
CREATE TABLE generation_input (
    project_id  TEXT    NOT NULL,
    n           INTEGER NOT NULL,
    session_key TEXT    NOT NULL,
    hash        TEXT    NOT NULL, -- content hash of the extraction
    PRIMARY KEY (project_id, n, session_key),
    FOREIGN KEY (project_id, n) REFERENCES generation (project_id, n) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX generation_input_session ON generation_input (session_key);

-- Changes that a person made to the files of a memory.
CREATE TABLE hand_edit (
    id         INTEGER NOT NULL PRIMARY KEY,
    project_id TEXT    NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    base       INTEGER NOT NULL, -- the generation that was edited
    file       TEXT    NOT NULL,
    action     TEXT    NOT NULL CHECK (action IN ('added', 'removed', 'file', 'deleted', 'restored')),
    section    TEXT    NOT NULL,
    after      TEXT    NOT NULL,
    text       TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    origin     TEXT    NOT NULL DEFAULT '' -- as in project_alias
) STRICT;
CREATE INDEX hand_edit_base ON hand_edit (project_id, base);

-- Number of redactions in the stored texts, by rule.
CREATE TABLE redaction (
    scope TEXT    NOT NULL CHECK (scope IN ('extract', 'consolidate')),
    key   TEXT    NOT NULL, -- a session's key, or a project's id
    rule  TEXT    NOT NULL,
    n     INTEGER NOT NULL,
    PRIMARY KEY (scope, key, rule)
) STRICT, WITHOUT ROWID;

-- fence: the last one given. All projects share it, so that the fence of a project never decreases, even if
-- it is cleared and registered again.
-- purge: 1 while deleted text must still be removed from copies, the log and free pages.
-- user: hash of the projects' changes that the user's own memory was compared with last.
CREATE TABLE counter (
    name TEXT    NOT NULL PRIMARY KEY,
    n    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counter (name, n) VALUES ('fence', 0), ('purge', 0);

-- Counts of the records that the reader skipped in a session's last extraction.
CREATE TABLE skipped_record (
    session_key TEXT    NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    why         TEXT    NOT NULL CHECK (why IN ('unknown', 'malformed', 'oversized', 'cut')),
    type        TEXT    NOT NULL, -- of an unknown record: its type, redacted; else empty
    n           INTEGER NOT NULL,
    PRIMARY KEY (session_key, why, type)
) STRICT, WITHOUT ROWID;

-- Projects whose memory must still be rewritten without what was forgotten. The row is deleted when that is
-- done; the next run finishes it after a crash.
CREATE TABLE withdrawal (
    project_id TEXT    NOT NULL PRIMARY KEY REFERENCES project (id) ON DELETE CASCADE,
    texts      TEXT    NOT NULL, -- JSON: lines that contain one are removed as well
    seq        INTEGER NOT NULL, -- the project's change_seq when it was begun
    purge      INTEGER NOT NULL CHECK (purge IN (0, 1)) -- earlier generations are removed as well
) STRICT, WITHOUT ROWID;

-- Deleted projects whose folders remain to be removed, and projects that were split.
CREATE TABLE removed_folder (
    project_id TEXT NOT NULL PRIMARY KEY,
    files_to   TEXT NOT NULL DEFAULT '' -- project that gets the files beside its memory; itself after a split
) STRICT, WITHOUT ROWID;

-- The latest runs.
CREATE TABLE run (
    id       INTEGER NOT NULL PRIMARY KEY,
    run      TEXT    NOT NULL UNIQUE, -- as in the ledger
    holder   TEXT    NOT NULL,        -- JSON: the process
    began_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL DEFAULT 0, -- 0: under way, or its process crashed
    outcome  TEXT    NOT NULL DEFAULT '',
    reason   TEXT    NOT NULL DEFAULT '', -- why it did not complete
    hint     TEXT    NOT NULL DEFAULT ''  -- what a person can do about that
) STRICT;

-- The sessions that searching finds. A session gets a new number whenever its stored texts change, and no
-- number is given twice.
CREATE TABLE searchable (
    seq         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    session_key TEXT    NOT NULL UNIQUE REFERENCES session (key) ON DELETE CASCADE,
    moves       INTEGER NOT NULL DEFAULT 0 -- times that it moved to another project
) STRICT;

-- What people and the agent said in a session, as of its last extraction: redacted, bounded, without the
-- inputs and outputs of tools.
CREATE TABLE message (
    id    INTEGER NOT NULL PRIMARY KEY, -- in the order of a session's items
    seq   INTEGER NOT NULL REFERENCES searchable (seq) ON DELETE CASCADE,
    item  INTEGER NOT NULL,
    typed INTEGER NOT NULL CHECK (typed IN (0, 1)), -- by a person; else it is the agent's
    at    INTEGER NOT NULL,
    text  TEXT    NOT NULL
) STRICT;
CREATE INDEX message_seq ON message (seq);

-- Notes and lines of journals. Each is a session; its text is the only message of that session.
CREATE TABLE entry (
    id          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    session_key TEXT    UNIQUE REFERENCES session (key) ON DELETE CASCADE,
    kind        TEXT    NOT NULL CHECK (kind IN ('note', 'journal', 'history')),
    category    TEXT    NOT NULL, -- of a note; else empty
    author      TEXT    NOT NULL CHECK (author IN ('user', 'auto', 'agent')),
    filed       INTEGER NOT NULL DEFAULT 0 CHECK (filed IN (0, 1)), -- it is in a file of the project's folder
    accessed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX entry_unfiled ON entry (id) WHERE NOT filed;
CREATE INDEX entry_accessed ON entry (kind, accessed_at DESC, id DESC);

-- The last messages of sessions whose extraction by a model failed, until the history has them: redacted.
CREATE TABLE fallback (
    session_key TEXT    NOT NULL PRIMARY KEY REFERENCES session (key) ON DELETE CASCADE,
    at          INTEGER NOT NULL, -- of the last message
    text        TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
