//! A partition in little space: the address of its newest record, and the changes after its own.
use super::topics::Id;

const ADDRESS_BITS: u32 = 56;
const ADDRESS: u64 = (1 << ADDRESS_BITS) - 1;

/// Facts about a partition, above the address in `Partition::place`.
pub mod flag {
    pub const LEADERLESS: u8 = 1;
    pub const ADDING: u8 = 2;
    pub const REMOVING: u8 = 4;
    pub const ELR: u8 = 8;
    pub const LAST_KNOWN_ELR: u8 = 16;
    pub const DIRECTORIES: u8 = 32;
    /// Nobody can tell whether the newest record changed anything.
    pub const UNCERTAIN: u8 = 64;
    pub const ABSENT: u8 = 128;
    pub const ANY_ELR: u8 = ELR | LAST_KNOWN_ELR;

    /// Return *bit* if it holds.
    pub fn if_so(is_so: bool, bit: u8) -> u8 {
        if is_so { bit } else { 0 }
    }
}

/// The slots of a partition's fields, in its own record and in a change.
pub mod slot {
    pub const NUMBER: usize = 0;
    pub const TOPIC: usize = 1;
    pub const REPLICAS: usize = 2;
    pub const ISR: usize = 3;
    pub const REMOVING: usize = 4;
    pub const ADDING: usize = 5;
    pub const LEADER: usize = 6;
    pub const RECOVERY: usize = 7;
    pub const LEADER_EPOCH: usize = 8;
    pub const PARTITION_EPOCH: usize = 9;
    pub const DIRECTORIES: usize = 10;
    pub const ELR: usize = 11;
    pub const LAST_KNOWN_ELR: usize = 12;
}

/// A partition in 16 bytes: there may be a million of them.
#[derive(Clone, Copy)]
pub struct Partition {
    /// The flags above the address of its newest record.
    place: u64,
    /// One more than the number of its changes, 0 without any.
    changes: u32,
    pub replicas: u16,
    pub in_sync: u16,
}

impl Partition {
    pub const NONE: Partition = Partition {
        place: (flag::ABSENT as u64) << ADDRESS_BITS,
        changes: 0,
        replicas: 0,
        in_sync: 0,
    };

    pub fn new(address: u64, flags: u8, replicas: usize, in_sync: usize) -> Self {
        let mut made = Partition::NONE;
        made.put(address, flags);
        made.set_replicas(replicas);
        made.set_in_sync(in_sync);
        made
    }

    pub fn put(&mut self, address: u64, flags: u8) {
        self.place = (flags as u64) << ADDRESS_BITS | (address & ADDRESS);
    }

    pub fn address(&self) -> u64 {
        self.place & ADDRESS
    }

    pub fn flags(&self) -> u8 {
        (self.place >> ADDRESS_BITS) as u8
    }

    pub fn has_elr(&self) -> bool {
        self.flags() & flag::ANY_ELR != 0
    }

    pub fn is_there(&self) -> bool {
        self.flags() & flag::ABSENT == 0
    }

    pub fn changes(&self) -> Option<usize> {
        (self.changes as usize).checked_sub(1)
    }

    /// The place of its changes; without any, one where nothing is.
    #[inline(always)]
    pub fn touch(&self) -> usize {
        (self.changes as usize).wrapping_sub(1)
    }

    pub fn set_changes(&mut self, place: usize) {
        self.changes = place as u32 + 1;
    }

    /// Tell whether a count does not fit here; the changes then have the lists.
    pub fn is_large(&self) -> bool {
        self.replicas == u16::MAX || self.in_sync == u16::MAX
    }

    pub fn set_replicas(&mut self, count: usize) {
        self.replicas = u16::try_from(count).unwrap_or(u16::MAX);
    }

    pub fn set_in_sync(&mut self, count: usize) {
        self.in_sync = u16::try_from(count).unwrap_or(u16::MAX);
    }
}

/// The size of an ISR that fits into `Changes`.
const SMALL_ISR: usize = 5;

/// The newest values of the fields that later records changed; None for a field without a change.
///
/// Changes come from all over the log: each should cost one line of the processor's cache.
#[derive(Clone)]
#[repr(align(64))]
pub struct Changes {
    pub base: u64,
    /// The number of records, with the partition's own.
    pub records: u32,
    /// The number of new leaders, which is the growth of the leader epoch.
    pub leaders: u32,
    leader: i32,
    pub recovery: Option<i8>,
    /// The size of the ISR, if it fits here.
    isr_size: Option<u8>,
    in_sync: [i32; SMALL_ISR],
    pub rare: Option<Box<Rare>>,
}

/// The fields that few changes have.
#[derive(Default, Clone)]
pub struct Rare {
    /// The ISR, if it does not fit into `Changes`.
    isr: Option<Box<[i32]>>,
    pub replicas: Option<Box<[i32]>>,
    pub removing: Option<Box<[i32]>>,
    pub adding: Option<Box<[i32]>>,
    pub elr: Option<Box<[i32]>>,
    pub last_known_elr: Option<Box<[i32]>>,
    pub directories: Option<Box<[Id]>>,
}

impl Changes {
    pub fn new(base: u64) -> Self {
        Changes {
            base,
            records: 1,
            leaders: 0,
            leader: 0,
            recovery: None,
            isr_size: None,
            in_sync: [0; SMALL_ISR],
            rare: None,
        }
    }

    pub fn leader(&self) -> Option<i32> {
        (self.leaders != 0).then_some(self.leader)
    }

    pub fn set_leader(&mut self, leader: i32) {
        self.leader = leader;
        self.leaders = self.leaders.saturating_add(1);
    }

    pub fn isr(&self) -> Option<&[i32]> {
        match self.isr_size {
            Some(count) => self.in_sync.get(..count as usize),
            None => self.rare.as_ref()?.isr.as_deref(),
        }
    }

    pub fn set_isr(&mut self, count: usize, ids: impl Iterator<Item = i32>) {
        if count <= SMALL_ISR {
            self.isr_size = Some(count as u8);
            for (place, id) in self.in_sync.iter_mut().zip(ids) {
                *place = id;
            }
        } else {
            self.isr_size = None;
            self.rare().isr = Some(ids.collect());
        }
    }

    pub fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }
}
