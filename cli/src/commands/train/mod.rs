//! `ludus train`: learn a game on this machine, with every role of a cluster in one process.
//!
//! The roles talk as they do in a cluster, over gRPC on the loopback interface; only the stream is a file in the folder
//! unless a Redis is named. `team` starts and ends them, `progress` shows what they do.
//!
//! **The end.** At `--time` or `--cpu-time`, Ctrl-C or SIGTERM: the workers hand in what they have finished and give the
//! rest back; the trainer learns what was handed in, publishes a last version and writes a checkpoint. A gate in progress
//! is not waited for (it may take longer than the training did): it goes on when the run is resumed. A second Ctrl-C ends
//! the process at once, which costs no accepted game.

mod budget;
mod progress;
mod team;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::builder::PossibleValuesParser;
use ludus_config::{Origin, RunConfig, Setting};
use ludus_coordinator::Coordinator;
use ludus_players::arena::Registry;
use ludus_players::weight_file::{Shape, WeightFile};
use ludus_proto::v1::RunStatus;

use crate::config_file::{self, ConfigArgs};
use crate::exit::BadConfiguration;
use crate::game::arena;
use crate::local_run::Served;
use crate::log::LogArgs;
use crate::report::grouped;
use crate::{output, players, report, roles, signals};
use budget::Budget;
use progress::Display;
use team::Team;

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ludus train backgammon --time 10m          learn for ten minutes
  ludus train backgammon                     go on where it ended, until Ctrl-C
  ludus config show > run.toml               a configuration to edit, for
  ludus train backgammon --config run.toml --dir runs/experiment
  ludus train backgammon --set learn.lambda=0.9 --dir runs/other
  ludus train backgammon --from shipped --config fine.toml --dir runs/fine

With --from, small steps (learn.step_size) keep what the weights know; the default's first steps are large.

At --time or Ctrl-C what was played is learnt, for up to a minute, a last version is published, and a gate
in progress is left to be continued, as are games still to be learnt. A second Ctrl-C ends at once;
nothing that was handed in is lost by that either.")]
pub struct Args {
    /// Game to learn
    #[arg(value_parser = PossibleValuesParser::new(learnable()))]
    game: String,
    #[command(flatten)]
    config: ConfigArgs,
    /// Begin a new run with the weights of this player instead of random ones: shipped, a weight file's path, or a version
    /// (v12, champion) of the last run on this machine
    #[arg(long, value_name = "PLAYER")]
    from: Option<String>,
    #[command(flatten)]
    budget: Budget,
    /// Player threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = roles::threads)]
    workers: Option<usize>,
    /// Folder of the run; a run that is there is resumed [default: runs/GAME]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Redis that carries the games [default: a file in DIR]
    #[arg(long, value_name = "URL")]
    redis: Option<String>,
    /// Print what was reached as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

impl Args {
    fn folder(&self) -> PathBuf {
        self.dir.clone().unwrap_or_else(|| Path::new("runs").join(&self.game))
    }
}

/// The games that have networks to train.
fn learnable() -> Vec<&'static str> {
    let registry = Registry::standard();
    let learnable =
        |game: &&'static str| registry.find(game).is_some_and(|arena| !arena.input_sets().is_empty());
    registry.games().into_iter().filter(learnable).collect()
}

/// Trains.
pub fn run(args: Args) -> Result<()> {
    // Before anything is made in a folder; what is there already may have a configuration that goes with these flags.
    if args.config.file().is_some() || !args.folder().exists() {
        new_config(&args.config, &args.game, None)?;
    }
    roles::runtime()?.block_on(train(args))
}

async fn train(args: Args) -> Result<()> {
    let told_to_stop = signals::told_to_stop()?;
    let dir = args.folder();
    let stream = roles::stream(&dir, args.redis);
    let coordinator = roles::coordinator(roles::options(&dir, &stream)).await?;
    let from = args.from.map(|player| beginning_of(&player, &args.game, &coordinator, &dir)).transpose()?;
    let run = resume_or_create(&coordinator, &args.game, &args.config, from.as_ref(), &dir)?;
    let listener = team::listen(&coordinator).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let served = Served::note(&dir, &url, coordinator.house_token());

    let mut display = Display::new(args.budget.time);
    display.say(&beginning(&coordinator.run(&run)?, &dir));
    display.say(&format!("watch it at {url}"));
    let threads = args.workers.unwrap_or_else(roles::cores);
    let team = Team::start(coordinator.clone(), run.clone(), stream, dir.clone(), from, threads, listener);
    let outcome = team.work(args.budget, told_to_stop, &mut display).await;
    display.end();
    drop(served);

    let reached = Reached::look(&coordinator, &run, dir)?;
    if args.json {
        output::json_line(&mut std::io::stdout().lock(), &reached)?;
    } else {
        reached.print()?;
    }
    outcome
}

