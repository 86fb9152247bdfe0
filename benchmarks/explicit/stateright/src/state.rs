//! The state of the small check service: bytes only, so that hashing and comparing are as cheap as they can be.

pub const TRANSACTIONS: usize = 2;
pub const HALVES: usize = 3;
pub const OPS: usize = 2;
pub const CHECK_MAX: u8 = 2;
pub const TIMEOUT: u8 = 1;
pub const IMMUNITIES: [u8; 2] = [0, 2];
pub const ROUND_LIMIT: u8 = 2;
pub const OLDEST: u8 = 3;

/// "No place": places are stored one higher.
pub const NOWHERE: u8 = 0;

pub const NEW: u8 = 0;
pub const SENT: u8 = 1;
pub const UNKNOWN: u8 = 2;
pub const COMMITTED: u8 = 3;
pub const ROLLED_BACK: u8 = 4;

pub const COMMIT: u8 = 1;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Transaction {
    pub phase: u8,
    pub age: u8,
    pub immunity: u8,
    pub delivered: u8,
    pub discarded: bool,
    pub end: u8,
    pub first_half: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Half {
    pub transaction: u8,
    pub checks: u8,
    pub original: u8,
    pub age: u8,
    pub check_in_flight: bool,
    pub end: u8,
    pub removed_by: u8,
}

/// Sets are bit masks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Op {
    pub names: u8,
    pub age: u8,
    pub unresolved: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Offsets {
    pub half: u8,
    pub op: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Round {
    pub running: bool,
    pub cursor: u8,
    pub next_op: u8,
    pub last_pull: u8,
    pub done: u8,
    pub age: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct State {
    pub transaction: [Transaction; TRANSACTIONS],
    pub half: [Half; HALVES],
    pub op: [Op; OPS],
    pub half_length: u8,
    pub op_length: u8,
    pub batch: u8,
    pub offsets: Offsets,
    pub saved: Offsets,
    pub round: Round,
}

const BYTES: usize = std::mem::size_of::<State>();

/// One write of all bytes, which is quicker than the derived one of each field.
impl std::hash::Hash for State {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        // All fields are one byte wide, so there is no padding.
        let bytes = unsafe { &*(self as *const State as *const [u8; BYTES]) };
        hasher.write(bytes);
    }
}
