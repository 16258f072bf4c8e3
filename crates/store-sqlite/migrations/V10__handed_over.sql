-- The question that was handed over, of a session that was opened for one.
alter table sessions add column handed_from text;
