use ludus_games::Backgammon;
use ludus_games::backgammon::Position;

use super::*;
use crate::arena::Table;
use crate::player::RandomPlayer;
use crate::search::ValuePlayer;
use crate::table::{Seated, SeriesTable};
use crate::toys::{Pips, gate, named, self_play};

fn players() -> [PlayerRef; 2] {
    [named("pips"), named("random")]
}

/// Game `number` of a series, pips against random, or against itself when the series is self-play.
fn play(series: &Series, number: u64) -> GameRecord {
    let pips = || Box::new(ValuePlayer::new(Backgammon, Box::new(Pips), 0));
    let mut table = if series.explore > 0.0 {
        SeriesTable::new(Backgammon, series, [named("pips"), named("pips")], Seated::alone(pips()))
    } else {
        let seated = Seated::opposed([pips(), Box::new(RandomPlayer)]);
        SeriesTable::new(Backgammon, series, players(), seated)
    }
    .unwrap();
    table.play(number).unwrap()
}

/// Why a record is refused, or `fine`.
fn verdict(series: &Series, players: &[PlayerRef], record: &GameRecord) -> &'static str {
    check(Backgammon, series, players, record).map_or_else(|violation| violation.reason, |_| "fine")
}

#[test]
fn every_kind_of_series_gives_records_that_check_out() {
    for number in 0..6 {
        for luck in [LuckMode::LuckNone, LuckMode::LuckTotal, LuckMode::LuckPositions] {
            let series = gate(1, luck, 2.0);
            let record = play(&series, number);
            let checked = check(Backgammon, &series, &players(), &record).expect("a good record");
            assert_eq!(checked.plies, record.rolls.len());
            assert_eq!(i32::from(checked.payoff), record.payoff);
            let series = self_play(1, luck, 0.2);
            let pips = [named("pips"), named("pips")];
            assert_eq!(verdict(&series, &pips, &play(&series, number)), "fine");
        }
    }
}

/// Changes a good record of `series`, gives it a fitting digest, and says why it is refused.
fn forged(series: &Series, change: impl FnOnce(&mut GameRecord)) -> &'static str {
    let mut record = play(series, 3);
    assert_eq!(verdict(series, &players(), &record), "fine");
    change(&mut record);
    record.digest = digest::<Backgammon>(series, &players(), &record);
    verdict(series, &players(), &record)
}

#[test]
fn each_forgery_is_refused_for_its_own_reason() {
    let plain = gate(5, LuckMode::LuckNone, 0.0);
    assert_eq!(forged(&plain, |record| record.rolls[0] = 15), "illegal-roll");
    assert_eq!(forged(&plain, |record| record.plays[4] = 5000), "illegal-play");
    assert_eq!(forged(&plain, |record| record.payoff = -record.payoff), "wrong-result");
    assert_eq!(forged(&plain, |record| record.payoff = 0), "wrong-result");
    assert_eq!(
        forged(&plain, |record| {
            record.rolls.pop();
            record.plays.pop();
        }),
        "unfinished"
    );
    assert_eq!(forged(&plain, |record| record.plays.truncate(record.plays.len() - 1)), "unfinished");
    assert_eq!(forged(&plain, |record| record.plays.push(0)), "too-long");
    assert_eq!(forged(&plain, |record| record.rolls = vec![0; MAX_PLIES + 1]), "too-long");
    assert_eq!(forged(&plain, |record| record.rolls[2] = (record.rolls[2] + 1) % 21), "wrong-dice");
    assert_eq!(forged(&plain, |record| record.number += 2), "wrong-dice");
    assert_eq!(forged(&plain, |record| record.explored = vec![3]), "bad-exploration");
    assert_eq!(forged(&plain, |record| record.luck = vec![0; 10]), "luck-length");
    assert_eq!(forged(&plain, |record| record.total_luck = 0.1), "luck-out-of-range");

    let total = gate(5, LuckMode::LuckTotal, 1.0);
    assert_eq!(forged(&total, |record| record.total_luck = 1.5), "luck-out-of-range");
    assert_eq!(forged(&total, |record| record.total_luck = f64::NAN), "luck-not-finite");
    assert_eq!(forged(&total, |record| record.total_luck = f64::INFINITY), "luck-not-finite");

    let positions = gate(5, LuckMode::LuckPositions, 0.0);
    assert_eq!(forged(&positions, |record| record.luck.clear()), "luck-length");
    let least = i16::MIN.to_le_bytes();
    assert_eq!(forged(&positions, |record| record.luck[20..22].copy_from_slice(&least)), "luck-out-of-range");
}

