//! `benchmarks/machines/two_phase_commit` with nine resource managers, a state in one word.

use stateright::{Model, Property};

pub const RESOURCE_MANAGERS: u32 = 9;
const ALL: u32 = (1 << RESOURCE_MANAGERS) - 1;

const WORKING: u64 = 0;
const PREPARED: u64 = 1;
const COMMITTED: u64 = 2;
const ABORTED: u64 = 3;

const TM_PREPARED: u32 = 18;
const SENT_PREPARED: u32 = 27;
const TM_INIT_IS_OVER: u64 = 1 << 36;
const SENT_COMMIT: u64 = 1 << 37;
const SENT_ABORT: u64 = 1 << 38;

/// Two bits a resource manager, then the two sets, whether the transaction manager has decided, and its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct State(u64);

impl State {
    fn resource_manager(self, r: u32) -> u64 {
        self.0 >> (2 * r) & 3
    }

    fn with(self, r: u32, state: u64) -> State {
        State(self.0 & !(3 << (2 * r)) | state << (2 * r))
    }

    fn members(self, place: u32) -> u32 {
        (self.0 >> place) as u32 & ALL
    }

    fn has_decided(self) -> bool {
        self.0 & TM_INIT_IS_OVER != 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    TmRcvPrepared(u32),
    TmCommit,
    TmAbort,
    RmPrepare(u32),
    RmChooseToAbort(u32),
    RmRcvCommitMsg(u32),
    RmRcvAbortMsg(u32),
}
use Action::*;

pub struct TwoPhaseCommit;

impl Model for TwoPhaseCommit {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::default()]
    }

    fn actions(&self, s: &State, out: &mut Vec<Action>) {
        if !s.has_decided() {
            let sent = s.members(SENT_PREPARED);
            out.extend((0..RESOURCE_MANAGERS).filter(|r| sent >> r & 1 == 1).map(TmRcvPrepared));
            if s.members(TM_PREPARED) == ALL {
                out.push(TmCommit);
            }
            out.push(TmAbort);
        }
        for r in 0..RESOURCE_MANAGERS {
            if s.resource_manager(r) == WORKING {
                out.extend([RmPrepare(r), RmChooseToAbort(r)]);
            }
            if s.0 & SENT_COMMIT != 0 {
                out.push(RmRcvCommitMsg(r));
            }
            if s.0 & SENT_ABORT != 0 {
                out.push(RmRcvAbortMsg(r));
            }
        }
    }

    fn next_state(&self, s: &State, action: Action) -> Option<State> {
        Some(match action {
            TmRcvPrepared(r) => State(s.0 | 1 << (TM_PREPARED + r)),
            TmCommit => State(s.0 | TM_INIT_IS_OVER | SENT_COMMIT),
            TmAbort => State(s.0 | TM_INIT_IS_OVER | SENT_ABORT),
            RmPrepare(r) => State(s.with(r, PREPARED).0 | 1 << (SENT_PREPARED + r)),
            RmChooseToAbort(r) | RmRcvAbortMsg(r) => s.with(r, ABORTED),
            RmRcvCommitMsg(r) => s.with(r, COMMITTED),
        })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("no one commits while another aborts", |_, s: &State| {
            let has = |state| (0..RESOURCE_MANAGERS).any(|r| s.resource_manager(r) == state);
            !(has(COMMITTED) && has(ABORTED))
        })]
    }
}
