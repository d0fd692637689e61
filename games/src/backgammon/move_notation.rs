//! Plays as people write them: `8/5 6/5`, `24/18(2)`, `bar/22*`, `6/off`.

use std::cmp::Reverse;

use super::plays::{OFF, Play, Step};
use super::position::{BAR, Position};
use crate::{Backgammon, NotationError, Plays};

/// What is written when a roll cannot be played.
const NO_PLAY: &str = "cannot move";

/// Writes a play as GNU Backgammon does: rearmost checker first and then the shorter step, the steps of one checker run together with only the
/// points where it hits in between, equal movements counted, a star at the first mention of a hit.
pub(super) fn write(play: &Play) -> String {
    if play.steps().is_empty() {
        return NO_PLAY.to_owned();
    }
    let mut steps = play.steps().to_vec();
    steps.sort_by_key(|step| Reverse((step.from, landing(step.to))));
    let mut hits: Vec<u8> = steps.iter().filter(|step| step.hits).map(|step| step.to).collect();

    // Each movement is the points one checker touches.
    let mut movements: Vec<Vec<u8>> = Vec::new();
    for step in steps {
        match movements.iter_mut().find(|points| points.last() == Some(&step.from)) {
            Some(points) => {
                if !hits.contains(&step.from) {
                    points.pop();
                }
                points.push(step.to);
            }
            None => movements.push(vec![step.from, step.to]),
        }
    }

    let mut counted: Vec<(Vec<u8>, usize)> = Vec::new();
    for points in movements {
        match counted.iter_mut().find(|(known, _)| *known == points) {
            Some((_, count)) => *count += 1,
            None => counted.push((points, 1)),
        }
    }

    let mut text = String::new();
    for (points, count) in counted {
        if !text.is_empty() {
            text.push(' ');
        }
        for (i, &point) in points.iter().enumerate() {
            if i > 0 {
                text.push('/');
            }
            match point {
                OFF => text.push_str("off"),
                bar if usize::from(bar) == BAR => text.push_str("bar"),
                slot => text.push_str(&(slot + 1).to_string()),
            }
            if i > 0
                && let Some(hit) = hits.iter().position(|&hit| hit == point)
            {
                hits.swap_remove(hit);
                text.push('*');
            }
        }
        if count > 1 {
            text.push_str(&format!("({count})"));
        }
    }
    text
}

/// Where a step ends, counted so that a longer step ends lower.
fn landing(to: u8) -> i8 {
    if to == OFF { -1 } else { to as i8 }
}

/// Index of the play that `text` means, among the legal `plays` of a roll in `position`.
///
/// Movements may come in any order, split (`13/7 7/5`) or run together (`13/5`), and stars may be left out where a
/// movement is written to end or touch down; a hit on the way that is not written is understood when nothing else is legal.
pub(super) fn read(
    position: &Position,
    plays: &Plays<Backgammon>,
    text: &str,
) -> Result<usize, NotationError> {
    let error = |reason: String| NotationError::new(text, "move", reason);
    let wanted = Wanted::read(position, text).map_err(error)?;
    let moved = |after: &Position| after.other == wanted.own;
    let exact = plays.after.iter().position(|after| moved(after) && after.own == wanted.other);
    if let Some(index) = exact {
        return Ok(index);
    }
    let hits_more = |after: &Position| (0..BAR).all(|slot| after.own[slot] <= wanted.other[slot]);
    let mut near = (0..plays.len()).filter(|&i| moved(&plays.after[i]) && hits_more(&plays.after[i]));
    match (near.next(), near.next()) {
        (Some(index), None) => Ok(index),
        (None, _) => Err(error("no legal play does this".to_owned())),
        (Some(a), Some(b)) => {
            Err(error(format!("it could be {} or {}", write(&plays.moves[a]), write(&plays.moves[b]))))
        }
    }
}

/// The checkers after a play that was read, legal or not.
struct Wanted {
    own: [u8; 25],
    other: [u8; 25],
}

impl Wanted {
    fn read(position: &Position, text: &str) -> Result<Wanted, String> {
        let mut own = position.own.map(i32::from);
        let mut other = position.other;
        let lower = text.trim().to_lowercase();
        let passes = matches!(lower.as_str(), "" | NO_PLAY | "no move" | "no play" | "pass");
        for token in
            lower.split(|c: char| c.is_whitespace() || c == ',').filter(|token| !passes && !token.is_empty())
        {
            let movement = Movement::read(token)?;
            for step in &movement.steps {
                own[usize::from(step.from)] -= movement.count;
                if step.to == OFF {
                    continue;
                }
                own[usize::from(step.to)] += movement.count;
                let facing = 23 - usize::from(step.to);
                match position.other[facing] {
                    // A blot that is mentioned twice is hit once.
                    1 if other[facing] == 1 => {
                        other[facing] = 0;
                        other[BAR] += 1;
                    }
                    0 if step.hits => return Err(format!("there is nothing to hit on {}", step.to + 1)),
                    _ => {}
                }
            }
        }
        if let Some(slot) = own.iter().position(|&n| n < 0) {
            let place = if slot == BAR { "the bar".to_owned() } else { format!("point {}", slot + 1) };
            return Err(format!("there are not enough checkers on {place}"));
        }
        Ok(Wanted { own: own.map(|n| n as u8), other })
    }
}

/// One written movement, such as `24/18*/13(2)`.
struct Movement {
    steps: Vec<Step>,
    count: i32,
}

impl Movement {
    fn read(token: &str) -> Result<Movement, String> {
        let (path, count) = match token.split_once('(') {
            None => (token, 1),
            Some((path, rest)) => match rest.strip_suffix(')').map(str::parse) {
                Some(Ok(count @ 1..=4)) => (path, count),
                _ => return Err(format!("{token:?} should end in (2), (3) or (4)")),
            },
        };
        let mut steps = Vec::new();
        let mut from: Option<u8> = None;
        for mention in path.split('/') {
            let (name, hits) = match mention.strip_suffix('*') {
                Some(name) => (name, true),
                None => (mention, false),
            };
            let point = match name {
                "bar" | "b" | "25" => BAR as u8,
                "off" | "o" | "0" => OFF,
                number => match number.parse::<u8>() {
                    Ok(point @ 1..=24) => point - 1,
                    _ => {
                        return Err(format!("{name:?} in {token:?} is not a point from 1 to 24, bar or off"));
                    }
                },
            };
            match from {
                None if hits || point == OFF => {
                    return Err(format!("{token:?} cannot start with {mention:?}"));
                }
                Some(from) if landing(point) >= landing(from) => {
                    return Err(format!("{token:?} does not move forward"));
                }
                Some(from) => steps.push(Step { from, to: point, hits }),
                None => {}
            }
            from = Some(point);
        }
        if steps.is_empty() {
            return Err(format!("{token:?} should be a movement such as 8/5"));
        }
        Ok(Movement { steps, count })
    }
}