/// The weights that a new run begins with.
fn beginning_of(player: &str, game: &str, coordinator: &Coordinator, dir: &Path) -> Result<WeightFile> {
    if let Some(run) = coordinator.runs()?.last() {
        bail!(
            "{} holds run {}, which goes on from where it ended, not --from {player}: choose another folder with --dir",
            dir.display(),
            run.run
        );
    }
    players::weights(player, &*arena(game)?)
}

/// The configuration of a new run; without a file, for networks like those it begins with.
fn new_config(config: &ConfigArgs, game: &str, from: Option<&WeightFile>) -> Result<RunConfig> {
    let mut beneath = vec![Setting::by_flag("the game named", "game", game)];
    if let Some((from, first)) = from.and_then(|from| Some((from, from.networks.first()?))) {
        beneath.push(Setting::by_flag("--from", "network.inputs", &from.card.inputs));
        beneath.push(Setting::by_flag("--from", "network.hidden", first.hidden.to_string()));
    }
    let effective = config.read_between(&beneath, &[])?;
    if effective.config.game != game {
        let whose = match (effective.origin("game"), config.file()) {
            (Origin::Variable(name) | Origin::Flag(name), _) => name.clone(),
            (_, Some(path)) => path.display().to_string(),
            (origin, None) => origin.to_string(),
        };
        let its = &effective.config.game;
        return Err(BadConfiguration(format!("{whose} is a configuration for {its}, not for {game}")).into());
    }
    Ok(effective.config)
}

/// Refuses weights that are not of the new run's networks. Its trainer would refuse them, too, but then the run would be
/// there, and whoever went on with it would train random networks.
fn check_fit(from: &WeightFile, config: &RunConfig) -> Result<()> {
    let arena = arena(&config.game)?;
    let (card, network) = (&from.card, &config.network);
    let wanted = arena.shapes(&network.inputs, network.hidden);
    let wanted = wanted.map_err(|error| BadConfiguration(error.to_string()))?;
    let found = from.shapes();
    let fits = (card.game.as_str(), card.revision, &card.inputs)
        == (arena.game(), arena.revision(), &network.inputs);
    if fits && found == wanted {
        return Ok(());
    }
    let in_words = |networks: &[Shape]| {
        let words = networks.iter().map(|shape| format!("{} {shape}", shape.class));
        words.collect::<Vec<_>>().join(", ")
    };
    Err(BadConfiguration(format!(
        "the run cannot begin with {}: its networks are {} on {}, and those of the run would be {} on {}: leave out \
         network.inputs and network.hidden, or give those of the weights",
        card.label(),
        in_words(&found),
        card.inputs,
        in_words(&wanted),
        network.inputs
    ))
    .into())
}

/// The run of the folder, which is made when there is none. Gives its name.
fn resume_or_create(
    coordinator: &Coordinator,
    game: &str,
    config: &ConfigArgs,
    from: Option<&WeightFile>,
    dir: &Path,
) -> Result<String> {
    let runs = coordinator.runs()?;
    let Some(there) = runs.last() else {
        let config = new_config(config, game, from)?;
        if let Some(from) = from {
            check_fit(from, &config)?;
        }
        return Ok(coordinator.create_run(&config.to_toml(), "")?);
    };
    let name = &there.run;
    let elsewhere = "choose another folder with --dir";
    if there.game != game {
        bail!("{} holds run {name}, which learns {}, not {game}: {elsewhere}", dir.display(), there.game);
    }
    if there.state != "active" {
        bail!("run {name} in {} was stopped for good: {elsewhere}", dir.display());
    }
    let sources = config.sources()?;
    if !sources.is_empty() {
        let its = RunConfig::parse(&there.config).context("the configuration of the run")?;
        let config = coordinator.completed(config.over(&its)?)?;
        let differences = config_file::differences(&its, &config);
        if !differences.is_empty() {
            return Err(BadConfiguration(format!(
                "{} holds run {name} with another configuration ({differences}): leave out {} to resume it, or {elsewhere}",
                dir.display(),
                sources.join(" and ")
            ))
            .into());
        }
    }
    Ok(name.clone())
}

fn beginning(run: &RunStatus, dir: &Path) -> String {
    let (name, dir) = (&run.run, dir.display());
    match run.accepted {
        0 => format!("new run {name} in {dir}"),
        games => format!(
            "resuming run {name} in {dir}: {} games, latest {}, champion {}",
            grouped(games),
            report::version_or_none(run.latest_version),
            report::version_or_none(run.champion)
        ),
    }
}

/// What a run has come to.
#[derive(serde::Serialize)]
struct Reached {
    dir: PathBuf,
    #[serde(flatten)]
    run: report::RunJson,
    /// The weight file of the champion, or of the latest version while there is none.
    weights: Option<PathBuf>,
    #[serde(skip)]
    status: RunStatus,
}

