//! `ludus doctor`: what stands in the way of a good run, and what to do about it.
//!
//! `finding` (what a check says), then one module an area: `machine`, `folder`, `port`, `redis`, `coordinator`. A check
//! never fails: what it cannot find out is itself a finding.

mod coordinator;
mod finding;
mod folder;
mod machine;
mod port;
mod redis;

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::access::AccessArgs;
use crate::output::{Paint, json_line};
use finding::{Finding, Health};

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ludus doctor                               this machine alone
  ludus doctor --dir runs/cluster --listen 0.0.0.0:7777 --redis redis://127.0.0.1:6379
  ludus doctor --coordinator https://coordinator:7777 --tls-ca ca.pem --token-file laboratory.token

The options are those of the role that is to run here: the second line is for a coordinator, the third
for a worker. Ends with code 0 unless there is a problem; a warning is none.")]
pub struct Args {
    /// Check the way to this coordinator: does it answer, does it take the token, are its version and clock like ours
    #[arg(long, value_name = "URL", env = "LUDUS_COORDINATOR")]
    coordinator: Option<String>,
    /// Check this Redis: version, settings, memory, whether it can write
    #[arg(long, value_name = "URL", env = "LUDUS_REDIS")]
    redis: Option<String>,
    /// Check a role's folder: can it be written, is there room. Nothing stays in it
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Check whether a role could listen at this address; may be given again
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<SocketAddr>,
    #[command(flatten)]
    access: AccessArgs,
    /// A JSON list: check, state (ok, warning or problem), found, advice
    #[arg(long)]
    json: bool,
}

/// Checks, writes what was found, and fails where there is a problem.
pub fn run(args: Args) -> Result<()> {
    let mut findings = machine::check();
    findings.extend(args.dir.iter().flat_map(|dir| folder::check(dir)));
    findings.extend(args.listen.iter().map(|address| port::check(*address)));
    findings.extend(args.redis.iter().flat_map(|url| redis::check(url)));
    findings.extend(args.coordinator.iter().flat_map(|url| coordinator::check(url, &args.access)));

    let mut out = std::io::stdout().lock();
    if args.json {
        json_line(&mut out, &findings)?;
    } else {
        finding::write(&mut out, &findings, Paint::stdout())?;
        writeln!(out, "{}", summary(&findings, &args))?;
    }
    match count(&findings, Health::Problem) {
        0 => Ok(()),
        1 => bail!("there is a problem"),
        problems => bail!("there are {problems} problems"),
    }
}

fn count(findings: &[Finding], health: Health) -> usize {
    findings.iter().filter(|finding| finding.state == health).count()
}

/// How many are of which kind, and what was not looked at.
fn summary(findings: &[Finding], args: &Args) -> String {
    let one_or_more = |number: usize, word: &str| match number {
        0 => format!("no {word}s"),
        1 => format!("1 {word}"),
        number => format!("{number} {word}s"),
    };
    let problems = one_or_more(count(findings, Health::Problem), "problem");
    let warnings = one_or_more(count(findings, Health::Warning), "warning");
    let mut text = format!("{problems}, {warnings}");
    let unused = [
        ("--dir", args.dir.is_none()),
        ("--listen", args.listen.is_empty()),
        ("--redis", args.redis.is_none()),
        ("--coordinator", args.coordinator.is_none()),
    ];
    let unused: Vec<&str> = unused.iter().filter(|(_, unused)| *unused).map(|(option, _)| *option).collect();
    if !unused.is_empty() {
        text += &format!("; {} would check more", unused.join(", "));
    }
    text
}
