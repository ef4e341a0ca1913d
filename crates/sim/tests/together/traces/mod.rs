//! TCP's ends, one at a time, in scripts that read like packet traces: see `sender_script` and `receiver_script`.

mod acknowledging;
mod loss_recovery;
mod probes;
mod receiver_script;
mod sender_script;
mod sending;
mod spurious;
mod timeouts;
