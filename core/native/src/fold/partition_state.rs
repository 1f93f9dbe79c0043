//! The state of a partition: from its record, with the later changes.
use super::Fold;
use super::partition::slot;
use super::partition::{Changes, Partition};
use super::rules::{Op, Rules};
use super::table_rules::key_of;
use super::topics::Id;
use super::watch::KeyPart;
use crate::batch::{Header, read_record};
use crate::plan::LocatedFields;
use crate::reader::Reader;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::OnceLock;

/// See `kraftops.engine.fold_contract.POSITION_BITS`.
pub const POSITION_BITS: u32 = 28;
pub(super) const POSITION: u64 = (1 << POSITION_BITS) - 1;

/// See `kraftops.engine.metadata_state.PartitionState`.
#[pyclass(frozen)]
pub struct PartitionState {
    pub replicas: Box<[i32]>,
    pub directories: Box<[Id]>,
    pub isr: Box<[i32]>,
    pub removing: Box<[i32]>,
    pub adding: Box<[i32]>,
    pub elr: Box<[i32]>,
    pub last_known_elr: Box<[i32]>,
    #[pyo3(get)]
    pub leader: i32,
    #[pyo3(get, name = "leader_recovery_state")]
    pub recovery: i8,
    #[pyo3(get)]
    pub leader_epoch: i32,
    #[pyo3(get)]
    pub partition_epoch: i32,
}

#[pymethods]
impl PartitionState {
    #[getter]
    fn replicas(&self) -> &[i32] {
        &self.replicas
    }

    #[getter]
    fn directories<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.directories.iter().map(|id| PyBytes::new(py, id)))
    }

    #[getter]
    fn isr(&self) -> &[i32] {
        &self.isr
    }

    #[getter]
    fn removing_replicas(&self) -> &[i32] {
        &self.removing
    }

    #[getter]
    fn adding_replicas(&self) -> &[i32] {
        &self.adding
    }

    #[getter]
    fn eligible_leader_replicas(&self) -> &[i32] {
        &self.elr
    }

    #[getter]
    fn last_known_elr(&self) -> &[i32] {
        &self.last_known_elr
    }
}

impl PartitionState {
    /// Read the PartitionRecord at a position.
    fn read(rules: &Rules, data: &[u8], position: usize) -> Option<PartitionState> {
        let record = read_record(&mut Reader::new(data, position), &Header::bare(0)).ok()?;
        let read = rules.read(&record).ok()?;
        if read.op != Op::PutPartition {
            return None;
        }
        let fields = read.fields;
        let list = |field: usize| fields.ids(field).collect();
        let mut made = PartitionState {
            replicas: list(slot::REPLICAS),
            directories: fields.uuids(slot::DIRECTORIES).collect(),
            isr: list(slot::ISR),
            removing: list(slot::REMOVING),
            adding: list(slot::ADDING),
            elr: list(slot::ELR),
            last_known_elr: list(slot::LAST_KNOWN_ELR),
            leader: fields.int32(slot::LEADER)?,
            recovery: fields.int8(slot::RECOVERY).unwrap_or(0),
            leader_epoch: fields.int32(slot::LEADER_EPOCH)?,
            partition_epoch: fields.int32(slot::PARTITION_EPOCH)?,
        };
        made.fill_directories();
        Some(made)
    }

    /// Have one directory a replica: `MIGRATING` if no other is given.
    fn fill_directories(&mut self) {
        if self.directories.iter().flatten().all(|byte| *byte == 0) {
            self.directories = vec![[0; 16]; self.replicas.len()].into();
        }
    }

