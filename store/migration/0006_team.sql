-- Projects whose statements leave this machine for a hub. key is the project's name there; cursor is how far its
-- changes were received.
CREATE TABLE share (
    project_id TEXT    NOT NULL PRIMARY KEY REFERENCES project (id) ON DELETE CASCADE,
    key        TEXT    NOT NULL UNIQUE,
    cursor     TEXT    NOT NULL DEFAULT '',
    at         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What was sent to a hub, by hash. A row outlives its session and its share: it says what to withdraw, and what was.
CREATE TABLE sent (
    key         TEXT    NOT NULL, -- of the project, as in share
    hash        TEXT    NOT NULL,
    session_key TEXT    NOT NULL,
    withdrawn   INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1)),
    PRIMARY KEY (key, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX sent_session ON sent (session_key);

-- Sessions of which the hub may lack something: a statement, or a tombstone. n changes with each change, so that one
-- that comes while a push is under way is not lost.
CREATE TABLE outbox (
    session_key TEXT    NOT NULL PRIMARY KEY,
    n           INTEGER NOT NULL DEFAULT 1
) STRICT, WITHOUT ROWID;

-- What was received is not sent on.
CREATE TRIGGER outbox_filled BEFORE INSERT ON outbox
    WHEN NEW.session_key LIKE 'team:%' OR NEW.session_key LIKE 'machine:%'
BEGIN
    SELECT raise(IGNORE);
END;

-- The transaction that changes an extraction, or what may leave of it, also fills the outbox.
CREATE TRIGGER extraction_made AFTER INSERT ON extraction
    WHEN EXISTS (SELECT 1 FROM share WHERE project_id = NEW.project_id)
BEGIN
    INSERT INTO outbox (session_key) VALUES (NEW.session_key) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER extraction_changed AFTER UPDATE ON extraction
    WHEN EXISTS (SELECT 1 FROM share WHERE project_id IN (OLD.project_id, NEW.project_id))
BEGIN
    INSERT INTO outbox (session_key) VALUES (NEW.session_key) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER extraction_gone AFTER DELETE ON extraction
    WHEN EXISTS (SELECT 1 FROM sent WHERE session_key = OLD.session_key)
BEGIN
    INSERT INTO outbox (session_key) VALUES (OLD.session_key) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER mark_made AFTER INSERT ON mark WHEN EXISTS (SELECT 1 FROM share)
BEGIN
    INSERT INTO outbox (session_key) VALUES (NEW.session_key) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER mark_changed AFTER UPDATE ON mark WHEN EXISTS (SELECT 1 FROM share)
BEGIN
    INSERT INTO outbox (session_key) VALUES (NEW.session_key) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER mark_gone AFTER DELETE ON mark WHEN EXISTS (SELECT 1 FROM share)
BEGIN
    INSERT INTO outbox (session_key) VALUES (OLD.session_key) ON CONFLICT DO UPDATE SET n = n + 1;
END;

-- Statements of a team: of other members, and of the person's other machines. Each group of one session is an input of
-- consolidations, stored as a session. A withdrawn one leaves its hash.
CREATE TABLE received (
    project_id TEXT    NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    origin     TEXT    NOT NULL CHECK (origin IN ('hub', 'repository')),
    hash       TEXT    NOT NULL,
    session    TEXT    NOT NULL, -- key of the group, without the number that it has since something of it was withdrawn
    day        TEXT    NOT NULL,
    statements TEXT    NOT NULL, -- JSON: an array of one memoir.Statement, without id; '': withdrawn
    PRIMARY KEY (project_id, origin, session, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX received_hash ON received (hash);
