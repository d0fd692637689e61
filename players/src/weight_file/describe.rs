//! A weight file for people.

use std::fmt::Write as _;

use super::WeightFile;

impl WeightFile {
    /// What the file says, one aligned line a fact, such as `game       backgammon`.
    pub fn describe(&self) -> String {
        let card = &self.card;
        let mut facts = vec![
            ("game".to_owned(), format!("{}, rules revision {}", card.game, card.revision)),
            ("inputs".to_owned(), card.inputs.clone()),
        ];
        for network in &self.networks {
            let (mut count, mut largest) = (0, 0f32);
            for (_, _, values) in network.tensors() {
                count += values.len();
                largest = values.iter().fold(largest, |largest, value| largest.max(value.abs()));
            }
            facts.push((
                network.class.clone(),
                format!("{}, {count} weights, largest {largest:.3}", network.shape()),
            ));
        }
        facts.push(("version".to_owned(), card.label()));
        facts.push(("created".to_owned(), date(card.created_at)));
        let parent = if card.parent.is_empty() { "none" } else { &card.parent };
        facts.push(("parent".to_owned(), parent.to_owned()));
        facts.extend(card.counters.iter().map(|(name, value)| (name.clone(), value.to_string())));

        let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        for (name, fact) in facts {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:width$}  {fact}");
        }
        text
    }
}

/// Seconds since 1970 as a date and time in UTC: `2026-11-29 23:03:06 UTC`.
fn date(seconds: u64) -> String {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    // The calendar repeats every 400 years, which have 146,097 days, so the loop below is short.
    let (days, time) = (seconds / 86_400, seconds % 86_400);
    let (mut year, mut day) = (1970 + 400 * (days / 146_097), days % 146_097);
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let months = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= months[month] {
        day -= months[month];
        month += 1;
    }
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
    format!("{year}-{:02}-{:02} {hour:02}:{minute:02}:{second:02} UTC", month + 1, day + 1)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(date(951_782_399), "2000-02-28 23:59:59 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(date(951_868_800), "2000-03-01 00:00:00 UTC");
        assert_eq!(date(1_798_761_599), "2026-12-31 23:59:59 UTC");
        assert_eq!(date(4_107_542_400), "2100-03-01 00:00:00 UTC");
    }
}