    fn change(&mut self, changes: &Changes) {
        if let Some(isr) = changes.isr() {
            self.isr = isr.into();
        }
        if let Some(rare) = &changes.rare {
            let put = |place: &mut Box<[i32]>, list: &Option<Box<[i32]>>| {
                if let Some(list) = list {
                    place.clone_from(list);
                }
            };
            put(&mut self.replicas, &rare.replicas);
            put(&mut self.removing, &rare.removing);
            put(&mut self.adding, &rare.adding);
            put(&mut self.elr, &rare.elr);
            put(&mut self.last_known_elr, &rare.last_known_elr);
            if let Some(directories) = &rare.directories {
                self.directories.clone_from(directories);
            }
            self.fill_directories();
        }
        self.leader = changes.leader().unwrap_or(self.leader);
        self.recovery = changes.recovery.unwrap_or(self.recovery);
        self.leader_epoch = self.leader_epoch.wrapping_add(changes.leaders as i32);
        let epochs = changes.records.wrapping_sub(1) as i32;
        self.partition_epoch = self.partition_epoch.wrapping_add(epochs);
    }

    fn digest(&self) -> u64 {
        let ids =
            |list: &[i32]| -> Vec<u8> { list.iter().flat_map(|id| id.to_be_bytes()).collect() };
        let lists = [
            &self.replicas,
            &self.isr,
            &self.removing,
            &self.adding,
            &self.elr,
            &self.last_known_elr,
        ];
        let mut hasher = digester();
        for list in lists {
            feed(&mut hasher, &ids(list));
        }
        feed(&mut hasher, &self.directories.concat());
        let numbers = [self.leader, self.leader_epoch, self.partition_epoch];
        (numbers, self.recovery).hash(&mut hasher);
        hasher.finish()
    }
}

/// The slots of lists of brokers, in the order of a digest.
const LISTS: [usize; 6] = [
    slot::REPLICAS,
    slot::ISR,
    slot::REMOVING,
    slot::ADDING,
    slot::ELR,
    slot::LAST_KNOWN_ELR,
];

fn digester() -> impl Hasher {
    static KEYS: OnceLock<RandomState> = OnceLock::new();
    KEYS.get_or_init(RandomState::new).build_hasher()
}

fn feed(hasher: &mut impl Hasher, list: &[u8]) {
    hasher.write_usize(list.len());
    hasher.write(list);
}

/// The digest of a PartitionRecord's state, computed without the state.
fn digest_of_record(fields: &LocatedFields) -> u64 {
    let mut hasher = digester();
    for field in LISTS {
        feed(&mut hasher, fields.bytes(field, 4));
    }
    if fields.has_nonzero_uuid(slot::DIRECTORIES) {
        feed(&mut hasher, fields.bytes(slot::DIRECTORIES, 16));
    } else {
        let replicas = fields.size(slot::REPLICAS).unwrap_or(0);
        feed(&mut hasher, &vec![0; 16 * replicas]);
    }
    let numbers = [slot::LEADER, slot::LEADER_EPOCH, slot::PARTITION_EPOCH];
    let numbers = numbers.map(|field| fields.int32(field).unwrap_or(0));
    (numbers, fields.int8(slot::RECOVERY).unwrap_or(0)).hash(&mut hasher);
    hasher.finish()
}

/// Batches by number, fetched on demand; the last one is kept.
pub struct Batches<'a, 'py> {
    py: Python<'py>,
    fetch: &'a Py<PyAny>,
    last: Option<(u64, Bound<'py, PyBytes>)>,
}

impl<'a, 'py> Batches<'a, 'py> {
    pub fn new(py: Python<'py>, fetch: &'a Py<PyAny>) -> Self {
        Batches {
            py,
            fetch,
            last: None,
        }
    }

    pub(super) fn get(&mut self, number: u64) -> PyResult<&Bound<'py, PyBytes>> {
        let is_last = matches!(&self.last, Some((last, _)) if *last == number);
        if !is_last {
            self.last = None;
            let batch = self.fetch.bind(self.py).call1((number,))?;
            self.last = Some((number, batch.cast_into::<PyBytes>()?));
        }
        match &self.last {
            Some((_, data)) => Ok(data),
            None => Err(gone()),
        }
    }
}

pub(super) fn gone() -> PyErr {
    pyo3::exceptions::PyLookupError::new_err("a record of a partition is not where it was")
}

impl Fold {
    /// The address of a partition's PartitionRecord.
    pub(super) fn base_of(&self, partition: &Partition) -> u64 {
        match self.topics.changes_of(partition) {
            Some(changes) => changes.base,
            None => partition.address(),
        }
    }

