-- hub: of a line that was removed, the generation of the hub that had it; 0: none.
ALTER TABLE hand_edit ADD COLUMN hub INTEGER NOT NULL DEFAULT 0;

-- The edits of a shared project, as a session of the outbox and of sent: the hub may lack some, or have too much.
CREATE VIEW edited AS SELECT 'edit:' || key AS session_key, project_id FROM share
    WHERE EXISTS (SELECT 1 FROM hand_edit h WHERE h.project_id = share.project_id AND hub > 0)
        OR EXISTS (SELECT 1 FROM sent WHERE session_key = 'edit:' || share.key);

CREATE TRIGGER edit_made AFTER INSERT ON hand_edit BEGIN
    INSERT INTO outbox (session_key) SELECT session_key FROM edited WHERE project_id = NEW.project_id
        ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER edit_changed AFTER UPDATE ON hand_edit BEGIN
    INSERT INTO outbox (session_key) SELECT session_key FROM edited WHERE project_id = NEW.project_id
        ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER edit_gone AFTER DELETE ON hand_edit BEGIN
    INSERT INTO outbox (session_key) SELECT session_key FROM edited WHERE project_id = OLD.project_id
        ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER share_made AFTER INSERT ON share BEGIN
    INSERT INTO outbox (session_key) SELECT session_key FROM edited WHERE project_id = NEW.project_id
        ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER share_gone AFTER DELETE ON share WHEN EXISTS (SELECT 1 FROM sent WHERE session_key = 'edit:' || OLD.key)
BEGIN
    INSERT INTO outbox (session_key) VALUES ('edit:' || OLD.key) ON CONFLICT DO UPDATE SET n = n + 1;
END;
