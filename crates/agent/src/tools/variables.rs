//! Secrets as environment variables of a command.
//!
//! The names that change what a program does, or which program runs, cannot all be listed. Only names that evidently
//! carry a secret are passed as they are; all others get the prefix `SECRET_`.

use std::collections::BTreeMap;

use zeroize::Zeroizing;

/// Prefix of renamed variables.
const PREFIX: &str = "SECRET_";

/// Endings of names that carry a secret and configure nothing.
const ENDS: &[&str] = &["TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "APIKEY", "USERNAME"];

/// Last words of names that carry a secret. They are compared as whole words, because `MONKEY` also ends in `KEY`.
const LAST_WORDS: &[&str] = &["KEY", "PIN", "OTP", "CODE", "PASS", "LOGIN", "ID"];

/// First parts of names that end in `_USER` and name an account. `R_PROFILE_USER` and `R_ENVIRON_USER` are paths of
/// scripts.
const ACCOUNTS: &[&str] = &[
    "ADMIN", "API", "AUTH", "BASIC", "DATABASE", "DB", "FTP", "HTTP", "IMAP", "LDAP", "MAIL", "MONGO", "MSSQL",
    "MYSQL", "ORACLE", "PG", "POSTGRES", "REDIS", "REGISTRY", "SFTP", "SMTP", "SQL",
];

/// Beginnings of names that configure a loader, a shell or a tool.
const STEERING: &[&str] = &["LD_", "DYLD_", "BASH_", "GIT_CONFIG", "NPM_CONFIG_"];

/// The secrets of a step as environment variables.
#[derive(Debug, Default)]
pub(super) struct Variables<'a> {
    /// Names and values of the variables.
    pub(super) given: Vec<(String, &'a str)>,
    /// Names of secrets that get the prefix.
    renamed: Vec<&'a str>,
    /// Names of secrets that cannot be variables.
    withheld: Vec<&'a str>,
}

impl<'a> Variables<'a> {
    pub(super) fn of(secrets: &'a BTreeMap<String, Zeroizing<String>>) -> Self {
        let mut variables = Self::default();
        for (name, value) in secrets {
            if !is_name(name) || value.contains('\0') {
                variables.withheld.push(name);
            } else if is_harmless(name) {
                variables.given.push((name.clone(), value));
            } else {
                variables.renamed.push(name);
                variables.given.push((format!("{PREFIX}{name}"), value));
            }
        }
        variables
    }

    /// Note for the model about renamed and withheld secrets.
    pub(super) fn note(&self) -> Option<String> {
        let mut parts = Vec::new();
        if !self.withheld.is_empty() {
            parts.push(format!("secrets that cannot be variables were not given: {}", self.withheld.join(", ")));
        }
        if !self.renamed.is_empty() {
            let names: Vec<String> = self.renamed.iter().map(|name| format!("{name} as {PREFIX}{name}")).collect();
            parts.push(format!(
                "secrets whose names may change what programs do were given under other names: {}",
                names.join(", ")
            ));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

fn is_name(name: &str) -> bool {
    let mut letters = name.bytes();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
}

fn is_harmless(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let last = name.rsplit('_').next().unwrap_or_default();
    let is_account = name.strip_suffix("_USER").is_some_and(|before| ACCOUNTS.contains(&before));
    let carries = ENDS.iter().any(|end| name.ends_with(end)) || LAST_WORDS.contains(&last) || is_account;
    carries && !STEERING.iter().any(|begin| name.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_evidently_carry_a_secret_are_harmless() {
        for name in [
            "TOKEN",
            "KETTLE_TOKEN",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "PGPASSWORD",
            "db_user",
            "SMTP_USER",
            "API_KEY",
        ] {
            assert!(is_harmless(name), "{name}");
        }
        for name in [
            "NODE_OPTIONS",
            "GIT_SSH_COMMAND",
            "GIT_CONFIG_KEY_0",
            "GIT_CONFIG_COUNT",
            "GIT_ASKPASS",
            "SSH_ASKPASS",
            "PYTHONPATH",
            "PERL5OPT",
            "RUBYOPT",
            "RUSTC_WRAPPER",
            "PAGER",
            "LESSOPEN",
            "JAVA_TOOL_OPTIONS",
            "http_proxy",
            "HTTPS_PROXY",
            "PATH",
            "HOME",
            "ENV",
            "BASH_ENV",
            "LD_PRELOAD",
            "LD_KEY",
            "npm_config_key",
            "EDITOR",
            "DATABASE_URL",
            "IFS",
            "PS4",
            "PWD",
            "CDPATH",
            "MAKEFLAGS",
            "USER",
            "R_PROFILE_USER",
            "R_ENVIRON_USER",
            "R_DB_USER",
        ] {
            assert!(!is_harmless(name), "{name}");
        }
    }
}
