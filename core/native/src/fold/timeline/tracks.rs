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
    /// How many of the replicas are being added.
    pub adding: u32,
    pub isr: Isr,
    pub holds: [bool; LEVEL_COUNT],
    pub since: [i64; LEVEL_COUNT],
    pub past: Past,
}

/// The past of a partition; arrays are by `LEVELS`.
#[derive(Default, Clone)]
pub struct Past {
    pub ever: [bool; LEVEL_COUNT],
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
            adding: 0,
            isr: Isr::Few(0, [0; FEW]),
            holds: [false; LEVEL_COUNT],
            since: [LONG_AGO; LEVEL_COUNT],
            past: Past::default(),
        }
    }
}

impl Past {
    pub fn has_loss(&self) -> bool {
        self.lost != [0; LEVEL_COUNT] || self.elections != 0 || self.isr_changes != 0
    }
}

impl Track {
    /// Read something of each line of the processor's cache.
    fn touch(&self) -> u64 {
        self.leader as u64 ^ self.past.elections ^ self.past.lost[0] as u64 ^ self.since[0] as u64
    }

    /// Note the begin of a level, at a time if there is one.
    pub fn begin(&mut self, level: usize, time: Option<i64>) {
        self.holds[level] = true;
        self.since[level] = time.unwrap_or(LONG_AGO);
    }
}

const NONE: u32 = u32::MAX;
/// Entries of a dense list for each partition that is there, and for none.
const MAX_ENTRIES: usize = 4;
const FREE_ENTRIES: usize = 64;

/// The tracks of all partitions that are there, in memory that is used again.
#[derive(Default)]
pub struct Tracks {
    all: Vec<Track>,
    free: Vec<u32>,
}

/// The places of a topic's tracks, by the numbers of partitions.
#[derive(Default)]
pub struct Places {
    dense: Vec<u32>,
    dense_count: usize,
    /// Those of numbers far above the others, or negative.
    sparse: FastMap<i32, u32>,
}

impl Places {
    /// The place of a number that is in the list; of others, one where nothing is.
    #[inline(always)]
    pub fn touch(&self, number: i32) -> usize {
        let place = self.dense.get(number as usize);
        place.map_or(usize::MAX, |place| *place as usize)
    }

    #[inline]
    fn get(&self, number: i32) -> Option<u32> {
        let index = usize::try_from(number).ok();
        match index.and_then(|index| self.dense.get(index)) {
            Some(place) if *place != NONE => Some(*place),
            _ if self.sparse.is_empty() => None,
            _ => self.sparse.get(&number).copied(),
        }
    }

    /// Put a place in for a number that has none.
    fn put(&mut self, number: i32, place: u32) {
        let size = self.dense.len();
        let limit = size.max(FREE_ENTRIES + MAX_ENTRIES * self.dense_count);
        match usize::try_from(number) {
            Ok(index) if index <= limit => {
                if index >= size {
                    self.dense.resize(index + 1, NONE);
                }
                self.dense[index] = place;
                self.dense_count += 1;
            }
            _ => {
                self.sparse.insert(number, place);
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = (i32, u32)> {
        let sparse = self.sparse.iter().map(|(number, place)| (*number, *place));
        let dense = (0..).zip(self.dense.iter().copied());
        dense.filter(|(_, place)| *place != NONE).chain(sparse)
    }
}

impl Tracks {
    /// Read something of the track at a place, if there is one.
    #[inline(always)]
    pub fn touch(&self, place: usize) -> u64 {
        self.all.get(place).map_or(0, Track::touch)
    }

    #[inline]
    pub fn get_mut(&mut self, places: &Places, number: i32) -> Option<&mut Track> {
        self.all.get_mut(places.get(number)? as usize)
    }

    /// The track of a partition, which is made if it is not there.
    pub fn entry(&mut self, places: &mut Places, number: i32) -> &mut Track {
        let place = places.get(number).unwrap_or_else(|| {
            let place = match self.free.pop() {
                Some(place) => {
                    self.all[place as usize] = Track::default();
                    place
                }
                None => {
                    self.all.push(Track::default());
                    self.all.len() as u32 - 1
                }
            };
            places.put(number, place);
            place
        });
        &mut self.all[place as usize]
    }

    pub fn of<'a>(&'a self, places: &'a Places) -> impl Iterator<Item = (i32, &'a Track)> {
        let all = places.iter();
        all.filter_map(|(number, place)| Some((number, self.all.get(place as usize)?)))
    }

    /// Visit the tracks of a topic.
    pub fn each(&mut self, places: &Places, mut visit: impl FnMut(&mut Track)) {
        for (_, place) in places.iter() {
            if let Some(track) = self.all.get_mut(place as usize) {
                visit(track);
            }
        }
    }

    /// Free the memory of the tracks of a topic.
    pub fn remove(&mut self, places: &Places) {
        self.free.extend(places.iter().map(|(_, place)| place));
    }
}
