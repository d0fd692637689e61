//! `ludus play`: a player as an opponent of people and of other programs.
//!
//! [`engine`] decides; [`terminal`] (with [`board`]), [`ubgi`] and [`fibs`] are three ways to talk to it.

mod board;
mod cube;
mod engine;
mod fibs;
mod terminal;
mod ubgi;

use std::hash::{BuildHasher, RandomState};
use std::io::{stdin, stdout};

use anyhow::Result;
use ludus_games::Backgammon;
use ludus_players::game_arena::GameArena;

use crate::players::{PlayerPlace, resolve};
use engine::Engine;

/// Arguments of `ludus play`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --ubgi and --fibs it is a game of backgammon in the terminal: you see the board and your roll and type plays such \
as 8/5 6/5, 24/18*/13, bar/20, 6/off(2). Typing help, hint or quit does what it says.

--ubgi speaks UBGI, the Universal Backgammon Interface, on standard input and output: ubgi, isready, newgame, setoption, \
set, get, keys, position gnubgid|xgid ID, dice A B, go [role chequer|cube|turn], stop, quit. What cannot be understood is \
answered by a line that begins with error.

--fibs serves GNU Backgammon's protocol for external players: board lines of FIBS, answered by a play, roll, take or drop, \
and evaluation fibsboard. In gnubg: set player 0 external localhost:4001.

Players judge cubeless money play. They never double; of a double offered they take what is above the take point by \
Janowski's formula, cubeless chances with a cube that is 70% alive, whatever the score of a match. A player that judges \
no positions (random, pubeval) takes everything.

Examples:
  ludus play
  ludus play --player ./mine.safetensors@1ply --seed 7
  ludus play --ubgi --player latest
  ludus play --fibs 4001")]
pub struct Args {
    /// Opponent: shipped, champion, latest, v12, v12@1ply, a baseline (pubeval, random), a weight file's path, or gnubg:HOST:PORT
    #[arg(long, value_name = "PLAYER", default_value = "shipped")]
    player: String,
    /// Seed of the dice: the same seed gives the same rolls [default: another each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Speak UBGI on standard input and output
    #[arg(long, conflicts_with = "fibs")]
    ubgi: bool,
    /// Serve external-player connections of gnubg, on this machine or at HOST; port 0 takes a free one
    #[arg(long, value_name = "[HOST:]PORT")]
    fibs: Option<String>,
    #[command(flatten)]
    place: PlayerPlace,
}

/// Runs it.
pub fn run(args: Args) -> Result<()> {
    let arena = GameArena::<Backgammon>::default();
    let seating = resolve(&args.player, &arena, &args.place)?;
    let seed = args.seed.unwrap_or_else(|| RandomState::new().hash_one(0));
    // Not the stream of the dice, for players that play at random.
    let engine = || Engine::new(&arena, &seating, !seed);
    if args.ubgi {
        ubgi::speak(engine()?, &args.player, stdin().lock(), stdout().lock())
    } else if let Some(address) = &args.fibs {
        fibs::serve(address, &args.player, &engine)
    } else {
        terminal::play(engine()?, &args.player, seed, stdin().lock(), stdout().lock())
    }
}
