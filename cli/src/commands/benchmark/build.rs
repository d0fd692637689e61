//! `ludus benchmark build`: a benchmark of our own, rolled out by a cluster.
//!
//! Decisions are drawn from self-play, and the plays of each that come near the best are rolled out with the luck of the
//! dice taken out and on common dice. That is the work of a run whose games are all rollout games, so any cluster can do
//! it: a small one in this process, or the workers of a coordinator elsewhere. This command is the run's trainer, one
//! that never learns: [`role`] publishes the player's weights and takes the games in. [`collection`] takes decisions in
//! the order of the games' numbers, so the file depends on the player and the settings alone. [`works`] is the cluster
//! in this process.

mod collection;
mod role;
mod works;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use ludus_config::{Effective, Network, Rollout, RunConfig, SelfPlay, Setting};
use ludus_players::arena::{Arena, Source};
use ludus_players::weight_file::{Digest, WeightFile, check_target, save_bytes};
use ludus_stream::StreamHome;
use serde::Serialize;

use ludus_proto::Access;

use crate::coordinator_client::CoordinatorClient;
use crate::exit::BadConfiguration;
use crate::game::GameChoice;
use crate::output::{Paint, json_line};
use crate::players::{PlayerPlace, resolve};
use crate::report::grouped;
use crate::{output, roles, signals};
use collection::Collection;
use role::Role;
use works::Works;

/// Most points by which the best play of a decision may be ahead of the next at sight: beyond that everybody finds it.
const TRIVIAL: f64 = 0.3;

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Decisions come from games that the player plays against itself, exploring a little; only those count in which a second \
play comes within --margin of the best at sight. Their plays are rolled out by the same player, with the luck of every \
roll taken out and the same dice for all plays of a decision. The file holds lines as GNU Backgammon's do, with the \
chances and standard errors in remarks before each decision.

A thousand decisions take a few minutes on two cores. A build that was ended goes on when the same command is \
given again, from the folder OUT.build beside the file. With --coordinator the workers there do the work, as a run of \
its own.

Examples:
  ludus benchmark build own.bm --decisions 3000 --per-class
  ludus benchmark build own.bm --player ./mine.safetensors --trials 36 --horizon 0
  ludus benchmark build own.bm --player champion --coordinator http://host:7777 --redis redis://host:6379")]
pub struct Args {
    /// The benchmark file to make
    out: PathBuf,
    /// Player that plays the games and rolls out: shipped, champion, latest, v12 or a weight file's path
    #[arg(long, value_name = "PLAYER", default_value = "shipped")]
    player: String,
    /// Decisions in the file
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    decisions: u32,
    /// As many decisions of each class of positions, instead of as they come
    #[arg(long)]
    per_class: bool,
    /// Times each play is rolled out
    #[arg(long, value_name = "N", default_value_t = 36)]
    trials: u32,
    /// Plies after which a rollout ends with the player's judgement; 0: at the end of the game
    #[arg(long, value_name = "N", default_value_t = 8)]
    horizon: u32,
    /// Plays are rolled out that are within so many points of the best at sight
    #[arg(long, value_name = "POINTS", default_value_t = 0.2, value_parser = margin)]
    margin: f64,
    /// Most plays of a decision
    #[arg(long, value_name = "N", default_value_t = 6)]
    plays: u32,
    /// Search depth of the player, in games and rollouts [default: as in PLAYER, or 0]
    #[arg(long, value_name = "N")]
    plies: Option<u32>,
    /// Probability that a play of a game is drawn at random, so that odd positions come up, too
    #[arg(long, value_name = "P", default_value_t = 0.1)]
    explore: f64,
    /// Most decisions of one game
    #[arg(long, value_name = "N", default_value_t = 2)]
    positions: u32,
    /// Seed: the same seed, player and settings give the same file
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: u64,
    /// Threads of the work in this process [default: one for each core]
    #[arg(long, value_name = "N", value_parser = roles::threads, conflicts_with = "coordinator")]
    threads: Option<usize>,
    /// With --coordinator: the Redis that carries its games
    #[arg(long, value_name = "URL", requires = "coordinator")]
    redis: Option<String>,
    /// With --coordinator, instead of --redis: the folder of a coordinator on this machine that runs without one
    #[arg(long, value_name = "DIR", requires = "coordinator", conflicts_with = "redis")]
    stream_dir: Option<PathBuf>,
    /// Write what was made as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: PlayerPlace,
    #[command(flatten)]
    game: GameChoice,
}

fn margin(text: &str) -> Result<f64, String> {
    let margin = text.parse().ok().filter(|margin: &f64| *margin > 0.0 && *margin <= TRIVIAL);
    margin.ok_or_else(|| {
        format!("a margin is above 0 and at most {TRIVIAL}: beyond that decisions are easy and plays bad")
    })
}