    pub(super) fn state_of(
        &self,
        partition: &Partition,
        batches: &mut Batches,
    ) -> PyResult<PartitionState> {
        let base = self.base_of(partition);
        let data = batches.get(base >> POSITION_BITS)?.as_bytes();
        let made = PartitionState::read(&self.rules, data, (base & POSITION) as usize);
        let mut state = made.ok_or_else(gone)?;
        if let Some(changes) = self.topics.changes_of(partition) {
            state.change(changes);
        }
        Ok(state)
    }

    /// A hash of the state: equal for equal states, different (but for a rare chance) for others.
    fn digest_of(&self, partition: &Partition, batches: &mut Batches) -> PyResult<u64> {
        if self.topics.changes_of(partition).is_some() {
            return Ok(self.state_of(partition, batches)?.digest());
        }
        let base = partition.address();
        let data = batches.get(base >> POSITION_BITS)?.as_bytes();
        let mut reader = Reader::new(data, (base & POSITION) as usize);
        let record = read_record(&mut reader, &Header::bare(0)).map_err(|_| gone())?;
        let read = self.rules.read(&record).map_err(|_| gone())?;
        Ok(digest_of_record(&read.fields))
    }

    /// The keys of the entries that the records at addresses put.
    pub(super) fn keys_of(
        &self,
        addresses: &[u64],
        batches: &mut Batches,
    ) -> PyResult<Vec<Vec<KeyPart>>> {
        let mut order: Vec<usize> = (0..addresses.len()).collect();
        order.sort_by_key(|place| addresses[*place]);
        let mut keys = vec![Vec::new(); addresses.len()];
        for place in order {
            let address = addresses[place];
            let data = batches.get(address >> POSITION_BITS)?.as_bytes();
            let mut reader = Reader::new(data, (address & POSITION) as usize);
            let record = read_record(&mut reader, &Header::bare(0)).map_err(|_| gone())?;
            keys[place] = key_of(&self.rules.read(&record).map_err(|_| gone())?);
        }
        Ok(keys)
    }

    /// The digests of all partitions, in the order of topics and numbers.
    pub(super) fn digests(&self, batches: &mut Batches) -> PyResult<Vec<u64>> {
        let mut digests = vec![0; self.partition_count(None)];
        self.each_partition(|_, _, count, partition| {
            if let Some(place) = digests.get_mut(count) {
                *place = self.digest_of(partition, batches)?;
            }
            Ok(())
        })?;
        Ok(digests)
    }

    /// Visit the states of all partitions; see `each_partition`.
    pub(super) fn each_state(
        &self,
        batches: &mut Batches,
        mut visit: impl FnMut(usize, i32, usize, &PartitionState),
    ) -> PyResult<()> {
        self.each_partition(|topic, number, count, partition| {
            visit(topic, number, count, &self.state_of(partition, batches)?);
            Ok(())
        })
    }

    /// Visit all partitions in the order of their records in the log.
    ///
    /// *visit* takes the index of the topic, the partition's number and its index among all
    /// partitions; indexes are in the order of topics and numbers.
    fn each_partition(
        &self,
        mut visit: impl FnMut(usize, i32, usize, &Partition) -> PyResult<()>,
    ) -> PyResult<()> {
        let topics = self.topics.in_order();
        let mut places: Vec<(u64, u32, i32, u32)> = Vec::with_capacity(self.partition_count(None));
        for (topic_place, topic) in topics.iter().enumerate() {
            for (number, partition) in topic.partitions() {
                let count = places.len() as u32;
                places.push((self.base_of(partition), topic_place as u32, number, count));
            }
        }
        if !places.is_sorted_by_key(|place| place.0) {
            places.sort_unstable_by_key(|place| place.0);
        }
        for (_, topic_place, number, count) in places {
            let Some(topic) = topics.get(topic_place as usize) else {
                continue;
            };
            if let Some(partition) = topic.get(number) {
                visit(topic_place as usize, number, count as usize, partition)?;
            }
        }
        Ok(())
    }
}
