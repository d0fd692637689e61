//! What is measured on: real games and their positions, and networks of any size.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use ludus_games::backgammon::Position;
use ludus_games::{Backgammon, Game};
use ludus_players::arena::{Arena, Registry, Seating, Source};
use ludus_players::backgammon::PositionClass;
use ludus_players::record::Replay;
use ludus_players::weight_file::{Card, Digest, WeightFile};
use ludus_proto::v1::{GameRecord, Series, SeriesKind};

/// The game that is measured.
pub fn arena() -> Result<Arc<dyn Arena>> {
    let registry = Registry::standard();
    Ok(registry.find(Backgammon::NAME).context("backgammon is not among the games")?.clone())
}

/// The series that is played to measure.
pub fn series() -> Series {
    Series { kind: SeriesKind::SelfPlay.into(), seed: 1, ..Series::default() }
}

/// A weight file with random weights: so many hidden units on this input set.
pub fn fresh(arena: &dyn Arena, inputs: &str, hidden: usize) -> Result<WeightFile> {
    let card = Card {
        game: arena.game().to_owned(),
        revision: arena.revision(),
        inputs: inputs.to_owned(),
        ..Card::default()
    };
    Ok(WeightFile::fresh(card, &arena.shapes(inputs, hidden)?, 1)?)
}

/// A weight file; `shipped` is the one that comes with the program.
pub fn weights(arena: &dyn Arena, name: &str) -> Result<Arc<WeightFile>> {
    if name != "shipped" {
        return Ok(Arc::new(WeightFile::read(Path::new(name))?.0));
    }
    match arena.shipped()? {
        Source::Weights { file, .. } => Ok(file),
        other => anyhow::bail!("the shipped player has no weights: {other:?}"),
    }
}

/// These weights at a table, judging at sight.
pub fn seating(file: Arc<WeightFile>) -> Result<Seating> {
    let digest = Digest::of(&file.to_bytes()?);
    Ok(Seating { source: Source::Weights { digest, file }, plies: 0 })
}

/// A baseline at a table.
pub fn baseline(name: &str) -> Seating {
    Seating { source: Source::Baseline(name.to_owned()), plies: 0 }
}

/// The first games that a player plays against itself.
pub fn games(arena: &dyn Arena, player: &Seating, count: u64) -> Result<Vec<GameRecord>> {
    let mut table = arena.table(&series(), [player, player])?;
    (0..count).map(|number| Ok(table.play(number)?)).collect()
}

/// A turn of a game: a position, and what its roll made of it.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Before the roll, seen by the side on roll.
    pub before: Position,
    /// After each legal play, seen by the other side.
    pub after: Vec<Position>,
}

/// All turns of these games.
pub fn turns(records: &[GameRecord]) -> Result<Vec<Turn>> {
    let mut turns = Vec::new();
    for record in records {
        let mut replay = Replay::new(Backgammon, record);
        while let Some(ply) = replay.next_ply()? {
            turns.push(Turn { before: *ply.state, after: ply.plays.after.clone() });
        }
    }
    Ok(turns)
}

/// What a player has to judge with its contact network, roll by roll: neither finished positions nor races, of which many
/// are looked up.
pub fn contact(turns: &[Turn]) -> Vec<Vec<Position>> {
    let contact = |position: &&Position| PositionClass::of(position) == Some(PositionClass::Contact);
    let batches = turns.iter().map(|turn| turn.after.iter().filter(contact).copied().collect::<Vec<_>>());
    batches.filter(|batch| !batch.is_empty()).collect()
}
