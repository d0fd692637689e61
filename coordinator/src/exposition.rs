//! Numbers as Prometheus reads them: its text format, version 0.0.4, which `promtool check metrics` understands too.

use std::fmt::Write as _;

/// The content type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Names and values of a sample's labels.
pub type Labels = Vec<(&'static str, String)>;

/// A text that grows by one family of samples after the other.
#[derive(Debug, Default)]
pub struct Exposition(String);

impl Exposition {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds numbers that only grow. `name` ends in `_total`. A family without samples is left out.
    pub fn counter(&mut self, name: &str, help: &str, samples: impl IntoIterator<Item = (Labels, u64)>) {
        self.family(
            "counter",
            name,
            help,
            samples.into_iter().map(|(labels, value)| (labels, value.to_string())),
        );
    }

    /// Adds numbers that rise and fall.
    pub fn gauge(&mut self, name: &str, help: &str, samples: impl IntoIterator<Item = (Labels, f64)>) {
        let text = |value: f64| match value {
            _ if value.is_nan() => "NaN".to_owned(),
            f64::INFINITY => "+Inf".to_owned(),
            f64::NEG_INFINITY => "-Inf".to_owned(),
            _ => value.to_string(),
        };
        self.family("gauge", name, help, samples.into_iter().map(|(labels, value)| (labels, text(value))));
    }

    fn family(
        &mut self,
        kind: &str,
        name: &str,
        help: &str,
        samples: impl Iterator<Item = (Labels, String)>,
    ) {
        let mut samples = samples.peekable();
        if samples.peek().is_none() {
            return;
        }
        let text = &mut self.0;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "# HELP {name} {}\n# TYPE {name} {kind}",
            help.replace('\\', "\\\\").replace('\n', "\\n")
        );
        for (labels, value) in samples {
            text.push_str(name);
            for (i, (label, value)) in labels.iter().enumerate() {
                let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                let _ = write!(text, "{}{label}=\"{value}\"", if i == 0 { '{' } else { ',' });
            }
            let _ = writeln!(text, "{} {value}", if labels.is_empty() { "" } else { "}" });
        }
    }

    /// The text.
    pub fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_written_as_prometheus_reads_them_and_empty_ones_are_not() {
        let mut text = Exposition::new();
        text.counter("a_total", "Counted", [(vec![("run", "x\"y\\z\n".into())], 3), (vec![], 4)]);
        text.gauge(
            "b",
            "Measured",
            [(vec![("k", "v".into()), ("l", "w".into())], 0.5), (vec![], f64::INFINITY)],
        );
        text.gauge("c", "Nothing", []);
        let expected = "# HELP a_total Counted\n# TYPE a_total counter\na_total{run=\"x\\\"y\\\\z\\n\"} 3\na_total 4\n\
                        # HELP b Measured\n# TYPE b gauge\nb{k=\"v\",l=\"w\"} 0.5\nb +Inf\n";
        assert_eq!(text.finish(), expected);
    }
}
