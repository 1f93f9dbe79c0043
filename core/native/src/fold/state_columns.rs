//! The states of all partitions as columns; see `kraftops.engine.metadata_state`.
use super::Fold;
use super::partition_state::{Batches, PartitionState};
use super::topics::Id;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::collections::HashMap;

/// Lists of numbers, one a partition: their items one after another, where each begins, its size.
#[derive(Default)]
struct Lists {
    items: Vec<u8>,
    starts: Vec<u32>,
    sizes: Vec<u32>,
}

impl Lists {
    fn new(count: usize) -> Self {
        Lists {
            items: Vec::new(),
            starts: vec![0; count],
            sizes: vec![0; count],
        }
    }

    fn put(&mut self, at: usize, items: impl Iterator<Item = i32>) {
        let start = self.items.len() / size_of::<i32>();
        for item in items {
            self.items.extend_from_slice(&item.to_ne_bytes());
        }
        let size = self.items.len() / size_of::<i32>() - start;
        if let (Some(place), Some(count)) = (self.starts.get_mut(at), self.sizes.get_mut(at)) {
            (*place, *count) = (start as u32, size as u32);
        }
    }

    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let raw = |numbers: &[u32]| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_ne_bytes()).collect();
            PyBytes::new(py, &bytes)
        };
        let items = PyBytes::new(py, &self.items);
        (items, raw(&self.starts), raw(&self.sizes)).into_pyobject(py)
    }
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
        let mut known: HashMap<Id, i32> = HashMap::new();
        self.each_state(batches, |_, _, at, state| {
            for (column, value) in made.scalars.iter_mut().zip(state.numbers()) {
                if let Some(place) = column.get_mut(at) {
                    *place = value;
                }
            }
            let directories = &mut made.directories;
            let indexes = state.directories.iter().map(|id| {
                *known.entry(*id).or_insert_with(|| {
                    directories.push(*id);
                    directories.len() as i32 - 1
                })
            });
            let [replicas, places, isr, removing, adding, elr, last_known] = &mut made.lists;
            places.put(at, indexes);
            replicas.put(at, state.replicas.iter().copied());
            isr.put(at, state.isr.iter().copied());
            removing.put(at, state.removing.iter().copied());
            adding.put(at, state.adding.iter().copied());
            elr.put(at, state.elr.iter().copied());
            last_known.put(at, state.last_known_elr.iter().copied());
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
    pub fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let raw = |numbers: &[i32]| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_ne_bytes()).collect();
            PyBytes::new(py, &bytes)
        };
        let topics = self
            .topics
            .iter()
            .map(|(id, count)| (PyBytes::new(py, id), *count));
        let newest: Vec<u8> = self.newest.iter().flat_map(|n| n.to_ne_bytes()).collect();
        let lists = self.lists.iter().map(|lists| lists.to_python(py));
        let directories = self.directories.iter().map(|id| PyBytes::new(py, id));
        (
            topics.collect::<Vec<_>>(),
            raw(&self.numbers),
            PyBytes::new(py, &newest),
            self.scalars
                .iter()
                .map(|column| raw(column))
                .collect::<Vec<_>>(),
            lists.collect::<PyResult<Vec<_>>>()?,
            directories.collect::<Vec<_>>(),
        )
            .into_pyobject(py)
    }
}
