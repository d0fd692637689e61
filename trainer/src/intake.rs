//! From stream entries to games: decoding, refusing what is not this run's, and keeping the books on which entries are
//! done with.

use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::sync::Arc;

use ludus_players::weight_file::Digest;
use ludus_proto::v1::player_ref::Who;
use ludus_proto::v1::{GameBatch, GameRecord, LuckMode, SeriesKind};
use ludus_stream::Entry;
use prost::Message;

use crate::ledger::Ledger;

/// Largest size of an entry once decompressed, in bytes. Real ones have some tens of KiB.
const MAX_ENTRY_BYTES: u64 = 64 << 20;
/// Deliveries after which an entry is buried. Every restart delivers what was not yet acknowledged once more, so this
/// is far above what restarts do to a healthy entry.
const MAX_DELIVERIES: u32 = 50;

/// What the entries of a stream must be about.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The run.
    pub run: String,
    /// Its game.
    pub game: String,
    /// Revision of the game's rules.
    pub revision: u32,
    /// Age in seconds at which games expire, 0 for never.
    pub max_age_seconds: u64,
    /// Lessons drawn for each label.
    pub replay: u32,
}

/// Games read from the stream and waiting for their round.
#[derive(Debug)]
pub struct Intake {
    expected: Expected,
    games: VecDeque<Game>,
    /// About how many lessons they give.
    lessons: usize,
    /// Entries of which games are waiting, by number of arrival.
    open: BTreeMap<u64, Open>,
    arrivals: u64,
    /// Entries done with: nothing of them waits any more.
    finished: Vec<Finished>,
}

/// A game and where it came from.
#[derive(Debug)]
pub struct Game {
    /// What it has in common with the other games of its entry.
    pub source: Arc<Source>,
    /// What happened in it.
    pub record: GameRecord,
    entry: u64,
}

/// Where games come from.
#[derive(Debug)]
pub struct Source {
    /// Their series.
    pub series: u64,
    /// What there is to learn from them.
    pub subject: Subject,
    /// Phase of the run that the series belongs to.
    pub phase: u32,
    /// The player of seat 0: sha256 of its weights in hex, or its name.
    pub player: Arc<str>,
}

/// What there is to learn from games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// How they went on, by TD(lambda): games of self-play.
    Games,
    /// The same, as labels: games of self-play in which the luck of every roll was measured.
    Returns,
    /// The labels of their positions: rollout games.
    Labels,
}

#[derive(Debug)]
struct Open {
    entry: Entry,
    post: u64,
    waiting: usize,
    fault: Option<String>,
}

/// An entry done with, to be acknowledged or buried once that is safe.
#[derive(Debug)]
pub struct Finished {
    /// The entry; without its payload when it is merely to be acknowledged.
    pub entry: Entry,
    /// Its number in the coordinator's outbox, 0 when it has none or cannot be read.
    pub post: u64,
    /// Why it is to be buried, if it is.
    pub fault: Option<String>,
    /// Checkpoints on disk that know of it.
    pub checkpoints: usize,
}

impl Intake {
    /// Nothing yet.
    pub fn new(expected: Expected) -> Self {
        let (games, open, finished) = (VecDeque::new(), BTreeMap::new(), Vec::new());
        Intake { expected, games, lessons: 0, open, arrivals: 0, finished }
    }

    /// Takes an entry in, at `now` in seconds since 1970. Its games wait, unless they are too old or the entry is none
    /// of this run's.
    pub fn accept(&mut self, entry: Entry, ledger: &mut Ledger, now: u64) {
        let batch = decode(&entry.payload);
        let post = batch.as_ref().map_or(0, |batch| batch.post);
        if let Some(fault) = ledger.done.get(&entry.id.0) {
            let fault = fault.clone();
            return self.finish(entry, post, fault, ledger, 1);
        }
        let (batch, source) = match batch.and_then(|batch| self.check(&entry, batch)) {
            Ok(checked) => checked,
            Err(fault) => return self.finish(entry, post, Some(fault), ledger, 0),
        };
        let oldest = self.expected.max_age_seconds;
        if oldest > 0 && now.saturating_sub(batch.accepted_at) > oldest {
            let expired =
                batch.games.iter().filter(|game| ledger.seen.insert(source.series, game.number)).count();
            ledger.expired += expired as u64;
            return self.finish(entry, post, None, ledger, 0);
        }
        if batch.games.is_empty() {
            return self.finish(entry, post, None, ledger, 0);
        }
        let number = self.arrivals;
        self.arrivals += 1;
        self.open.insert(number, Open { entry, post, waiting: batch.games.len(), fault: None });
        let source = Arc::new(source);
        for record in batch.games {
            let game = Game { source: source.clone(), record, entry: number };
            self.lessons += self.lessons_of(&game);
            self.games.push_back(game);
        }
    }

