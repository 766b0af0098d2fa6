-- Times are unix milliseconds, 0 for none; modification times of files are unix
-- nanoseconds. A file's number is the PRAGMA user_version of a database that it was
-- applied to. There is no way down: the copy made before a migration is the way back.

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
    published_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE project_directory (
    path       TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX project_directory_project ON project_directory (project_id);

CREATE TABLE project_alias (
    alias      TEXT NOT NULL,
    project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    -- A name that people may say, or an identity, by which sessions find their project.
    kind       TEXT NOT NULL CHECK (kind IN ('name', 'identity', 'id')),
    PRIMARY KEY (alias, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX project_alias_project ON project_alias (project_id);

CREATE TABLE session (
    key        TEXT    NOT NULL PRIMARY KEY, -- source:thread_id
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
    reason     TEXT    NOT NULL
) STRICT;
CREATE INDEX session_project ON session (project_id);
CREATE INDEX session_thread ON session (thread_id);
CREATE INDEX session_reason ON session (reason);
CREATE INDEX session_cwd ON session (cwd);
-- The sessions whose reason may change with time alone, in the order of claims.
CREATE INDEX session_open ON session (updated_at DESC, key)
    WHERE reason NOT IN ('subagent', 'own_run', 'forgotten', 'disabled', 'unreadable', 'no_project', 'up_to_date');

-- What a person said about a session. It outlives the session's row, so that a
-- rescan after a clear does not bring back what was forgotten.
CREATE TABLE mark (
    session_key TEXT    NOT NULL PRIMARY KEY,
    disabled    INTEGER NOT NULL DEFAULT 0,
    excluded    INTEGER NOT NULL DEFAULT 0, -- its directory is kept out by a setting, not the session by a person
    forgotten   INTEGER NOT NULL DEFAULT 0,
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

CREATE TABLE job (
    kind            TEXT    NOT NULL CHECK (kind IN ('extract', 'consolidate')),
    key             TEXT    NOT NULL, -- a session's key, or a project's id
    status          TEXT    NOT NULL CHECK (status IN ('pending', 'running', 'done', 'error', 'dead')),
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
    -- Which model failed last: a wait that its server asked for is not for another one.
    model           TEXT    NOT NULL DEFAULT '',
    -- Work other than the row's own that a project is held for: 0 none, 1 some, 2 some, and the row
    -- was dead before. Who dies over it is not to blame the row's own work on.
    errand          INTEGER NOT NULL DEFAULT 0,
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
    stored_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX extraction_project ON extraction (project_id, session_key);

-- What was spent, a call a row. It is there from the call's beginning on, with what it is
-- estimated to take, so that a process that dies in the middle leaves it. Rows outlive what
-- they name.
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
    outcome       TEXT    NOT NULL, -- of the work that it was made for; unfinished until that has ended
    call          TEXT    NOT NULL, -- what became of it: begun, answered, …
    estimated     INTEGER NOT NULL CHECK (estimated IN (0, 1)), -- its tokens and cost are
    work          TEXT    NOT NULL  -- token of the claim that it was made for; '' for none
) STRICT;
CREATE INDEX ledger_at ON ledger (at);
CREATE INDEX ledger_unfinished ON ledger (work) WHERE outcome = 'unfinished';

CREATE TABLE generation (
    project_id    TEXT    NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    n             INTEGER NOT NULL,
    fence         INTEGER NOT NULL,
    manifest_hash TEXT    NOT NULL,
    inputs        TEXT    NOT NULL, -- JSON object: session key -> content hash
    seq           INTEGER NOT NULL, -- change_seq that it consumed
    at            INTEGER NOT NULL,
    PRIMARY KEY (project_id, n)
) STRICT;

CREATE TABLE note (
    id         INTEGER NOT NULL PRIMARY KEY,
    project_id TEXT    NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    base       INTEGER NOT NULL, -- the generation that was edited
    file       TEXT    NOT NULL,
    action     TEXT    NOT NULL CHECK (action IN ('added', 'removed', 'file', 'deleted')),
    section    TEXT    NOT NULL,
    after      TEXT    NOT NULL,
    text       TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    UNIQUE (project_id, base, file, action, section, text)
) STRICT;

-- How many secrets of each rule were taken out of what is stored now.
CREATE TABLE redaction (
    scope TEXT    NOT NULL CHECK (scope IN ('extract', 'consolidate')),
    key   TEXT    NOT NULL, -- a session's key, or a project's id
    rule  TEXT    NOT NULL,
    n     INTEGER NOT NULL,
    PRIMARY KEY (scope, key, rule)
) STRICT, WITHOUT ROWID;

-- fence: the last one given out. Fences grow over all projects, so that one that was
-- cleared and registered again goes on where it stopped.
-- purge: 1 while what was deleted is yet to be taken out of copies, logs and free pages.
CREATE TABLE counter (
    name TEXT    NOT NULL PRIMARY KEY,
    n    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counter (name, n) VALUES ('fence', 0), ('purge', 0);

-- Records of a session that no reader understood, as its last extraction met them.
CREATE TABLE skipped_record (
    session_key TEXT    NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    why         TEXT    NOT NULL CHECK (why IN ('unknown', 'malformed', 'oversized', 'cut')),
    type        TEXT    NOT NULL, -- of an unknown record: its type, redacted; else empty
    n           INTEGER NOT NULL,
    PRIMARY KEY (session_key, why, type)
) STRICT, WITHOUT ROWID;

-- Projects whose memory is yet to be rid of what was forgotten. A row goes when
-- that is done; a run finishes what another process had to leave.
CREATE TABLE withdrawal (
    project_id TEXT    NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    text       TEXT    NOT NULL, -- lines that hold it go, too; '' for none
    seq        INTEGER NOT NULL, -- the project's change_seq when it was begun
    purge      INTEGER NOT NULL, -- earlier generations go, too
    error      TEXT    NOT NULL DEFAULT '', -- why it could not be finished the last time
    PRIMARY KEY (project_id, text)
) STRICT, WITHOUT ROWID;

-- Projects whose rows are gone and whose folders are to be removed.
CREATE TABLE removed_folder (
    project_id TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- The latest runs, to tell when the last one was and how it ended.
CREATE TABLE run (
    id       INTEGER NOT NULL PRIMARY KEY,
    run      TEXT    NOT NULL UNIQUE, -- as in the ledger
    holder   TEXT    NOT NULL,        -- JSON: the process
    began_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL DEFAULT 0, -- 0: under way, or its process died
    outcome  TEXT    NOT NULL DEFAULT '',
    reason   TEXT    NOT NULL DEFAULT '', -- why it did not do all
    hint     TEXT    NOT NULL DEFAULT '', -- what can be done about that
    remained INTEGER NOT NULL DEFAULT 0   -- sessions that it left
) STRICT;