/// What was made, for people and scripts.
#[derive(Debug, Serialize)]
struct Made {
    file: PathBuf,
    decisions: usize,
    classes: BTreeMap<String, usize>,
    /// Games the decisions come from.
    games: u64,
    /// Positions rolled out for them, whether they are in the file or not.
    labels: u64,
    seconds: f64,
}

/// Builds the file.
pub fn run(args: Args) -> Result<()> {
    let arena = args.game.arena()?;
    check_target(&args.out)?;
    let folder = work_folder(&args.out);
    if args.out.exists() && !folder.exists() {
        bail!(
            "{} is there already, and no {} to go on from: choose another name, or delete it first",
            args.out.display(),
            folder.display()
        );
    }
    let mut player = resolve(&args.player, &*arena, &args.place)?;
    player.plies = args.plies.unwrap_or(player.plies);
    let Source::Weights { digest, file } = &player.source else {
        bail!("positions are rolled out with a network's judgement, and {} is none", args.player);
    };
    let config = run_config(&args, file, player.plies);
    check(&config)?;
    let run = run_name(&config, *digest);
    let classes = arena.shapes(arena.input_sets().first().copied().unwrap_or_default(), 1)?;
    let classes: Vec<String> = classes.into_iter().map(|shape| shape.class).collect();
    let collection = Collection::new(args.decisions as usize, args.per_class.then_some(classes));

    let runtime = roles::runtime()?;
    let told_to_stop = {
        let _within = runtime.enter();
        signals::told_to_stop()?
    };
    let (works, url, stream) = match (&args.place.place.coordinator, &args.redis, &args.stream_dir) {
        (Some(url), Some(redis), _) => (None, url.clone(), StreamHome::Redis { url: redis.clone() }),
        (Some(url), None, Some(folder)) => (None, url.clone(), StreamHome::Local { folder: folder.clone() }),
        (Some(_), None, None) => {
            return Err(BadConfiguration(
                "with --coordinator, say which Redis carries its games with --redis, or its folder with --stream-dir".into(),
            )
            .into());
        }
        (None, ..) => {
            let threads = args.threads.unwrap_or_else(roles::cores);
            let (works, url) = Works::start(&runtime, &folder, threads)?;
            (Some(works), url, StreamHome::Local { folder: folder.clone() })
        }
    };
    let client = CoordinatorClient::new(&url, Access::default())?;
    if works.is_some() && client.runs()?.iter().any(|other| other.run != run) {
        bail!(
            "{} holds a build with another player or other settings: give those to go on with it, or remove it",
            folder.display()
        );
    }
    let mut build = Build {
        bar: bar(args.decisions),
        printed: Instant::now(),
        role: Role::take(&runtime, client, &stream, (&run, &config), file)?,
        collection,
        arena: &*arena,
        labels: 0,
    };
    let started = Instant::now();
    let outcome = build.collect(works.as_ref(), &told_to_stop);
    build.bar.finish_and_clear();
    let Build { role, collection, labels, .. } = build;
    let seconds = started.elapsed().as_secs_f64();
    let full = outcome.is_ok() && collection.is_full();
    if full {
        save_bytes(&args.out, text(&args, &config, *digest, &collection).as_bytes())?;
        role.leave()?;
    } else {
        // Its connection would be waited for.
        drop(role);
    }
    if let Some(works) = works {
        works.stop(&runtime, full)?;
    }
    outcome?;
    if !full {
        let (taken, of) = (grouped(collection.len() as u64), grouped(args.decisions.into()));
        bail!("ended with {taken} of {of} decisions; the same command goes on from there");
    }
    let (decisions, classes, games) = (collection.len(), collection.classes(), collection.games());
    Made { file: args.out, decisions, classes, games, labels, seconds }.print(args.json)
}

/// Time between two lines where there is no terminal.
const LINE: Duration = Duration::from_secs(5);

/// A build in progress.
struct Build<'a> {
    role: Role<'a>,
    collection: Collection,
    arena: &'a dyn Arena,
    bar: ProgressBar,
    /// When the last line was printed where there is no terminal for the bar.
    printed: Instant,
    labels: u64,
}

impl Build<'_> {
    /// Takes games in until there are decisions enough or it is told to stop.
    fn collect(
        &mut self,
        works: Option<&Works>,
        told_to_stop: &tokio_util::sync::CancellationToken,
    ) -> Result<()> {
        while !self.collection.is_full() && !told_to_stop.is_cancelled() {
            for record in self.role.next_games(told_to_stop)? {
                let decisions = self.arena.decisions(&record)?;
                self.labels += record.labels.len() as u64;
                self.collection.add(record.number, decisions);
            }
            self.show();
            if let Some(works) = works {
                works.check()?;
            }
        }
        Ok(())
    }

    /// Shows how far it is: a bar on a terminal, elsewhere a line now and then.
    fn show(&mut self) {
        let taken = self.collection.len() as u64;
        let message = self.role.waiting().unwrap_or_else(|| {
            let (games, labels) = (grouped(self.collection.games()), grouped(self.labels));
            format!("{games} games, {labels} positions rolled out")
        });
        if self.bar.is_hidden() && self.printed.elapsed() >= LINE {
            self.printed = Instant::now();
            let of = grouped(self.bar.length().unwrap_or_default());
            output::news(&format!("{} of {of} decisions: {message}", grouped(taken)));
        }
        self.bar.set_position(taken);
        self.bar.set_message(message);
    }
}

