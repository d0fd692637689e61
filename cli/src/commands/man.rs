//! `ludus man`: manual pages, one a command, made of what `--help` says.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::builder::Resettable;
use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::cli::Cli;

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ludus man | man -l -                       the page of ludus itself
  ludus man run create | man -l -            that of one command
  ludus man --out ~/.local/share/man/man1    all of them: then `man ludus-train` works")]
pub struct Args {
    /// The command whose page is wanted [default: ludus itself]
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    command: Vec<String>,
    /// Write every page into this folder, which is made when needed
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Writes one page to standard output, or all into a folder.
pub fn run(args: Args) -> Result<()> {
    let ludus = tree();
    let mut out = std::io::stdout().lock();
    let Some(dir) = args.out else {
        out.write_all(&page(find(&ludus, &args.command)?)?)?;
        return Ok(());
    };
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    let mut pages = 0;
    for command in all(&ludus) {
        let path = dir.join(format!("{}.1", name(command)));
        std::fs::write(&path, page(command)?).with_context(|| format!("cannot write {}", path.display()))?;
        pages += 1;
    }
    writeln!(out, "{pages} pages in {}", dir.display())?;
    Ok(())
}

/// The commands as the pages show them. Built, so that each knows its full name.
fn tree() -> Command {
    let mut ludus = Cli::command().disable_help_subcommand(true);
    ludus.build();
    ludus
}

fn find<'a>(ludus: &'a Command, path: &[String]) -> Result<&'a Command> {
    let mut command = ludus;
    for word in path {
        let Some(next) = command.find_subcommand(word) else {
            bail!("`{}` has no command {word:?}; `ludus --help` lists them", name(command).replace('-', " "));
        };
        command = next;
    }
    Ok(command)
}

/// The command and all below it.
fn all(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().filter(|command| !command.is_hide_set());
    std::iter::once(command).chain(below.flat_map(all)).collect()
}

/// As in `ludus-run-create`.
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(command: &Command) -> Result<Vec<u8>> {
    let version = format!("ludus {}", env!("CARGO_PKG_VERSION"));
    // Without its examples, which would be filled like prose; and with a blank for a date, as an empty one is left out and
    // what follows would take its place.
    let usage = command.clone().render_usage().to_string();
    // clap_mangen's own synopsis names every option and none of their values; this is the line that --help shows.
    let usage = usage.trim_start_matches("Usage:").trim().to_owned();
    let plain = command.clone().after_help(Resettable::Reset).override_usage(usage);
    let mut page = Vec::new();
    Man::new(plain).date(" ").source(version).manual("Ludus").render(&mut page)?;
    if let Some(examples) = command.get_after_help() {
        // As they stand: in columns.
        writeln!(page, ".SH EXAMPLES\n.nf")?;
        for line in examples.to_string().lines() {
            writeln!(page, "{}", escaped(line))?;
        }
        writeln!(page, ".fi")?;
    }
    Ok(page)
}

/// A line of text as roff takes it for text: no escapes, no requests, hyphens that can be copied as options.
fn escaped(line: &str) -> String {
    let text = line.replace('\\', "\\e").replace('-', "\\-");
    // A dot or a quote at its beginning would make it a request.
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_its_examples() {
        let ludus = tree();
        let commands = all(&ludus);
        assert!(commands.len() > 30, "{}", commands.len());
        for command in commands {
            let text = String::from_utf8(page(command).unwrap()).unwrap();
            let title = format!(".TH {} 1", name(command));
            assert!(text.contains(&title), "{title}: {text}");
            for option in command.get_arguments().filter_map(|option| option.get_long()) {
                assert!(text.contains(&option.replace('-', "\\-")), "{}: {option}", name(command));
            }
            let synopsis =
                text.split(".SH SYNOPSIS").nth(1).and_then(|rest| rest.split(".SH").next()).unwrap();
            for option in command.get_arguments().filter(|option| option.is_required_set()) {
                for value in option.get_value_names().unwrap_or_default() {
                    assert!(synopsis.contains(value.as_str()), "{}: {value} in {synopsis}", name(command));
                }
            }
            if !command.has_subcommands() {
                assert!(text.contains(".SH EXAMPLES"), "{}", name(command));
            }
        }
    }

    #[test]
    fn lines_of_examples_stay_what_they_are() {
        assert_eq!(escaped("  a -b \\c"), "  a \\-b \\ec");
        assert_eq!(escaped(".SH x"), "\\&.SH x");
    }
}
