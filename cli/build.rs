//! Finds out what `ludus --version` says: the version, and in a release the commit it was built from.
//!
//! The commit is LUDUS_COMMIT where that is set (a build without .git, as in a container), otherwise git's, otherwise none
//! is named. Development builds name none: they are made of files that no commit has yet, and every commit would build
//! the program and its tests anew.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=LUDUS_COMMIT");
    let told = std::env::var("LUDUS_COMMIT").ok().filter(|commit| is_one_word(commit));
    let release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let build = match told.or_else(|| if release { commit() } else { None }) {
        Some(commit) => format!(" ({commit})"),
        None if release => String::new(),
        None => " (development build)".to_owned(),
    };
    println!("cargo:rustc-env=LUDUS_VERSION={}{build}", env!("CARGO_PKG_VERSION"));
}

/// The commit of the source tree, if it is a git tree that knows this package: an unpacked archive may lie in another.
fn commit() -> Option<String> {
    git(&["ls-files", "--error-unmatch", "Cargo.toml"])?;
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).filter(|commit| is_one_word(commit))?;
    // The log changes with every commit and checkout; the others where no log is kept. Cargo would take a file that is
    // not there for one that has changed.
    let branch = git(&["symbolic-ref", "-q", "HEAD"]);
    for name in ["HEAD", "logs/HEAD", "packed-refs"].into_iter().chain(branch.as_deref()) {
        let path = git(&["rev-parse", "--git-path", name]).filter(|path| Path::new(path).is_file());
        if let Some(path) = path {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    Some(commit)
}

/// What git says in the folder of the package, where build scripts run.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

fn is_one_word(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 64
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._+".contains(&byte))
}