impl Reached {
    fn look(coordinator: &Coordinator, run: &str, dir: PathBuf) -> Result<Self> {
        let status = coordinator.run(run)?;
        let best = if status.champion > 0 { status.champion } else { status.latest_version };
        let versions = coordinator.versions(run)?;
        let best = versions.iter().find(|version| version.version == best);
        let weights = best
            .map(|version| dir.join("weights").join(format!("{}.safetensors", report::hex(&version.sha256))));
        Ok(Reached { dir, run: report::RunJson::new(&status, false), weights, status })
    }

    fn print(&self) -> Result<()> {
        use std::io::Write;
        let Reached { dir, weights, status, .. } = self;
        let progress = status.progress.clone().unwrap_or_default();
        let mut out = std::io::stdout().lock();
        writeln!(
            out,
            "run {}: {} games played, {} learnt ({} positions){}",
            status.run,
            grouped(status.accepted),
            grouped(progress.games),
            grouped(progress.positions),
            match status.backlog {
                0 => String::new(),
                wait => format!(", {} wait to be learnt", grouped(wait)),
            }
        )?;
        writeln!(
            out,
            "latest {}, champion {}",
            report::version_or_none(status.latest_version),
            report::version_or_none(status.champion)
        )?;
        if let Some(gate) = &status.gate {
            writeln!(out, "gate left open: {}", report::gate_in_words(gate))?;
        }
        if let Some(weights) = weights {
            writeln!(out, "weights: {}", weights.display())?;
        }
        // Before the first version the weights of --from are nowhere in the folder: who went on would begin with others.
        if status.latest_version > 0 {
            writeln!(out, "go on: ludus train {} --dir {}", status.game, dir.display())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_run_is_resumed_with_the_file_it_was_created_with_and_with_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let stream = roles::stream(dir.path(), None);
        let coordinator = roles::coordinator(roles::options(dir.path(), &stream)).await.unwrap();
        let mut config = RunConfig::default();
        // Relative, as people write it; tests run in the folder of their crate.
        config.gate.benchmark = "tests/fixtures/small.bm".into();
        let file = dir.path().join("run.toml");
        let resume_as =
            |config: &ConfigArgs| resume_or_create(&coordinator, "backgammon", config, None, dir.path());
        let resume = |config: &RunConfig| {
            std::fs::write(&file, config.to_toml()).unwrap();
            resume_as(&ConfigArgs::of_file(file.clone()))
        };
        let created = resume(&config).unwrap();
        assert_eq!(resume(&config).unwrap(), created);
        config.seed = 9;
        let refusal = resume(&config).unwrap_err().to_string();
        assert!(refusal.contains("(seed is 1 there and 9 here): leave out --config to"), "{refusal}");

        // A flag alone is held against what the run has, whatever the defaults are.
        assert_eq!(resume_as(&ConfigArgs::default()).unwrap(), created);
        assert_eq!(resume_as(&ConfigArgs::of_setting("seed", "1")).unwrap(), created);
        let refusal = resume_as(&ConfigArgs::of_setting("learn.batch", "9")).unwrap_err().to_string();
        assert!(refusal.contains("learn.batch is 128 there and 9 here"), "{refusal}");
        assert!(refusal.contains("leave out --set learn.batch to resume it"), "{refusal}");
    }

    #[tokio::test]
    async fn only_a_new_run_begins_with_given_weights_and_it_has_networks_like_theirs() {
        let dir = tempfile::tempdir().unwrap();
        let stream = roles::stream(dir.path(), None);
        let coordinator = roles::coordinator(roles::options(dir.path(), &stream)).await.unwrap();
        let beginning = |player: &str| beginning_of(player, "backgammon", &coordinator, dir.path());
        let refusal = beginning("pubeval").unwrap_err().to_string();
        assert!(refusal.contains("pubeval has no weights to begin with"), "{refusal}");

        let mut from = beginning("shipped").unwrap();
        let hidden = from.networks[0].hidden;
        let told = ConfigArgs::default();
        assert_eq!(new_config(&told, "backgammon", Some(&from)).unwrap().network.hidden, hidden);
        from.networks[0].hidden = 7;
        let config = new_config(&told, "backgammon", Some(&from)).unwrap();
        assert_eq!((config.network.inputs, config.network.hidden), (from.card.inputs.clone(), 7));

        // Weights that are of other networks than the run leave no run behind, which would go on without them.
        let other = ConfigArgs::of_setting("network.hidden", "20");
        from.networks[0].hidden = hidden;
        let begin = |config: &ConfigArgs| {
            resume_or_create(&coordinator, "backgammon", config, Some(&from), dir.path())
        };
        let refusal = begin(&other).unwrap_err().to_string();
        assert!(refusal.contains(&format!("-{hidden}-")) && refusal.contains("-20-"), "{refusal}");
        assert!(coordinator.runs().unwrap().is_empty());

        begin(&told).unwrap();
        let refusal = beginning("shipped").unwrap_err().to_string();
        assert!(refusal.contains("holds run backgammon, which goes on from where it ended"), "{refusal}");
    }
}
