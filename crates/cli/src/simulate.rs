//! `holdpoint policy simulate`: judges recorded actions by a draft and prints what would change.

use engine::{ChangedRuling, Engine, Error, Ids, Settings, Simulate, Simulation};

use crate::config::PolicySimulate;
use crate::failure::Failure;
use crate::master_key::vault;
use crate::open_store::open_existing;
use crate::policy::read;

/// Compares a draft with past actions. Works while a server is running and without one.
pub(crate) async fn simulate(draft: PolicySimulate) -> Result<(), Failure> {
    let PolicySimulate { file, limit, since, tenant, project, master, database } = draft;
    let text = read(&file)?;
    let (store, clock) = open_existing(&database)?;
    let vault = vault(&master, &database.data)?;
    let engine = Engine::new(store, clock, Ids::default(), vault, Settings::default());
    // The floor applies to every policy.
    engine.follow_servers().await?;
    let simulate = Simulate { file: file.display().to_string(), text, limit: Some(limit), since };
    let simulation = engine.policy_simulate_of(tenant, project, simulate).await.map_err(|error| match error {
        Error::PolicyInvalid(problems) => {
            let lines: Vec<String> = problems.into_iter().map(|problem| problem.message).collect();
            Failure::PolicyInvalid(lines.join("\n"))
        }
        other => other.into(),
    })?;
    for line in report_lines(&simulation) {
        println!("{line}");
    }
    Ok(())
}

/// Result of the simulation, one line each.
fn report_lines(simulation: &Simulation) -> Vec<String> {
    let Simulation { judged, more, counts, changed, contradictions, contradicted, .. } = simulation;
    let older = if *more { ", and there are older ones" } else { "" };
    let mut lines = vec![format!("{judged} actions judged{older}")];
    let sorts = counts.iter().map(|((from, to), count)| format!("{} -> {}: {count}", from.name(), to.name()));
    lines.extend(sorts);
    lines.extend(changed.iter().map(|changed| format!("  {}", line(changed))));
    lines.push(format!("{contradictions} decisions of people contradicted"));
    lines.extend(contradicted.iter().map(|changed| format!("  {}", line(changed))));
    lines
}

fn line(ChangedRuling { session, call, tool, agent, at, before, after, decision }: &ChangedRuling) -> String {
    let rule = after.rule.as_deref().map_or_else(|| "the default".to_owned(), |rule| format!("rule `{rule}`"));
    let (before, verdict) = (before.verdict.name(), after.verdict.name());
    let said = decision.as_ref().map_or_else(String::new, |decision| {
        format!("; {} said {} in {}", decision.by.name, decision.effect.name(), decision.interaction)
    });
    format!("{at} {tool} of {agent} ({session} {call}): {before} -> {verdict} by {rule}: {}{said}", after.reason)
}
