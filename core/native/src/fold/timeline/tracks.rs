//! Partitions over time: their state, and what they lost.
use super::LEVEL_COUNT;
use crate::fold::ordered_map::FastMap;

const LONG_AGO: i64 = -(1 << 62);
/// The size of a list of brokers that needs no memory of its own.
const FEW: usize = 5;

/// An ISR.
pub enum Isr {
    Few(u8, [i32; FEW]),
    Many(Box<[i32]>),
}

impl Isr {
    pub fn new(ids: impl Iterator<Item = i32>) -> Isr {
        let mut few = [0; FEW];
        let mut count = 0;
        let mut left = ids.fuse();
        for (place, id) in few.iter_mut().zip(&mut left) {
            *place = id;
            count += 1;
        }
        match left.next() {
            None => Isr::Few(count, few),
            Some(next) => Isr::Many(few.into_iter().chain([next]).chain(left).collect()),
        }
    }

    #[inline(always)]
    pub fn ids(&self) -> &[i32] {
        match self {
            Isr::Few(count, few) => few.get(..*count as usize).unwrap_or(few),
            Isr::Many(many) => many,
        }
    }
}

/// A partition over time; arrays are by `LEVELS`.
///
/// Changes come from all over the log: a track should cost two neighbouring lines of the
/// processor's cache.
#[repr(align(64))]
pub struct Track {
    pub leader: i32,
    pub replicas: u32,
    pub isr: Isr,
    pub holds: [bool; LEVEL_COUNT],
    pub ever: [bool; LEVEL_COUNT],
    pub since: [i64; LEVEL_COUNT],
    pub lost: [i64; LEVEL_COUNT],
    pub elections: u64,
    pub isr_changes: u64,
    pub trouble: Option<u64>,
}

impl Default for Track {
    fn default() -> Self {
        Track {
            leader: -1,
            replicas: 0,
            isr: Isr::Few(0, [0; FEW]),
            holds: [false; LEVEL_COUNT],
            ever: [false; LEVEL_COUNT],
            since: [LONG_AGO; LEVEL_COUNT],
            lost: [0; LEVEL_COUNT],
            elections: 0,
            isr_changes: 0,
            trouble: None,
        }
    }
}

impl Track {
    fn tells(&self) -> bool {
        self.lost.iter().any(|lost| *lost != 0)
            || self.ever.contains(&true)
            || self.elections != 0
            || self.isr_changes != 0
    }

    /// Read something of each line of the processor's cache.
    pub fn touch(&self) -> u64 {
        self.leader as u64 ^ self.elections ^ self.lost[0] as u64 ^ self.since[0] as u64
    }

    /// Note the begin of a level, at a time if there is one.
    pub fn begin(&mut self, level: usize, time: Option<i64>) {
        self.holds[level] = true;
        self.since[level] = time.unwrap_or(LONG_AGO);
    }
}

/// Partitions by number: those that came in order in a list, all others in a table.
#[derive(Default)]
pub struct Tracks {
    dense: Vec<Track>,
    sparse: FastMap<i32, Track>,
}

impl Tracks {
    #[inline]
    pub fn get(&self, number: i32) -> Option<&Track> {
        let at = usize::try_from(number).ok();
        match at.and_then(|at| self.dense.get(at)) {
            Some(found) => Some(found),
            None => self.sparse.get(&number),
        }
    }

    #[inline]
    pub fn get_mut(&mut self, number: i32) -> Option<&mut Track> {
        let at = usize::try_from(number).ok();
        match at.and_then(|at| self.dense.get_mut(at)) {
            Some(found) => Some(found),
            None => self.sparse.get_mut(&number),
        }
    }

    /// The partition of a number, which is made if it is not there.
    pub fn entry(&mut self, number: i32) -> &mut Track {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        if at == self.dense.len() && !self.sparse.contains_key(&number) {
            self.dense.push(Track::default());
        }
        match self.dense.get_mut(at) {
            Some(found) => found,
            None => self.sparse.entry(number).or_default(),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (i32, &Track)> {
        let sparse = self.sparse.iter().map(|(number, track)| (*number, track));
        (0..).zip(&self.dense).chain(sparse)
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Track> {
        self.dense.iter_mut().chain(self.sparse.values_mut())
    }

    /// Keep what there is to tell of; partitions that come later are none of these.
    pub fn retain_told(&mut self) {
        self.sparse.retain(|_, track| track.tells());
        let dense = (0..).zip(std::mem::take(&mut self.dense));
        self.sparse.extend(dense.filter(|(_, track)| track.tells()));
        self.sparse.shrink_to_fit();
    }
}
