//! `benchmarks/machines/small_check_service`.

use stateright::{Model, Property};

use crate::round;
use crate::state::*;

pub struct SmallCheckService;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    SendHalf(usize, u8),
    Decide(usize, u8),
    DecideLate(usize, u8),
    ReceiveEnd(usize),
    LoseEnd(usize),
    ReceiveCheck(usize),
    LoseCheck(usize),
    ReceiveAnswer(usize),
    WriteOpBatch,
    Tick,
    SaveOffsets,
    Crash,
    BeginRound,
    Step,
}
use Action::*;

/// The broker delivers what is committed, and the half waits for an op message.
fn end_half(s: &mut State, h: usize, end: u8) {
    let transaction = &mut s.transaction[s.half[h].transaction as usize];
    if end == COMMIT && transaction.delivered < 2 {
        transaction.delivered += 1;
    }
    s.batch |= 1 << h;
}

/// Everything becomes a tick older; false when nothing does.
fn tick(s: &mut State) -> bool {
    let mut changed = false;
    let mut grow = |age: &mut u8, counts: bool, cap: u8| {
        if counts && *age < cap {
            *age += 1;
            changed = true;
        }
    };
    for t in &mut s.transaction {
        grow(&mut t.age, t.phase != NEW, OLDEST);
    }
    for half in &mut s.half[..s.half_length as usize] {
        grow(&mut half.age, true, OLDEST);
    }
    for op in &mut s.op[..s.op_length as usize] {
        grow(&mut op.age, true, OLDEST);
    }
    grow(&mut s.round.age, s.round.running, ROUND_LIMIT + 1);
    changed
}

impl Model for SmallCheckService {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::default()]
    }

    fn actions(&self, s: &State, out: &mut Vec<Action>) {
        for t in 0..TRANSACTIONS {
            let me = &s.transaction[t];
            let is_next = t == 0 || s.transaction[t - 1].phase != NEW;
            if me.phase == NEW && is_next && (s.half_length as usize) < HALVES {
                out.extend(IMMUNITIES.map(|immunity| SendHalf(t, immunity)));
            }
            if me.phase == SENT {
                out.extend([Decide(t, 0), Decide(t, 1), Decide(t, 2)]);
            }
            if me.phase == UNKNOWN {
                out.extend([DecideLate(t, 1), DecideLate(t, 2)]);
            }
            if me.end != 0 {
                out.extend([ReceiveEnd(t), LoseEnd(t)]);
            }
        }
        for h in 0..HALVES {
            if s.half[h].check_in_flight {
                out.extend([ReceiveCheck(h), LoseCheck(h)]);
            }
            if s.half[h].end != 0 {
                out.push(ReceiveAnswer(h));
            }
        }
        if s.batch != 0 && (s.op_length as usize) < OPS {
            out.push(WriteOpBatch);
        }
        out.push(Tick);
        let have_offsets_moved = s.saved != s.offsets;
        if have_offsets_moved {
            out.push(SaveOffsets);
        }
        if have_offsets_moved || s.batch != 0 || s.round.running {
            out.push(Crash);
        }
        if s.round.running {
            out.push(Step);
        } else if s.offsets.half < s.half_length || s.offsets.op < s.op_length {
            out.push(BeginRound);
        }
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        let mut s = *before;
        let is_possible = match action {
            SendHalf(t, immunity) => {
                s.transaction[t].phase = SENT;
                s.transaction[t].immunity = immunity;
                s.transaction[t].first_half = s.half_length;
                s.half[s.half_length as usize].transaction = t as u8;
                s.half_length += 1;
                true
            }
            Decide(t, outcome) => {
                s.transaction[t].phase = UNKNOWN + outcome;
                s.transaction[t].end = outcome;
                true
            }
            DecideLate(t, outcome) => {
                s.transaction[t].phase = UNKNOWN + outcome;
                true
            }
            ReceiveEnd(t) => {
                let me = s.transaction[t];
                if me.immunity == 0 || me.age <= me.immunity {
                    end_half(&mut s, me.first_half as usize, me.end);
                }
                s.transaction[t].end = 0;
                true
            }
            LoseEnd(t) => {
                s.transaction[t].end = 0;
                true
            }
            ReceiveCheck(h) => {
                s.half[h].check_in_flight = false;
                let phase = s.transaction[s.half[h].transaction as usize].phase;
                if phase >= COMMITTED {
                    s.half[h].end = phase - UNKNOWN;
                }
                true
            }
            LoseCheck(h) => {
                s.half[h].check_in_flight = false;
                true
            }
            ReceiveAnswer(h) => {
                let end = s.half[h].end;
                end_half(&mut s, h, end);
                s.half[h].end = 0;
                true
            }
            WriteOpBatch => {
                s.op[s.op_length as usize].names = s.batch;
                s.op_length += 1;
                s.batch = 0;
                true
            }
            Tick => tick(&mut s),
            SaveOffsets => {
                s.saved = s.offsets;
                true
            }
            Crash => {
                s.offsets = s.saved;
                s.batch = 0;
                round::forget(&mut s);
                true
            }
            BeginRound => {
                round::begin(&mut s);
                true
            }
            Step => round::step(&mut s),
        };
        is_possible.then_some(s)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("only committed messages are delivered", |_, s: &State| {
            s.transaction.iter().all(|t| t.delivered == 0 || t.phase != ROLLED_BACK)
        })]
    }
}
