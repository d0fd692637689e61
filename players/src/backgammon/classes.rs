//! Classes of positions, each of which has a network of its own, and the results that a position still allows.

use ludus_games::backgammon::{BackgammonChances, CHECKERS, Position};

use super::side::{checkers, rearmost};

/// What kind of play a position asks for. The same three as in GNU Backgammon; the boundaries are those of its position
/// classification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PositionClass {
    /// The sides can still hit each other.
    Contact,
    /// Contact, but a side has hardly a checker left to play with: the rest is off or piled deep in its home.
    Crashed,
    /// The sides have passed each other.
    Race,
}

impl PositionClass {
    /// Their names, in the order of their networks.
    pub const NAMES: [&'static str; 3] = ["contact", "crashed", "race"];
    /// All of them, in the order of their networks.
    pub const ALL: [PositionClass; 3] = [PositionClass::Contact, PositionClass::Crashed, PositionClass::Race];

    /// The class of a position, `None` when the game is over.
    pub fn of(position: &Position) -> Option<PositionClass> {
        let (own, other) = (rearmost(position.own())?, rearmost(position.other())?);
        // Slot i of one side is slot 23 - i of the other.
        if own + other <= 22 {
            return Some(PositionClass::Race);
        }
        let crashed = is_crashed(position.own()) || is_crashed(position.other());
        Some(if crashed { PositionClass::Crashed } else { PositionClass::Contact })
    }
}

/// Whether at most six checkers are left to play with. All but one of those on the deuce point and all of those on the
/// ace point count as dead where there is more than one.
fn is_crashed(side: &[u8; 25]) -> bool {
    let left = checkers(side);
    let (ace, deuce) = (side[0], side[1]);
    if left <= 6 {
        true
    } else if ace > 1 {
        left <= 6 + ace || (deuce > 1 && 1 + left - ace - deuce <= 6)
    } else {
        left <= 5 + deuce
    }
}

/// Takes results out of `chances` that `position`, of class `class`, no longer allows: a side that has borne off a checker
/// cannot be gammoned, and once the sides have passed each other, one that has left the winner's home cannot be
/// backgammoned.
pub fn possible(
    class: PositionClass,
    position: &Position,
    mut chances: BackgammonChances,
) -> BackgammonChances {
    let [_, win_gammon, win_backgammon, lose_gammon, lose_backgammon] = &mut chances.0;
    for (loser, gammon, backgammon) in
        [(position.other(), win_gammon, win_backgammon), (position.own(), lose_gammon, lose_backgammon)]
    {
        if checkers(loser) < CHECKERS {
            (*gammon, *backgammon) = (0.0, 0.0);
        } else if class == PositionClass::Race && rearmost(loser).is_none_or(|slot| slot < 18) {
            *backgammon = 0.0;
        }
    }
    chances
}

#[cfg(test)]
mod tests {
    use ludus_games::{Backgammon, Chances, Game};

    use super::*;
    use crate::backgammon::tests::positions;

    /// Slots with the checkers on them.
    type Checkers<'a> = &'a [(usize, u8)];

    /// A position from checkers on slots, own and other.
    fn position(own: Checkers, other: Checkers) -> Position {
        let side = |checkers: Checkers| {
            let mut side = [0; 25];
            checkers.iter().for_each(|&(slot, n)| side[slot] = n);
            side
        };
        Position::new(side(own), side(other)).unwrap()
    }

    /// The class of a position, which must be the same for both sides.
    fn class(own: Checkers, other: Checkers) -> Option<PositionClass> {
        let position = position(own, other);
        assert_eq!(PositionClass::of(&position), PositionClass::of(&position.flipped()));
        PositionClass::of(&position)
    }

    /// A side with all its checkers on slots that are neither deep nor far back.
    const HEALTHY: Checkers = &[(5, 5), (7, 5), (9, 5)];

    #[test]
    fn the_start_is_contact() {
        assert_eq!(PositionClass::of(&Position::START), Some(PositionClass::Contact));
    }

    #[test]
    fn a_race_begins_when_the_rearmost_checkers_have_passed_each_other() {
        // Slot 9 is slot 14 of the other side: a checker there beyond has not passed, one on this side of it has.
        assert_eq!(class(HEALTHY, &[(10, 14), (15, 1)]), Some(PositionClass::Contact));
        assert_eq!(class(HEALTHY, &[(10, 14), (13, 1)]), Some(PositionClass::Race));
        assert_eq!(class(&[(0, 1)], &[(22, 1)]), Some(PositionClass::Race));
        assert_ne!(class(&[(0, 1)], &[(24, 1)]), Some(PositionClass::Race));
    }

