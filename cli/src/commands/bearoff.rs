//! `ludus bearoff`: the exact chances of the end of a backgammon game.

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail};
use ludus_games::Chances;
use ludus_games::backgammon::{BAR, BackgammonChances, Position};
use ludus_players::analyst::Judgement;
use ludus_players::backgammon::bearoff::{Bearoff, Home, file};
use ludus_players::weight_file::{Digest, save_bytes};
use serde::Serialize;

use crate::output::{Paint, Table, json_line};

/// What to do with the bear-off database.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Build the database, check it against published figures, and save it if a file is named
    #[command(after_help = "\
Players build the database themselves when they need it; the file is for people. It is a safetensors file of some 11 MB that \
holds, for every arrangement of up to 15 checkers on six points, the mean number of rolls to bear them off (mean_rolls) \
and the chances of taking longer than 0, 1, 2 ... rolls (longer); what else is in it, see \
players/src/backgammon/bearoff/file.rs. In Python:

  from safetensors.numpy import load_file
  homes = load_file('bearoff.safetensors')
  dict(zip(map(tuple, homes['points'].tolist()), homes['mean_rolls']))[2, 2, 2, 3, 3, 3]

Examples:
  ludus bearoff build
  ludus bearoff build bearoff.safetensors")]
    Build(Build),
    /// Show the exact chances of a position with all checkers home, and the mean number of rolls of both sides
    #[command(after_help = "\
The position is a gnubg position ID, a KEY or an XGID, seen by the side on roll. With at most 6 checkers a side both sides \
play each roll as well as can be; with more, each plays to need as few rolls as possible in the mean.

Examples:
  ludus bearoff show 2+4OAADb7g4AAA
  ludus bearoff show XGID=-BBBCCC------------cccbbb-:0:0:1:00:0:0:0:0:10 --json")]
    Show(Show),
}

/// Arguments of `ludus bearoff build`.
#[derive(Debug, clap::Args)]
pub struct Build {
    /// Where to save the database; an existing file is replaced at once and whole
    file: Option<PathBuf>,
    /// JSON: {"seconds", "checks", "file", "bytes", "sha256"}
    #[arg(long)]
    json: bool,
}

/// Arguments of `ludus bearoff show`.
#[derive(Debug, clap::Args)]
pub struct Show {
    /// Position, seen by the side on roll
    position: String,
    /// JSON: {"position", "probabilities", "equity", "mean_rolls": {"own", "other"}, "two_sided"}
    #[arg(long)]
    json: bool,
}

/// Does it.
pub fn run(action: Action) -> Result<()> {
    match action {
        Action::Build(args) => build(args),
        Action::Show(args) => show(args),
    }
}

/// Published mean numbers of rolls, by the checkers on points 1 to 6. They come from chances rounded to 1/65535, so that
/// their last digit may be off by two.
const PUBLISHED: [([u8; 6], f64); 5] = [
    ([0, 0, 0, 0, 0, 1], 1.25),
    ([0, 0, 0, 0, 0, 2], 2.1096),
    ([0, 0, 0, 0, 0, 15], 12.2663),
    ([15, 0, 0, 0, 0, 0], 6.9795),
    ([2, 2, 2, 3, 3, 3], 8.1389),
];
const TOLERANCE: f64 = 2e-4;

/// A mean number of rolls beside the published one.
#[derive(Serialize)]
struct Check {
    points: [u8; 6],
    mean_rolls: f64,
    published: f64,
}

fn build(args: Build) -> Result<()> {
    let start = Instant::now();
    let bearoff = Bearoff::build();
    let seconds = start.elapsed().as_secs_f64();
    let checks = PUBLISHED.map(|(points, published)| {
        let mean_rolls = bearoff.mean_rolls(home(points));
        Check { points, mean_rolls, published }
    });
    if let Some(wrong) = checks.iter().find(|check| (check.mean_rolls - check.published).abs() > TOLERANCE) {
        let Check { points, mean_rolls, published } = wrong;
        bail!(
            "the database is wrong and was not saved: {mean_rolls:.4} rolls in the mean for {points:?}, not {published:.4}"
        );
    }
    let saved = args.file.map(|path| {
        let bytes = file::to_bytes(&bearoff);
        save_bytes(&path, &bytes).map(|()| (path, bytes.len(), Digest::of(&bytes)))
    });
    let saved = saved.transpose()?;

    let mut out = stdout().lock();
    if args.json {
        let mut json = serde_json::json!({"seconds": seconds, "checks": checks});
        if let Some((path, bytes, digest)) = saved {
            json["file"] = serde_json::json!(path);
            json["bytes"] = bytes.into();
            json["sha256"] = digest.to_string().into();
        }
        return json_line(&mut out, &json);
    }
    let mut table = Table::new(&["CHECKERS ON 1 TO 6", "MEAN ROLLS>", "PUBLISHED>"]);
    for Check { points, mean_rolls, published } in checks {
        let points = points.map(|n| n.to_string()).join(" ");
        table.row(vec![points, format!("{mean_rolls:.4}"), format!("{published:.4}")]);
    }
    table.write(&mut out, Paint::stdout())?;
    writeln!(
        out,
        "{} homes in {seconds:.2} s; the means are the published ones to their last digit but one",
        Home::all().count()
    )?;
    if let Some((path, bytes, digest)) = saved {
        writeln!(out, "{}: {bytes} bytes, sha256 {digest}", path.display())?;
    }
    Ok(())
}

