//! Bear-off: what a position is worth once both sides have all their checkers home.
//!
//! Read [`Home`] (a side and its steps), `Rolls` (how many rolls it takes), `TwoSided` (few checkers, both sides together),
//! then [`Bearoff`], which puts them together, and [`file`], which writes them down.
//!
//! The database is computed by the program itself when the first such position is met, once in a process: about 0.1 s and
//! 11 MB. An answer then takes 8 to 30 ns. `cargo run --release -p ludus-players --example bearoff_speed` measures both.

pub mod file;
mod home;
mod one_sided;
mod two_sided;

use std::sync::LazyLock;

use ludus_games::Chances;
use ludus_games::backgammon::{BackgammonChances, Position};

pub use home::Home;
use home::{FULL, HOMES};
use one_sided::{ROLLS, Rolls, first_there, first_there_rolling_second};
use two_sided::{FEW, SMALL_HOMES, TwoSided};

/// The chances of the side on roll where both sides have all their checkers home, `None` everywhere else and where the game
/// is over. Positions elsewhere are told apart in a few nanoseconds and do not cause the database to be built.
#[inline]
pub fn known(position: &Position) -> Option<BackgammonChances> {
    let (own, other) = (Home::of(position.own())?, Home::of(position.other())?);
    (own.checkers() > 0 && other.checkers() > 0).then(|| Bearoff::shared().chances(own, other))
}

/// The bear-off database.
///
/// **Wins.** With at most 6 checkers on each side they are the true chances, both sides playing each roll with the other
/// side in view. With more, each side plays to need as few rolls as possible in the mean, whatever the other
/// side has left, and the chances that follow from the two numbers of rolls are exact for such play. How far are
/// those from the true ones? Over all pairs of up to 7 checkers a side by 0.0009 in the mean, 0.0015 in the root mean square
/// and 0.0139 at most; whoever chooses plays by them loses 4e-6 of a game a roll. That is why there is a two-sided part:
/// it costs 3.4 MB and half of the time to build, and every race that is played out ends in it.
///
/// **Gammons.** They can be lost only with all 15 checkers on the board. Such a side plays to bear its first one off in as
/// few rolls as possible in the mean, while its rival plays to bear all off. Backgammons are over: every checker has left
/// the other side's home.
#[derive(Debug)]
pub struct Bearoff {
    /// To the last checker off.
    rolls: Rolls,
    /// To the first checker off, for homes of 15.
    first_off: Rolls,
    few: TwoSided,
}

static SHARED: LazyLock<Bearoff> = LazyLock::new(Bearoff::build);

impl Bearoff {
    /// The database of this process, built when it is first asked for.
    #[inline]
    pub fn shared() -> &'static Bearoff {
        &SHARED
    }

    /// Builds a database.
    pub fn build() -> Bearoff {
        Bearoff { rolls: Rolls::to(1), first_off: Rolls::to(FULL), few: TwoSided::solve() }
    }

    /// The chances of the side on roll; both sides have checkers left.
    #[inline]
    pub fn chances(&self, own: Home, other: Home) -> BackgammonChances {
        let (own_rank, other_rank) = (own.rank(), other.rank());
        if Self::is_two_sided(own, other) {
            BackgammonChances([self.few.win(own_rank, other_rank), 0.0, 0.0, 0.0, 0.0])
        } else {
            self.by_rolls(own_rank, other_rank)
        }
    }

    /// Whether the chances are those of the best play of both sides.
    #[inline]
    pub fn is_two_sided(own: Home, other: Home) -> bool {
        own.checkers() <= FEW && other.checkers() <= FEW
    }

    /// The chances that follow from the numbers of rolls of both sides, given by rank.
    fn by_rolls(&self, own: usize, other: usize) -> BackgammonChances {
        let (own_longer, other_longer) = (self.rolls.longer(own), self.rolls.longer(other));
        let win = first_there(own_longer, other_longer);
        // A gammon is won by bearing all off before the other side has a first checker off.
        let (mut win_gammon, mut lose_gammon) = (0.0, 0.0);
        if other >= FULL {
            win_gammon = first_there(own_longer, self.first_off.longer(other));
        }
        if own >= FULL {
            lose_gammon = first_there_rolling_second(other_longer, self.first_off.longer(own));
        }
        BackgammonChances([win, win_gammon, 0.0, lose_gammon, 0.0]).ordered()
    }

    /// Mean number of rolls to bear off all checkers, when they are to be as few as possible.
    pub fn mean_rolls(&self, home: Home) -> f64 {
        self.rolls.mean(home)
    }
}

#[cfg(test)]
mod tests;