#[test]
fn explored_plies_are_within_the_game_and_ascending() {
    let series = self_play(2, LuckMode::LuckNone, 0.3);
    let pips = [named("pips"), named("pips")];
    let record = play(&series, 1);
    assert!(record.explored.len() > 1);
    for change in [
        |record: &mut GameRecord| record.explored.push(record.plays.len() as u32),
        |record: &mut GameRecord| record.explored.reverse(),
        |record: &mut GameRecord| record.explored.insert(0, record.explored[0]),
    ] {
        let mut record = record.clone();
        change(&mut record);
        record.digest = digest::<Backgammon>(&series, &pips, &record);
        assert_eq!(verdict(&series, &pips, &record), "bad-exploration");
    }
}

#[test]
fn the_digest_covers_every_field_the_series_and_the_players() {
    let series = self_play(2, LuckMode::LuckPositions, 0.3);
    let pips = [named("pips"), named("pips")];
    let record = play(&series, 1);
    assert_eq!(record.digest.len(), 16);
    for change in [
        |record: &mut GameRecord| record.number += 2,
        |record: &mut GameRecord| record.rolls[0] ^= 1,
        |record: &mut GameRecord| record.plays[0] ^= 1,
        |record: &mut GameRecord| record.payoff += 1,
        |record: &mut GameRecord| record.luck[0] ^= 1,
        |record: &mut GameRecord| record.explored.clear(),
        |record: &mut GameRecord| record.total_luck = 1e-9,
        |record: &mut GameRecord| record.digest[15] ^= 1,
        |record: &mut GameRecord| record.digest.clear(),
    ] {
        let mut record = record.clone();
        change(&mut record);
        assert_eq!(verdict(&series, &pips, &record), "bad-digest");
    }
    for change in [
        |series: &mut Series| series.seed += 1,
        |series: &mut Series| series.kind = 2,
        |series: &mut Series| series.mirrored = true,
        |series: &mut Series| series.luck = 0,
        |series: &mut Series| series.explore = 0.31,
        |series: &mut Series| series.luck_bound = 2.0,
    ] {
        let mut series = series;
        change(&mut series);
        assert_eq!(verdict(&series, &pips, &record), "bad-digest");
    }
    let deeper = PlayerRef { plies: 1, ..named("pips") };
    let weights = PlayerRef { who: Some(Who::Weights(b"pips".to_vec())), plies: 0 };
    for other in [named("pubeval"), deeper, weights, PlayerRef::default()] {
        assert_eq!(verdict(&series, &[named("pips"), other], &record), "bad-digest");
    }
    assert_eq!(verdict(&series, &[named("pips")], &record), "bad-digest");
}

#[test]
fn a_record_survives_the_wire() {
    use prost::Message;
    let series = gate(5, LuckMode::LuckTotal, 1.0);
    let record = play(&series, 2);
    let bytes = record.encode_to_vec();
    assert_eq!(GameRecord::decode(&bytes[..]).expect("a record"), record);
}

#[test]
fn a_replay_goes_through_the_positions_of_the_game() {
    let series = gate(5, LuckMode::LuckNone, 0.0);
    let record = play(&series, 3);
    let mut replay = Replay::new(Backgammon, &record);
    let mut expected = Position::START;
    let mut plies = 0;
    while let Some(ply) = replay.next_ply().expect("a good record") {
        assert_eq!(ply.ply, plies);
        assert_eq!(ply.seat, (plies + 1) % 2);
        assert_eq!(*ply.state, expected);
        assert_eq!(ply.roll, Backgammon.rolls(ply.state, plies)[usize::from(record.rolls[plies])].0);
        assert_eq!(*ply.after, ply.plays.after[ply.play]);
        expected = *ply.after;
        plies += 1;
    }
    assert_eq!(plies, record.plays.len());
    assert_eq!(replay.payoff().map(i32::from), Some(record.payoff));
}
