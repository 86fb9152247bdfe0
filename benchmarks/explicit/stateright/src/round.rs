//! One round of the check service: one call of `step` is one turn of its loop.

use crate::state::*;

pub fn begin(s: &mut State) {
    s.round.running = true;
    s.round.cursor = s.offsets.half;
    s.round.next_op = s.offsets.op;
    pull(s);
}

/// Read the op queue to its end.
fn pull(s: &mut State) {
    s.round.last_pull = 0;
    if s.round.next_op >= s.op_length {
        return;
    }
    for o in s.round.next_op..s.op_length {
        let op = &mut s.op[o as usize];
        for h in s.offsets.half..HALVES as u8 {
            if op.names >> h & 1 == 1 {
                op.unresolved |= 1 << h;
                s.half[h as usize].removed_by = o + 1;
            }
        }
        if op.unresolved == 0 {
            s.round.done |= 1 << o;
        }
    }
    s.round.next_op = s.op_length;
    s.round.last_pull = s.op_length;
}

pub fn forget(s: &mut State) {
    s.round = Round::default();
    for half in &mut s.half {
        half.removed_by = NOWHERE;
    }
    for op in &mut s.op {
        op.unresolved = 0;
    }
}

fn end(s: &mut State) {
    s.offsets.half = s.round.cursor;
    while s.offsets.op < s.op_length && s.round.done >> s.offsets.op & 1 == 1 {
        s.offsets.op += 1;
    }
    forget(s);
}

/// The half at the cursor is stored again behind the others; false when there is no room.
fn append_copy(s: &mut State, original: u8, is_checked: bool) -> bool {
    let to = s.half_length as usize;
    if to >= HALVES {
        return false;
    }
    let from = s.half[s.round.cursor as usize];
    s.half[to].transaction = from.transaction;
    s.half[to].checks = from.checks + 1;
    s.half[to].original = original;
    s.half[to].check_in_flight = is_checked;
    s.half_length += 1;
    s.round.cursor += 1;
    true
}

/// False when the step is not possible.
pub fn step(s: &mut State) -> bool {
    if s.round.age > ROUND_LIMIT || s.round.cursor >= s.half_length {
        end(s);
        return true;
    }
    let at = s.round.cursor as usize;
    let half = s.half[at];
    if half.removed_by != NOWHERE {
        let o = half.removed_by - 1;
        s.half[at].removed_by = NOWHERE;
        s.op[o as usize].unresolved &= !(1 << at);
        if s.op[o as usize].unresolved == 0 {
            s.round.done |= 1 << o;
        }
        s.round.cursor += 1;
        return true;
    }
    if half.checks >= CHECK_MAX {
        s.transaction[half.transaction as usize].discarded = true;
        s.round.cursor += 1;
        return true;
    }
    if half.age <= s.round.age {
        end(s);
        return true;
    }
    let transaction = s.transaction[half.transaction as usize];
    let has_immunity = transaction.immunity > 0;
    let immunity = if has_immunity { transaction.immunity } else { TIMEOUT };
    if transaction.age < immunity {
        if !has_immunity {
            end(s);
            return true;
        }
        if half.original != NOWHERE && s.half[half.original as usize - 1].removed_by != NOWHERE {
            let settled = &mut s.half[half.original as usize - 1].removed_by;
            s.round.done |= 1 << (*settled - 1);
            *settled = NOWHERE;
            s.round.cursor += 1;
            return true;
        }
        let original = if half.original != NOWHERE { half.original } else { at as u8 + 1 };
        return append_copy(s, original, false);
    }
    let last = s.round.last_pull;
    let is_checked = if last == 0 {
        transaction.age > immunity
    } else {
        s.round.age > s.op[last as usize - 1].age + TIMEOUT
    };
    if is_checked {
        return append_copy(s, half.original, true);
    }
    if last == 0 && s.round.next_op >= s.op_length {
        return false;
    }
    pull(s);
    true
}
