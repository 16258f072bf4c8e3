-- What a question is found by, in lower case. Of those that were asked before, in the letters that this database knows.
alter table questions add column said text not null default '';
update questions set said = lower(title || char(10) || coalesce(asked ->> '$.question.action.tool', '') || char(10)
    || coalesce(asked ->> '$.origin.agent', '') || char(10) || coalesce(asked ->> '$.question.message', '') || char(10)
    || coalesce(asked ->> '$.question.action.arguments', ''));
