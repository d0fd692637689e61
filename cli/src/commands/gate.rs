//! `ludus gate`: what was decided about versions.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use ludus_coordinator::{Finding, Records, VerdictCheck};
use serde::Serialize;

use crate::local_run::RunPlace;
use crate::output::{Paint, Table, json_line};
use crate::report::{e_value, grouped};

/// What to do with gates.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Recompute every verdict of a run from the games of its gate
    #[command(after_help = "\
A gate decides by its games alone, in the order of their numbers, so anybody who has the folder of
the coordinator can repeat it. Exit status 0: every verdict comes out as it is stored; 1: one does not.

Examples:
  ludus gate verify                          of the last run on this machine
  ludus gate verify backgammon --dir runs/cluster --json")]
    Verify(Verify),
}

/// Arguments of `ludus gate verify`.
#[derive(Debug, clap::Args)]
pub struct Verify {
    /// Name of the run [default: the newest]
    run: Option<String>,
    /// Folder of a coordinator or a local run, running or not [default: the last one on this machine]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// A JSON list, oldest gate first
    #[arg(long)]
    json: bool,
}

/// Does it.
pub fn run(action: Action) -> Result<()> {
    let Action::Verify(args) = action;
    let place = RunPlace { dir: args.dir, ..RunPlace::default() };
    let checks = Records::open(&place.folder()?)?.verify_gates(args.run.as_deref().unwrap_or_default())?;
    let mut out = std::io::stdout().lock();
    if args.json {
        json_line(&mut out, &checks.iter().map(CheckJson::from).collect::<Vec<_>>())?;
    } else {
        let heading = ["VERSION", "OPPONENT", "STORED", "RECOMPUTED", "PAIRS>", "E+>", "E->", "FINDING"];
        let mut table = Table::new(&heading);
        checks.iter().for_each(|check| table.row(row(check)));
        table.write(&mut out, Paint::stdout())?;
    }
    let (agree, wrong) = (count(&checks, agrees), count(&checks, disagrees));
    if wrong > 0 {
        bail!(
            "{wrong} of {} verdicts do not come out of their games: the database was changed or damaged; restore the \
             folder from a copy",
            agree + wrong
        );
    }
    if !args.json {
        writeln!(out, "verdicts recomputed from their games: {agree}, and all agree")?;
    }
    Ok(())
}

fn agrees(check: &VerdictCheck) -> bool {
    check.finding == Finding::Agrees
}

fn disagrees(check: &VerdictCheck) -> bool {
    matches!(check.finding, Finding::Disagrees(_))
}

fn count(checks: &[VerdictCheck], which: fn(&VerdictCheck) -> bool) -> usize {
    checks.iter().filter(|check| which(check)).count()
}

fn opponent(check: &VerdictCheck) -> String {
    match check.opponent {
        0 => "random".into(),
        version => format!("v{version}"),
    }
}

fn note(finding: &Finding) -> String {
    match finding {
        Finding::Agrees => "agrees".into(),
        Finding::NothingToCompare(why) => why.clone(),
        Finding::Disagrees(how) => format!("DISAGREES: {how}"),
    }
}

fn row(check: &VerdictCheck) -> Vec<String> {
    let report = check.recomputed.as_ref();
    let figure = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    vec![
        format!("v{}", check.candidate),
        opponent(check),
        check.stored.clone(),
        figure(report.map(|report| report.verdict.as_str().to_owned())),
        figure(report.map(|report| grouped(report.pairs))),
        figure(report.map(|report| e_value(report.e_better))),
        figure(report.map(|report| e_value(report.e_worse))),
        note(&check.finding),
    ]
}

/// A recomputed verdict, for scripts.
#[derive(Serialize)]
struct CheckJson<'a> {
    candidate: u64,
    opponent: String,
    stored: &'a str,
    recomputed: Option<&'static str>,
    pairs: Option<u64>,
    e_better: Option<f64>,
    e_worse: Option<f64>,
    /// `null` where there is no verdict of games to compare.
    agrees: Option<bool>,
    finding: String,
}

impl<'a> From<&'a VerdictCheck> for CheckJson<'a> {
    fn from(check: &'a VerdictCheck) -> Self {
        let report = check.recomputed.as_ref();
        CheckJson {
            candidate: check.candidate,
            opponent: opponent(check),
            stored: &check.stored,
            recomputed: report.map(|report| report.verdict.as_str()),
            pairs: report.map(|report| report.pairs),
            e_better: report.map(|report| report.e_better),
            e_worse: report.map(|report| report.e_worse),
            agrees: (agrees(check) || disagrees(check)).then(|| agrees(check)),
            finding: note(&check.finding),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(finding: Finding) -> VerdictCheck {
        VerdictCheck { candidate: 3, opponent: 0, stored: "promoted".into(), recomputed: None, finding }
    }

    #[test]
    fn only_compared_verdicts_agree_or_disagree() {
        let wrong = check(Finding::Disagrees("its games decide rejected".into()));
        let open = check(Finding::NothingToCompare("no verdict yet".into()));
        let fine = check(Finding::Agrees);
        let answers = [&wrong, &open, &fine].map(|check| CheckJson::from(check).agrees);
        assert_eq!(answers, [Some(false), None, Some(true)]);
        let cells = ["v3", "random", "promoted", "-", "-", "-", "-", "DISAGREES: its games decide rejected"];
        assert_eq!(row(&wrong), cells);
    }
}
