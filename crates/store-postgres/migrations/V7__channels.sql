-- A conversation is found by its channel, the newest session first.
create index sessions_by_channel on sessions (project, channel, id);
