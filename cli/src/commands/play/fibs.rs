//! `ludus play --fibs`: a server for programs that speak GNU Backgammon's protocol for external players.
//!
//! One line asks and one line answers. As gnubg's own server does, an error is a line that begins with `Error:`, a roll
//! that cannot be played is answered by an empty line, and `version` by four lines. gnubg ends its lines with a zero
//! byte after the line feed, which is ignored.

use std::io::{self, BufRead, BufReader, Read, Write, stdout};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use ludus_games::Chances;
use ludus_games::backgammon::FibsBoard;

use super::engine::{Engine, steps};
use crate::output;

/// Longest line that is read, in bytes. A board line of gnubg has less than 256.
const LONGEST: u64 = 1024;
/// Connections at the same time.
const MOST: usize = 16;
/// Wait after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(100);
/// Colons of a board line: one after the word, and 51 between its fields.
const COLONS: usize = 52;

/// Serves connections until the program is ended. `engine` makes the player of a connection.
pub fn serve(address: &str, player: &str, engine: &(dyn Fn() -> Result<Engine> + Sync)) -> Result<()> {
    // A player that cannot be made is known before anybody connects.
    engine()?;
    let address = if address.contains(':') { address.to_owned() } else { format!("127.0.0.1:{address}") };
    let listener = TcpListener::bind(&address).with_context(|| format!("cannot listen on {address}"))?;
    let local = listener.local_addr()?;
    writeln!(stdout(), "{player} listens on {local}; in gnubg: set player 0 external {local}")?;

    let open = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        loop {
            let (stream, peer) = match listener.accept() {
                Ok(connection) => connection,
                Err(error) => {
                    // A client that is gone again or too many open files: no reason to leave the others alone.
                    output::news(&format!("cannot accept a connection: {error}"));
                    std::thread::sleep(PAUSE);
                    continue;
                }
            };
            let open = &open;
            if open.fetch_add(1, Ordering::Relaxed) >= MOST {
                open.fetch_sub(1, Ordering::Relaxed);
                // Whoever it is may be gone already.
                let _ = writeln!(&stream, "Error: there are {MOST} connections already");
                continue;
            }
            scope.spawn(move || {
                if let Err(error) = engine().and_then(|engine| converse(&stream, engine, player)) {
                    output::news(&format!("connection from {peer}: {error:#}"));
                }
                open.fetch_sub(1, Ordering::Relaxed);
            });
        }
    })
}

/// Answers the lines of a connection until it is closed.
fn converse(stream: &TcpStream, mut engine: Engine, player: &str) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = lines.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        match read {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        if line.last() != Some(&b'\n') {
            if line.len() as u64 == LONGEST {
                writeln!(&*stream, "Error: a line of more than {LONGEST} bytes")?;
            }
            return Ok(());
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
        let answer = match answer(&mut engine, player, text) {
            Ok(Some(answer)) => answer,
            Ok(None) => return Ok(()),
            Err(error) => {
                let error = format!("Error: {error:#}");
                error.replace(['\n', '\r'], " ")
            }
        };
        (&*stream).write_all(format!("{answer}\n").as_bytes())?;
    }
}

/// The answer to a line, `None` when it ends the connection.
fn answer(engine: &mut Engine, player: &str, line: &str) -> Result<Option<String>> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let answer = match word.to_lowercase().as_str() {
        "" => bail!("no command given"),
        "exit" | "quit" => return Ok(None),
        "version" => {
            let version = env!("CARGO_PKG_VERSION");
            format!("Interface: 2\nRFBF: 0\nEngine: {player}\nSoftware: ludus {version}")
        }
        "help" => "board:... | evaluation fibsboard board:... | version | help | exit".into(),
        "evaluation" => match rest.trim_start().split_once(char::is_whitespace) {
            Some((kind, board)) if kind.eq_ignore_ascii_case("fibsboard") => judge(engine, board.trim())?,
            _ => bail!("only evaluation fibsboard board:... is understood"),
        },
        _ if word.starts_with("board:") => decide(engine, line)?,
        _ => bail!("{word:?} is not a command; there are board:..., evaluation, version, help and exit"),
    };
    Ok(Some(answer))
}

/// A board and the words behind it. Names may hold blanks, so only its colons tell where it ends.
fn read(line: &str) -> Result<(FibsBoard, &str)> {
    let last = line.match_indices(':').nth(COLONS - 1).map_or(0, |(colon, _)| colon);
    let end = line[last..].find(char::is_whitespace).map_or(line.len(), |blank| last + blank);
    Ok((line[..end].parse()?, line[end..].trim()))
}

/// The decision that a board asks for.
fn decide(engine: &mut Engine, line: &str) -> Result<String> {
    let (board, options) = read(line)?;
    let mut words = options.split_whitespace().map(str::to_lowercase);
    // Other options are about the cube and the score, which make no difference here.
    if words.any(|word| word == "resignation") && words.next().is_some_and(|points| points != "0") {
        bail!("resignations are not answered");
    }
    let Some(position) = board.on_roll().filter(|position| position.payoff().is_none()) else {
        bail!("the game is over");
    };
    let doubled = board.doubled || (board.roll().is_none() && board.may_double == [false, false]);
    Ok(match board.roll() {
        _ if doubled => if engine.takes(&position)? { "take" } else { "drop" }.into(),
        Some(roll) => steps(&engine.choose(&position, roll)?.0),
        None => "roll".into(),
    })
}

/// Five probabilities and the equity of the side on roll. Settings behind the board are those of gnubg; this player has
/// its own, and is not taken for one that looks further ahead or less far.
fn judge(engine: &mut Engine, line: &str) -> Result<String> {
    let (board, options) = read(line)?;
    let mut words = options.split_whitespace();
    if words.any(|word| word.eq_ignore_ascii_case("plies")) {
        let (wanted, plies) = (words.next().unwrap_or_default(), engine.plies());
        if wanted.parse() != Ok(plies) {
            bail!("this player evaluates at plies {plies} and no other, not at plies {wanted:?}");
        }
    }
    let Some(position) = board.on_roll() else { bail!("the game is over") };
    let Some(chances) = engine.chances(&position)? else { bail!("this player judges no positions") };
    let numbers: Vec<String> =
        chances.0.into_iter().chain([chances.points()]).map(|number| format!("{number:.6}")).collect();
    Ok(numbers.join(" "))
}
