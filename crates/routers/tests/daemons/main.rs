//! Real daemons of FRRouting in real namespaces, each case in a sandbox of its own: as root (where the tests are run by root)
//! and as an ordinary user. `cargo test -p routers --test daemons -- NAME` runs the cases whose names contain NAME.

mod cases;
mod nodes;
#[path = "../../../lab/tests/lab/sandboxed.rs"]
#[allow(dead_code)]
mod sandboxed;

use std::process::ExitCode;

use sandboxed::User;

fn main() -> ExitCode {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let users = if lab::sandbox::is_unprivileged() { vec![User::Own] } else { vec![User::Root, User::Other(54_321)] };
    let mut failed = 0;
    for user in users {
        for (name, case) in cases::ALL.iter().filter(|(name, _)| name.contains(&filter)) {
            match case.run(user) {
                Ok(()) => println!("test {name} ({user}) ... ok"),
                Err(error) => {
                    failed += 1;
                    println!("test {name} ({user}) ... FAILED\n{error:#}");
                }
            }
        }
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