    /// The batch of an entry and where its games come from, or why it is none of this run's.
    fn check(&self, entry: &Entry, batch: GameBatch) -> Result<(GameBatch, Source), String> {
        if entry.deliveries > MAX_DELIVERIES {
            return Err(format!("delivered {} times and never finished", entry.deliveries));
        }
        let Expected { run, game, revision, .. } = &self.expected;
        if (&batch.run, &batch.game, batch.revision) != (run, game, *revision) {
            return Err(format!(
                "of run {:?}, {} revision {}, not of run {run:?}, {game} revision {revision}",
                batch.run, batch.game, batch.revision
            ));
        }
        let series = batch.series.as_ref().ok_or("its games have no series")?;
        let subject = match series.kind() {
            SeriesKind::SelfPlay if series.luck() == LuckMode::LuckPositions => Subject::Returns,
            SeriesKind::SelfPlay => Subject::Games,
            SeriesKind::Rollout => Subject::Labels,
            other => return Err(format!("of a series of kind {}, not to learn from", other.as_str_name())),
        };
        let player = match batch.players.first().and_then(|player| player.who.as_ref()) {
            Some(Who::Weights(sha256)) => {
                let sum =
                    sha256[..].try_into().map_err(|_| "the sha256 of its player does not have 32 bytes")?;
                Digest(sum).to_string()
            }
            Some(Who::Baseline(name)) => name.clone(),
            None => return Err("its games have no player".into()),
        };
        let source = Source { series: series.id, subject, phase: series.phase, player: player.into() };
        Ok((batch, source))
    }

    /// About how many lessons a game gives.
    fn lessons_of(&self, game: &Game) -> usize {
        match game.source.subject {
            Subject::Games => game.record.rolls.len(),
            Subject::Returns => game.record.rolls.len() * self.expected.replay as usize,
            Subject::Labels => game.record.labels.len() * self.expected.replay as usize,
        }
    }

    /// About how many lessons the waiting games give.
    pub fn lessons(&self) -> usize {
        self.lessons
    }

    /// Whether no game waits.
    pub fn is_empty(&self) -> bool {
        self.games.is_empty()
    }

    /// The next game that has not been seen before; it counts as seen from now on. Give it back to [`Intake::close`].
    pub fn next(&mut self, ledger: &mut Ledger) -> Option<Game> {
        while let Some(game) = self.games.pop_front() {
            self.lessons -= self.lessons_of(&game);
            if ledger.seen.insert(game.source.series, game.record.number) {
                return Some(game);
            }
            self.close(game, None, ledger);
        }
        None
    }

    /// Finishes a game; with a fault, its whole entry will be buried.
    pub fn close(&mut self, game: Game, fault: Option<String>, ledger: &mut Ledger) {
        let Some(open) = self.open.get_mut(&game.entry) else { return };
        open.waiting -= 1;
        if let Some(fault) = fault {
            open.fault.get_or_insert(format!("game {}: {fault}", game.record.number));
        }
        if open.waiting == 0
            && let Some(Open { entry, post, fault, .. }) = self.open.remove(&game.entry)
        {
            self.finish(entry, post, fault, ledger, 0);
        }
    }

    fn finish(
        &mut self,
        mut entry: Entry,
        post: u64,
        fault: Option<String>,
        ledger: &mut Ledger,
        checkpoints: usize,
    ) {
        ledger.done.insert(entry.id.0.clone(), fault.clone());
        match &fault {
            None => entry.payload = Vec::new(),
            Some(fault) => tracing::warn!(entry = entry.id.0, fault, "a stream entry will be buried"),
        }
        self.finished.push(Finished { entry, post, fault, checkpoints });
    }

    /// Entries done with and neither acknowledged nor buried.
    pub fn finished(&self) -> usize {
        self.finished.len()
    }

    /// Notes that a checkpoint with the present ledger is on the disk.
    pub fn checkpointed(&mut self) {
        for finished in &mut self.finished {
            finished.checkpoints += 1;
        }
    }

    /// The numbers in the outbox of the entries that at least so many checkpoints know of.
    pub fn settled(&self, checkpoints: usize) -> Vec<u64> {
        let safe = self.finished.iter().filter(|finished| finished.checkpoints >= checkpoints);
        safe.map(|finished| finished.post).filter(|&post| post > 0).collect()
    }

    /// Takes out the entries that at least so many checkpoints know of.
    pub fn take_finished(&mut self, checkpoints: usize) -> Vec<Finished> {
        self.finished.extract_if(.., |finished| finished.checkpoints >= checkpoints).collect()
    }

    /// Puts back what could not be acknowledged or buried.
    pub fn put_back(&mut self, finished: Vec<Finished>) {
        self.finished.extend(finished);
    }
}

/// The batch in an entry's payload, or what is wrong with it.
pub fn decode(payload: &[u8]) -> Result<GameBatch, String> {
    let mut bytes = Vec::new();
    zstd::Decoder::new(payload)
        .and_then(|decoder| decoder.take(MAX_ENTRY_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| format!("not a zstd frame: {error}"))?;
    if bytes.len() as u64 > MAX_ENTRY_BYTES {
        return Err(format!("larger than {MAX_ENTRY_BYTES} bytes"));
    }
    GameBatch::decode(bytes.as_slice()).map_err(|error| format!("not a batch of games: {error}"))
}
