//! The yardsticks of `benchmarks/machines` for Stateright, for runs side by side.
//!
//! `yardsticks MODEL THREADS` searches all states of `yardstick` or `two_phase_commit` breadth-first and prints distinct
//! and generated states, depth (states on the longest shortest path), seconds and the peak of resident KiB.

mod round;
mod small_check_service;
mod state;
mod two_phase_commit;

use std::hash::Hash;

use small_check_service::SmallCheckService;
use stateright::{Checker, Model};
use two_phase_commit::TwoPhaseCommit;

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn search<M>(model: M, threads: usize)
where
    M: Model + Send + Sync + 'static,
    M::State: Hash + Send + Sync + 'static,
{
    let started = std::time::Instant::now();
    let checker = model.checker().threads(threads).spawn_bfs().join();
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{} {} {} {seconds:.3} {}",
        checker.unique_state_count(),
        checker.state_count(),
        checker.max_depth(),
        peak_kib()
    );
}

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let threads = given.get(1).and_then(|n| n.parse().ok()).unwrap_or(1);
    match given.first().map(String::as_str) {
        Some("yardstick") => search(SmallCheckService, threads),
        Some("two_phase_commit") => search(TwoPhaseCommit, threads),
        _ => panic!("give yardstick or two_phase_commit, and the threads"),
    }
}
