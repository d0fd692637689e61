use ludus_games::Backgammon;
use ludus_games::backgammon::Position;

use super::*;
use ludus_proto::v1::{Label, Rollout};

use crate::arena::Table;
use crate::player::RandomPlayer;
use crate::search::ValuePlayer;
use crate::table::{Seated, SeriesTable};
use crate::toys::{Pips, gate, named, rollouts, self_play};

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
    check(Backgammon, series, players, &[], record).map_or_else(|violation| violation.reason, |_| "fine")
}

#[test]
fn every_kind_of_series_gives_records_that_check_out() {
    for number in 0..6 {
        for luck in [LuckMode::LuckNone, LuckMode::LuckTotal, LuckMode::LuckPositions] {
            let series = gate(1, luck, 2.0);
            let record = play(&series, number);
            let checked = check(Backgammon, &series, &players(), &[], &record).expect("a good record");
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
        |series: &mut Series| series.explore_margin = 0.1,
        |series: &mut Series| series.shortlist = 4,
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

/// A game with labels, and what it was played for.
fn labelled(margin: f64) -> (Series, GameRecord) {
    let rollout =
        Rollout { positions: 2, margin, plays: 3, trials: 2, horizon: 1, balanced: false, decisions: true };
    let series = rollouts(4, rollout);
    let pips = ValuePlayer::new(Backgammon, Box::new(Pips), 0);
    let refs = [named("pips"), named("pips")];
    let mut table = SeriesTable::new(Backgammon, &series, refs, Seated::alone(Box::new(pips))).unwrap();
    (series, table.play(3).unwrap())
}

#[test]
fn each_forged_label_is_refused_for_its_own_reason() {
    let pips = [named("pips"), named("pips")];
    let forged = |margin, change: fn(&mut Vec<Label>)| {
        let (series, mut record) = labelled(margin);
        assert_eq!(verdict(&series, &pips, &record), "fine");
        change(&mut record.labels);
        record.digest = digest::<Backgammon>(&series, &pips, &record);
        let violation = check(Backgammon, &series, &pips, &[], &record).expect_err("a forged label");
        format!("{violation}")
    };
    for (change, expected) in [
        ((|labels| labels.swap(0, 1)) as fn(&mut Vec<Label>), "bad-label: a label of ply"),
        (|labels| labels[1] = labels[0].clone(), "too-many-labels: ply"),
        (|labels| labels.insert(0, Label { ply: 0, ..labels[0].clone() }), "no label of the play made"),
        (|labels| labels[0].ply = 9999, "out of place"),
        (|labels| labels[0].play += 1, "no label of the play made"),
        (|labels| labels[0].chances[0] = 2.5, "chances beyond all measure"),
        (|labels| labels[0].chances[1] = -1.5, "chances beyond all measure"),
        (|labels| labels[0].chances[2] = f32::NAN, "chances beyond all measure"),
        (|labels| labels[0].chances.truncate(4), "not as many chances"),
        (|labels| labels[0].error = f32::INFINITY, "an error that is not"),
        (|labels| labels[0].error = -0.1, "an error that is not"),
        (|labels| labels[0].trials = 3, "not as many trials"),
    ] {
        let found = forged(0.0, change);
        assert!(found.contains(expected), "{found}, not {expected}");
    }
    for (change, expected) in [
        ((|labels| labels.swap(0, 1)) as fn(&mut Vec<Label>), "not in ascending order"),
        (|labels| labels.truncate(1), "a label"),
        (|labels| labels.last_mut().unwrap().play = 5000, "label"),
    ] {
        let found = forged(0.3, change);
        assert!(found.starts_with("bad-label") && found.contains(expected), "{found}, not {expected}");
    }
}

#[test]
fn labels_come_only_where_they_are_asked_for_and_the_digest_covers_them() {
    let pips = [named("pips"), named("pips")];
    let (series, record) = labelled(0.0);
    for change in [
        |record: &mut GameRecord| record.labels[0].error += 0.001,
        |record: &mut GameRecord| record.labels[0].chances[4] += 0.001,
        |record: &mut GameRecord| record.labels.truncate(1),
    ] {
        let mut record = record.clone();
        change(&mut record);
        assert_eq!(verdict(&series, &pips, &record), "bad-digest");
    }
    for change in [
        |rollout: &mut Rollout| rollout.horizon += 1,
        |rollout: &mut Rollout| rollout.margin = 0.1,
        |rollout: &mut Rollout| rollout.positions += 1,
        |rollout: &mut Rollout| rollout.balanced = true,
        |rollout: &mut Rollout| (rollout.margin, rollout.decisions) = (0.1, false),
    ] {
        let mut series = series;
        change(series.rollout.as_mut().unwrap());
        assert_eq!(verdict(&series, &pips, &record), "bad-digest");
    }
    let plain = Series { kind: 1, rollout: None, ..series };
    let mut asked_for_nothing = record.clone();
    asked_for_nothing.digest = digest::<Backgammon>(&plain, &pips, &record);
    assert_eq!(verdict(&plain, &pips, &asked_for_nothing), "labels-unasked");
}

/// The digest of the kinds of series there were before rollouts: records of running clusters depend on it.
#[test]
fn a_record_without_labels_has_the_digest_it_always_had() {
    let series = gate(5, LuckMode::LuckTotal, 1.0);
    let record = GameRecord {
        number: 7,
        rolls: vec![3, 1],
        plays: vec![0, 258],
        payoff: -2,
        luck: vec![1, 2],
        explored: vec![1],
        total_luck: 0.5,
        ..GameRecord::default()
    };
    assert_eq!(hex(&digest::<Backgammon>(&series, &players(), &record)), "06c8d8d70006c3f622e510a001016c90");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
