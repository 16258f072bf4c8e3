-- What a question is found by, in lower case. Of those that were asked before, in the letters that this database knows; one with a
-- character of nothing, which no text of this database can hold, by its title.
alter table questions add column said text not null default '';
update questions set said = lower(case when asked like '%\\u0000%' then title else concat_ws(chr(10), title,
    asked::json #>> '{question,action,tool}', asked::json #>> '{origin,agent}', asked::json #>> '{question,message}',
    asked::json #>> '{question,action,arguments}') end);