/// A side with these checkers on its points 1 to 6.
fn home(points: [u8; 6]) -> Home {
    let mut side = [0; 25];
    side[..6].copy_from_slice(&points);
    Home::of(&side).expect("all of them are home")
}

/// An exact judgement.
#[derive(Serialize)]
struct Exact {
    #[serde(flatten)]
    judgement: Judgement,
    mean_rolls: MeanRolls,
    /// Whether the chances are those of the best play of both sides, and not of playing for few rolls.
    two_sided: bool,
}

#[derive(Serialize)]
struct MeanRolls {
    own: f64,
    other: f64,
}

fn show(args: Show) -> Result<()> {
    let position: Position = args.position.parse()?;
    if position.payoff().is_some() {
        bail!("{position} is no bear-off: the game is over");
    }
    let own = home_of(&position, position.own(), "the side on roll")?;
    let other = home_of(&position, position.other(), "the other side")?;
    let bearoff = Bearoff::shared();
    let chances = bearoff.chances(own, other);
    let exact = Exact {
        judgement: Judgement {
            position: position.id(),
            probabilities: chances.0.to_vec(),
            equity: chances.points(),
        },
        mean_rolls: MeanRolls { own: bearoff.mean_rolls(own), other: bearoff.mean_rolls(other) },
        two_sided: Bearoff::is_two_sided(own, other),
    };
    let mut out = stdout().lock();
    if args.json { json_line(&mut out, &exact) } else { write_exact(&mut out, &exact, [own, other]) }
}

/// The home of a side, or what is not there yet.
fn home_of(position: &Position, side: &[u8; 25], name: &str) -> Result<Home> {
    let Some(home) = Home::of(side) else {
        let place = match side.iter().rposition(|&n| n > 0) {
            Some(BAR) => "on the bar".to_owned(),
            slot => format!("on its point {}", slot.map_or(0, |slot| slot + 1)),
        };
        bail!("{position} is no bear-off: {name} has a checker {place}, outside its home");
    };
    Ok(home)
}

/// For people.
fn write_exact(out: &mut impl Write, exact: &Exact, homes: [Home; 2]) -> Result<()> {
    let (paint, Judgement { position, probabilities, equity }) = (Paint::stdout(), &exact.judgement);
    writeln!(out, "{}", paint.bold(position))?;
    let names = BackgammonChances::LABELS.iter().map(|label| format!("{}>", label.to_uppercase()));
    let mut table = Table::new(&names.chain(["EQUITY>".to_owned()]).collect::<Vec<_>>());
    let probabilities = probabilities.iter().map(|p| format!("{p:.4}"));
    table.row(probabilities.chain([format!("{equity:+.4}")]).collect());
    table.write(out, paint)?;
    writeln!(out)?;
    let mut table = Table::new(&["SIDE", "CHECKERS ON 1 TO 6", "PIPS>", "MEAN ROLLS>"]);
    let MeanRolls { own, other } = exact.mean_rolls;
    for (name, home, mean) in [("on roll", homes[0], own), ("other", homes[1], other)] {
        let points = home.points();
        let pips: u32 = (1..).zip(points).map(|(point, n)| point * u32::from(n)).sum();
        let points = points.map(|n| n.to_string()).join(" ");
        table.row(vec![name.to_owned(), points, pips.to_string(), format!("{mean:.4}")]);
    }
    table.write(out, paint)?;
    let play =
        if exact.two_sided { "both sides play as well as can be" } else { "each side plays for few rolls" };
    writeln!(out, "{}", paint.dim(&format!("exact when {play}")))?;
    Ok(())
}
