//! Current operator settings of the agents.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::definitions::{AgentFile, OperatorSettings};
use domain::AgentVersion;
use parking_lot::RwLock;

/// Settings of each version of an agent, newest version last.
type Versions = Vec<(String, OperatorSettings)>;

/// Settings of the agents in the definition files, by name and version.
#[derive(Debug, Default)]
pub(crate) struct AgentSettings(RwLock<Arc<BTreeMap<String, Versions>>>);

impl AgentSettings {
    /// Replaces the settings with the settings of the current files.
    pub(crate) fn replace(&self, agents: &[AgentFile]) {
        let mut by_name: BTreeMap<String, Versions> = BTreeMap::new();
        for AgentFile { agent, settings } in agents {
            by_name.entry(agent.name.clone()).or_default().push((agent.version.clone(), settings.clone()));
        }
        *self.0.write() = Arc::new(by_name);
    }

    /// Settings of a version. A version that is no longer in the files, but still runs, has the settings of the newest
    /// version of that name. An agent without a file has none: no network, and no directories besides its workspace.
    pub(crate) fn of(&self, agent: &AgentVersion) -> OperatorSettings {
        let by_name = Arc::clone(&self.0.read());
        let Some(versions) = by_name.get(&agent.name) else { return OperatorSettings::default() };
        let exact = versions.iter().rfind(|(version, _)| *version == agent.version);
        exact.or_else(|| versions.last()).map(|(_, settings)| settings.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use agent::definitions::read_agent;

    use super::*;

    fn version(version: &str, network: bool) -> AgentFile {
        let text = format!(
            "name = \"helper\"\nversion = \"{version}\"\nnetwork = {network}\n[model]\nprovider = \"scripted\"\n\
             [[model.script.turns]]\nsay = \"Hello\"\n"
        );
        read_agent(&text, Path::new("a.toml")).unwrap()
    }

    #[test]
    fn removed_version_has_the_settings_of_the_newest_one() {
        let settings = AgentSettings::default();
        let (first, second, third) = (version("1", false), version("2", true), version("3", false));
        settings.replace(&[first.clone(), second.clone()]);
        assert!(!settings.of(&first.agent).network);
        assert!(settings.of(&second.agent).network);
        assert!(settings.of(&third.agent).network, "the newest is version 2");
        settings.replace(std::slice::from_ref(&third));
        assert!(!settings.of(&second.agent).network);
        settings.replace(&[]);
        assert_eq!(settings.of(&second.agent), OperatorSettings::default());
    }
}
