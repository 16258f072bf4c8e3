//! Functions that only compute. Every other one may sleep, write, read files or call out.

const PURE: &[&str] = &[
    "abs", "age", "any_value", "array_agg", "array_length", "ascii", "avg", "bool_and", "bool_or", "btrim", "cast", "ceil", "ceiling", "char_length",
    "character_length", "coalesce", "concat", "concat_ws", "count", "cume_dist", "current_date", "current_time", "current_timestamp", "date", "date_add",
    "date_diff", "date_format", "date_part", "date_sub", "date_trunc", "datediff", "datetime", "day", "dense_rank", "exp", "extract", "first_value",
    "floor", "format", "greatest", "group_concat", "grouping", "hour", "iif", "ifnull", "initcap", "instr", "isnull", "json_agg", "json_array_length",
    "json_build_object", "json_extract", "json_extract_path_text", "json_object_agg", "jsonb_agg", "jsonb_array_length", "jsonb_build_object", "julianday",
    "lag", "last_value", "lcase", "lead", "least", "left", "len", "length", "ln", "localtime", "localtimestamp", "log", "log10", "log2", "lower", "lpad",
    "ltrim", "max", "md5", "median", "min", "minute", "mod", "month", "nth_value", "ntile", "nullif", "nvl", "octet_length", "percent_rank",
    "percentile_cont", "percentile_disc", "position", "pow", "power", "quarter", "rank", "regexp_count", "regexp_like", "regexp_replace", "regexp_substr",
    "replace", "reverse", "right", "round", "row_number", "rpad", "rtrim", "second", "sign", "split_part", "sqrt", "stddev", "stddev_pop",
    "stddev_samp", "strftime", "string_agg", "strpos", "substr", "substring", "sum", "time", "timestampdiff", "to_char", "to_date", "to_number",
    "to_timestamp", "total", "trim", "trunc", "truncate", "typeof", "ucase", "unixepoch", "upper", "var_pop", "var_samp", "variance", "week", "year",
    "now", "generate_series", "unnest", "json_each", "json_tree", "jsonb_array_elements", "json_array_elements",
];

/// Says whether a function only computes.
pub(super) fn pure(name: &str) -> bool {
    PURE.contains(&name)
}
