-- The place of an edit among equal blocks, and how many more there were.
ALTER TABLE hand_edit ADD COLUMN nth INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hand_edit ADD COLUMN others INTEGER NOT NULL DEFAULT 0;