/// The run whose games are wanted: rollout games and nothing else.
fn run_config(args: &Args, weights: &WeightFile, plies: u32) -> RunConfig {
    let hidden = weights.shapes().first().map_or(0, |shape| shape.hidden);
    let mut config = RunConfig {
        game: weights.card.game.clone(),
        seed: args.seed,
        self_play: SelfPlay { explore: args.explore, plies, rollout_share: 1.0, ..SelfPlay::default() },
        network: Network { inputs: weights.card.inputs.clone(), hidden },
        rollout: Rollout {
            positions: args.positions,
            margin: args.margin,
            plays: args.plays,
            trials: args.trials,
            horizon: args.horizon,
            balanced: false,
            decisions: true,
        },
        // A phase would begin a series of its own, whose games have the same numbers again.
        phases: Vec::new(),
        ..RunConfig::default()
    };
    // Its only version is given, and promotes nothing.
    config.gate.share = 0.0;
    // A lease lives from game to game, and a game with thousands of trials takes minutes.
    config.leases.ttl_seconds = 1800;
    config
}

/// Refuses what no run can be configured with, and names the flag that asks for it: nobody here has written a line of a
/// configuration.
fn check(config: &RunConfig) -> Result<()> {
    let (play, rollout) = (&config.self_play, &config.rollout);
    let flags = [
        ("--explore", "self_play.explore", play.explore.to_string()),
        ("--plies", "self_play.plies", play.plies.to_string()),
        ("--positions", "rollout.positions", rollout.positions.to_string()),
        ("--plays", "rollout.plays", rollout.plays.to_string()),
        ("--trials", "rollout.trials", rollout.trials.to_string()),
        ("--horizon", "rollout.horizon", rollout.horizon.to_string()),
    ];
    let flags = flags.map(|(flag, key, text)| Setting::by_flag(flag, key, text));
    let rest = config.to_toml();
    Effective::read(None, &flags, |_| &rest).map_err(|error| BadConfiguration(error.to_string()))?;
    Ok(())
}

/// The name of the run: the same for the same player and settings, so that a build that was ended is found again.
fn run_name(config: &RunConfig, player: Digest) -> String {
    let sum = Digest::of(format!("{player}\n{}", config.to_toml()).as_bytes()).to_string();
    format!("benchmark-{}", &sum[..12])
}

fn bar(decisions: u32) -> ProgressBar {
    let bar = ProgressBar::new(decisions.into());
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} decisions  {msg}  {eta} to go") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}

/// The text of the file.
fn text(args: &Args, config: &RunConfig, player: Digest, collection: &Collection) -> String {
    let (rollout, play) = (&config.rollout, &config.self_play);
    let mut text = format!(
        "# Decisions of {game} for `ludus benchmark score`, made by `ludus benchmark build` (ludus {build}).\n\
         # Player {player}, {plies}-ply; seed {seed}, explore {explore}; plays within {margin} of the best at sight, at \
         most {plays}.\n\
         # Each rolled out {trials} times, {horizon}, luck taken out, common dice.\n\
         # #R: a position after a play, and the chances of the side then on roll. # se: standard errors of the plays' \
         equities, in the order of the line that follows.\n",
        game = config.game,
        build = env!("CARGO_PKG_VERSION"),
        plies = play.plies,
        seed = args.seed,
        explore = play.explore,
        margin = rollout.margin,
        plays = rollout.plays,
        trials = rollout.trials,
        horizon = match rollout.horizon {
            0 => "to the end of the game".to_owned(),
            plies => format!("to a horizon of {plies} plies"),
        },
    );
    for decision in collection.decisions() {
        // Writing to a text cannot fail.
        let _ = write!(text, "{decision}");
    }
    text
}

/// The folder of the work, `OUT.build`.
fn work_folder(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".build");
    name.into()
}

impl Made {
    fn print(&self, json: bool) -> Result<()> {
        let mut out = stdout().lock();
        if json {
            return json_line(&mut out, self);
        }
        let Made { file, decisions, classes, games, labels, seconds } = self;
        let classes: Vec<String> =
            classes.iter().map(|(class, count)| format!("{} {class}", grouped(*count as u64))).collect();
        let title = format!("{}: {} decisions", file.display(), grouped(*decisions as u64));
        writeln!(out, "{} ({})", Paint::stdout().bold(&title), classes.join(", "))?;
        let rate = *labels as f64 / seconds;
        writeln!(
            out,
            "from {} games, with {} positions rolled out ({rate:.1} a second)",
            grouped(*games),
            grouped(*labels)
        )?;
        Ok(())
    }
}