    #[test]
    fn a_side_with_six_checkers_left_is_crashed_and_with_seven_it_is_not() {
        assert_eq!(class(&[(20, 6)], HEALTHY), Some(PositionClass::Crashed));
        assert_eq!(class(&[(20, 7)], HEALTHY), Some(PositionClass::Contact));
    }

    #[test]
    fn checkers_deep_in_the_home_do_not_count() {
        // 15 checkers, n on the ace point and d on the deuce point.
        let deep = |n: u8, d: u8| class(&[(0, n), (1, d), (20, 15 - n - d)], HEALTHY);
        assert_eq!(deep(9, 0), Some(PositionClass::Crashed));
        assert_eq!(deep(8, 0), Some(PositionClass::Contact));
        assert_eq!(deep(8, 1), Some(PositionClass::Contact));
        assert_eq!(
            deep(8, 2),
            Some(PositionClass::Crashed),
            "all on the ace point, all but one on the deuce point"
        );
        assert_eq!(deep(2, 8), Some(PositionClass::Crashed));
        assert_eq!(deep(2, 7), Some(PositionClass::Contact));
        // A single checker on the ace point counts like any other.
        assert_eq!(deep(1, 10), Some(PositionClass::Crashed));
        assert_eq!(deep(1, 9), Some(PositionClass::Contact));
        assert_eq!(deep(0, 10), Some(PositionClass::Crashed));
        assert_eq!(deep(0, 9), Some(PositionClass::Contact));
    }

    #[test]
    fn finished_games_have_no_class_and_all_others_have_one() {
        for position in positions() {
            assert_eq!(PositionClass::of(&position).is_none(), position.payoff().is_some());
        }
        assert_eq!(class(&[], HEALTHY), None);
    }

    #[test]
    fn impossible_results_are_taken_out() {
        let all = BackgammonChances([0.6, 0.3, 0.2, 0.3, 0.1]);
        let race = &[(3, 14), (12, 1)];
        let cases: [(_, Checkers, Checkers, _); 6] = [
            ("contact, nothing off", HEALTHY, &[(20, 15)], [0.6, 0.3, 0.2, 0.3, 0.1]),
            ("own checker off", &[(5, 14)], &[(20, 15)], [0.6, 0.3, 0.2, 0.0, 0.0]),
            ("other checker off", HEALTHY, &[(20, 14)], [0.6, 0.0, 0.0, 0.3, 0.1]),
            ("race, both out of the other's home", race, HEALTHY, [0.6, 0.3, 0.0, 0.3, 0.0]),
            (
                "race, own checker in the other's home",
                &[(3, 14), (18, 1)],
                &[(2, 15)],
                [0.6, 0.3, 0.0, 0.3, 0.1],
            ),
            (
                "race, other checker in the own home",
                &[(2, 15)],
                &[(3, 14), (18, 1)],
                [0.6, 0.3, 0.2, 0.3, 0.0],
            ),
        ];
        for (name, own, other, expected) in cases {
            let position = position(own, other);
            let found = possible(PositionClass::of(&position).unwrap(), &position, all);
            assert_eq!(found.0, expected, "{name}");
            assert!(found.is_valid());
        }
    }

    #[test]
    fn results_of_played_games_are_always_possible() {
        // Looking back from the end of a game: its result must have been possible in all its positions.
        let mut game = Vec::new();
        for position in positions() {
            game.push(position);
            let Some(points) = position.payoff() else { continue };
            for (i, before) in game.drain(..).rev().enumerate().skip(1) {
                let result = BackgammonChances::from_payoff(if i % 2 == 0 { points } else { -points });
                let class = PositionClass::of(&before).unwrap();
                assert_eq!(possible(class, &before, result), result, "{before:?}");
            }
        }
    }

    #[test]
    fn classes_are_those_of_the_reference_decisions() {
        let path = crate::backgammon::tests::shared().join("data/backgammon/decisions.bm");
        let Ok(text) = std::fs::read_to_string(&path) else {
            eprintln!("skipped: {} is not there", path.display());
            return;
        };
        let (mut agree, mut total) = ([0; 3], [0; 3]);
        for line in text.lines() {
            let mut words = line.split(' ');
            let (label, _, key) = (words.next().unwrap(), words.next(), words.next().unwrap());
            let expected = PositionClass::NAMES.iter().position(|name| *name == label).unwrap();
            let found = PositionClass::of(&Backgammon.read_position(key).unwrap()).unwrap() as usize;
            total[expected] += 1;
            agree[expected] += usize::from(found == expected);
        }
        eprintln!("class of the position before the move: {agree:?} of {total:?} agree");
        assert_eq!(agree, total);
    }
}
