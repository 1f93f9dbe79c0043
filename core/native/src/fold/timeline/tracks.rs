//! Partitions over time: their state, and what they lost.
use super::{LEVEL_COUNT, bit};

/// The size of an ISR that needs no memory of its own.
const FEW: usize = 5;
const NOWHERE: u64 = u64::MAX;

/// An ISR.
#[derive(PartialEq)]
pub enum Isr {
    Few(u8, [u16; FEW]),
    Many(Box<Brokers>),
}

#[derive(PartialEq)]
pub struct Brokers(Box<[i32]>);

impl Isr {
    #[inline]
    pub fn new(ids: impl Iterator<Item = i32> + Clone) -> Isr {
        let mut few = [0; FEW];
        let mut count = 0;
        for id in ids.clone() {
            match (few.get_mut(count), u16::try_from(id)) {
                (Some(place), Ok(id)) => *place = id,
                _ => return Isr::Many(Box::new(Brokers(ids.collect()))),
            }
            count += 1;
        }
        Isr::Few(count as u8, few)
    }

    pub fn ids(&self) -> impl Iterator<Item = i32> {
        let (few, many) = match self {
            Isr::Few(count, few) => (few.get(..*count as usize), None),
            Isr::Many(brokers) => (None, Some(&brokers.0)),
        };
        let few = few.into_iter().flatten().map(|id| (*id).into());
        few.chain(many.into_iter().flat_map(|ids| ids.iter().copied()))
    }
}

/// A partition over time; sets of levels have the `bit` of each.
///
/// Changes come from all over the log: a track should cost one line of the processor's cache.
#[repr(align(64))]
pub struct Track {
    pub isr: Isr,
    pub leader: i32,
    pub elections: u32,
    pub isr_changes: u32,
    /// The levels at which it is now.
    pub holds: u8,
    /// The levels that it has left since the timeline began.
    pub ever: u8,
    /// The ms at each level, less the time at which it came to one that it has not left.
    pub lost: [i64; LEVEL_COUNT],
    trouble: u64,
}

impl Default for Track {
    fn default() -> Self {
        Track {
            isr: Isr::Few(0, [0; FEW]),
            leader: -1,
            elections: 0,
            isr_changes: 0,
            holds: 0,
            ever: 0,
            lost: [0; LEVEL_COUNT],
            trouble: NOWHERE,
        }
    }
}

impl Track {
    /// Note the address of a record, if it is the first about trouble.
    pub fn note_trouble(&mut self, address: u64) {
        if self.trouble == NOWHERE {
            self.trouble = address;
        }
    }

    pub fn trouble(&self) -> Option<u64> {
        (self.trouble != NOWHERE).then_some(self.trouble)
    }

    /// The levels at which it is, by their numbers.
    pub fn levels(&self) -> impl Iterator<Item = usize> + use<> {
        let holds = self.holds;
        (0..LEVEL_COUNT).filter(move |level| holds & bit(*level) != 0)
    }

    /// Begin to count at a time: the levels at which it is began before.
    pub fn begin(&mut self, time: i64) {
        for level in self.levels() {
            self.lost[level] -= time;
        }
    }

    /// The ms at each level up to a time.
    pub fn lost_until(&self, time: i64) -> [i64; LEVEL_COUNT] {
        let mut lost = self.lost;
        for level in self.levels() {
            lost[level] += time;
        }
        lost
    }
}

/// The tracks of all partitions, at the places of their changes in the fold's topics.
#[derive(Default)]
pub struct Tracks(Vec<Track>);

impl Tracks {
    /// Read something of the track at a place, if there is one.
    #[inline(always)]
    pub fn touch(&self, place: usize) -> u64 {
        self.0.get(place).map_or(0, |track| track.leader as u64)
    }

    pub fn get(&self, place: usize) -> Option<&Track> {
        self.0.get(place)
    }

    #[inline]
    pub fn get_mut(&mut self, place: usize) -> Option<&mut Track> {
        self.0.get_mut(place)
    }

    /// The track at a place, which is made if it is not there.
    pub fn entry(&mut self, place: usize) -> &mut Track {
        if self.0.len() <= place {
            self.0.resize_with(place + 1, Track::default);
        }
        &mut self.0[place]
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Track> {
        self.0.iter_mut()
    }
}
