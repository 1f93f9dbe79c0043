//! The states of all partitions as columns; see `kraftops.engine.metadata_state`.
use super::Fold;
use super::ordered_map::FastMap;
use super::partition_state::{Batches, PartitionState};
use super::topics::Id;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

/// Different lists that are looked up, so that each stands once; more are too many to repeat.
const MOST_LOOKED_UP: usize = 1 << 16;

const LARGE: u8 = u8::MAX;

/// Lists of numbers, one a partition: the place of each among the different lists.
struct Lists {
    places: Vec<u32>,
    /// In one byte each; of larger lists they are counted in the end.
    sizes: Vec<u8>,
    /// The place of the list that was put last.
    latest: u32,
    /// The items of all different lists, one after another, and where each ends.
    items: Vec<i32>,
    ends: Vec<u32>,
    known: FastMap<u64, u32>,
}

impl Lists {
    fn new(count: usize) -> Self {
        Lists {
            places: vec![0; count],
            sizes: vec![0; count],
            latest: 0,
            items: Vec::new(),
            ends: Vec::new(),
            known: FastMap::default(),
        }
    }

    fn put(&mut self, row: usize, items: impl Iterator<Item = i32>) {
        let start = self.items.len();
        self.items.extend(items);
        let size = (self.items.len() - start).min(LARGE.into());
        self.latest = self.place_of_last(start);
        if let (Some(place), Some(of_partition)) =
            (self.places.get_mut(row), self.sizes.get_mut(row))
        {
            (*place, *of_partition) = (self.latest, size as u8);
        }
    }

    /// The place of the list from *start* on, which goes again if it is there already.
    fn place_of_last(&mut self, start: usize) -> u32 {
        let list = self.items.get(start..).unwrap_or(&[]);
        if !self.ends.is_empty() && self.holds(self.latest, list) {
            self.items.truncate(start);
            return self.latest;
        }
        let mut hasher = self.known.hasher().build_hasher();
        list.iter().for_each(|item| hasher.write_i32(*item));
        let hash = hasher.finish();
        let next = self.ends.len() as u32;
        match self.known.get(&hash) {
            Some(place) if self.holds(*place, list) => {
                let place = *place;
                self.items.truncate(start);
                return place;
            }
            None if self.known.len() < MOST_LOOKED_UP => {
                self.known.insert(hash, next);
            }
            _ => {}
        }
        self.ends.push(self.items.len() as u32);
        next
    }

    /// Tell whether a list is at a place. Its items have just been written one by one, and a
    /// `memcmp`, which reads several at once, waits for them.
    fn holds(&self, place: u32, list: &[i32]) -> bool {
        self.get(place).iter().eq(list)
    }

    fn get(&self, place: u32) -> &[i32] {
        let index = place as usize;
        let start = index.checked_sub(1).and_then(|index| self.ends.get(index));
        let stop = self.ends.get(index).copied().unwrap_or_default();
        let start = start.copied().unwrap_or_default();
        self.items.get(start as usize..stop as usize).unwrap_or(&[])
    }

    fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        let sizes = if self.sizes.contains(&LARGE) {
            let all = self
                .places
                .iter()
                .map(|place| self.get(*place).len() as u32);
            raw(py, all.collect(), u32::to_ne_bytes)?
        } else {
            raw(py, self.sizes, u8::to_ne_bytes)?
        };
        let ends = raw(py, self.ends, u32::to_ne_bytes)?;
        let places = raw(py, self.places, u32::to_ne_bytes)?;
        let items = raw(py, self.items, i32::to_ne_bytes)?;
        (places, items, ends, sizes).into_pyobject(py)
    }
}

/// The bytes of numbers, whose own memory is free then.
fn raw<T: Copy, const N: usize>(
    py: Python<'_>,
    numbers: Vec<T>,
    bytes_of: fn(T) -> [u8; N],
) -> PyResult<Bound<'_, PyBytes>> {
    PyBytes::new_with(py, numbers.len() * N, |bytes| {
        for (place, number) in bytes.chunks_exact_mut(N).zip(&numbers) {
            place.copy_from_slice(&bytes_of(*number));
        }
        Ok(())
    })
}

/// The columns; of numbers, in the order of topics and partitions.
pub struct StateColumns {
    topics: Vec<(Id, usize)>,
    numbers: Vec<i32>,
    newest: Vec<u64>,
    /// Leader, recovery state, leader epoch, partition epoch.
    scalars: [Vec<i32>; 4],
    /// In the order of `PartitionState`; directories are indexes.
    lists: [Lists; 7],
    directories: Vec<Id>,
}

impl Fold {
    pub(super) fn state_columns(&self, batches: &mut Batches) -> PyResult<StateColumns> {
        let count = self.partition_count(None);
        let mut made = StateColumns {
            topics: Vec::new(),
            numbers: Vec::with_capacity(count),
            newest: Vec::with_capacity(count),
            scalars: std::array::from_fn(|_| vec![0; count]),
            lists: std::array::from_fn(|_| Lists::new(count)),
            directories: Vec::new(),
        };
        for topic in self.topics.in_order() {
            made.topics.push((topic.id, topic.count()));
            for (number, partition) in topic.partitions() {
                made.numbers.push(number);
                made.newest.push(partition.address());
            }
        }
        let mut index_by_id: HashMap<Id, i32> = HashMap::new();
        self.each_state(batches, |_, _, row, state| {
            for (column, value) in made.scalars.iter_mut().zip(state.numbers()) {
                if let Some(place) = column.get_mut(row) {
                    *place = value;
                }
            }
            let directories = &mut made.directories;
            let indexes = state.directories.iter().map(|id| {
                *index_by_id.entry(*id).or_insert_with(|| {
                    directories.push(*id);
                    directories.len() as i32 - 1
                })
            });
            let [replicas, places, isr, removing, adding, elr, last_known] = &mut made.lists;
            places.put(row, indexes);
            replicas.put(row, state.replicas.iter().copied());
            isr.put(row, state.isr.iter().copied());
            removing.put(row, state.removing.iter().copied());
            adding.put(row, state.adding.iter().copied());
            elr.put(row, state.elr.iter().copied());
            last_known.put(row, state.last_known_elr.iter().copied());
        })?;
        Ok(made)
    }
}

impl PartitionState {
    fn numbers(&self) -> [i32; 4] {
        let recovery = i32::from(self.recovery);
        [
            self.leader,
            recovery,
            self.leader_epoch,
            self.partition_epoch,
        ]
    }
}

impl StateColumns {
    /// Return the fields of `kraftops.engine.metadata_state.StateColumns`, as raw bytes.
    pub fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        let topics = self.topics.iter();
        let topics = topics.map(|(id, count)| (PyBytes::new(py, id), *count));
        let scalars = self.scalars.into_iter();
        let scalars = scalars.map(|column| raw(py, column, i32::to_ne_bytes));
        let lists = self.lists.into_iter().map(|lists| lists.into_python(py));
        let directories = self.directories.iter().map(|id| PyBytes::new(py, id));
        (
            topics.collect::<Vec<_>>(),
            raw(py, self.numbers, i32::to_ne_bytes)?,
            raw(py, self.newest, u64::to_ne_bytes)?,
            scalars.collect::<PyResult<Vec<_>>>()?,
            lists.collect::<PyResult<Vec<_>>>()?,
            directories.collect::<Vec<_>>(),
        )
            .into_pyobject(py)
    }
}
