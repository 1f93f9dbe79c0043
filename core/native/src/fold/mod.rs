//! The state of a metadata log, to which records are applied one by one.
//!
//! The rules are those of Kafka's `MetadataDelta` and its parts. `kraftops.engine.fold_contract` is
//! the contract; `kraftops.engine.reference.folding` has the same rules in Python.
mod aggregates;
mod dropped;
mod index;
mod ordered_map;
mod partition;
mod partition_state;
mod placed;
mod python;
mod rules;
mod state_columns;
mod table_rules;
mod timeline;
mod topic_rules;
mod topics;
mod watch;
mod window;

use crate::batch::{Header, read_record};
use crate::plan::LocatedFields;
use crate::reader::Reader;
use crate::text;
pub use aggregates::condition;
use dropped::{Dropped, Reason};
pub use index::RANGE_BITS;
use ordered_map::{FastMap, NestedMap, OrderedMap, Texts};
use partition::slot;
pub use partition_state::POSITION_BITS;
pub use placed::role;
use pyo3::prelude::*;
use pyo3::types::PyDict;
pub use python::{PyFold, PyRules, add_values};
use rules::{MetadataRecord, Op, Rules};
use std::sync::Arc;
use timeline::{MinIsrRules, Timeline};
use topics::{Id, Topics};
use watch::{QuotaEntity, Watch};
pub use window::BATCH_FIELDS;

/// About the bytes of an entry of a table, with its key.
const ENTRY_BYTES: usize = 128;
const UNKNOWN_TOPIC: &str = "there is no topic with this id";
const UNKNOWN_PARTITION: &str = "there is no such partition";
const WRONG_COUNT: &str = "its directories are not as many as its replicas";

/// A registration: the addresses of the records that make its state, and their number.
#[derive(Clone)]
struct Broker {
    epoch: i64,
    base: u64,
    /// The last changes: of fenced, inControlledShutdown, logDirs, cordonedLogDirs.
    changes: [Option<u64>; 4],
    newest: u64,
    records: u32,
}

/// The values that records may have.
#[derive(Clone)]
struct Limits {
    /// The feature metadata.version, and its levels.
    version_name: String,
    levels: (i16, i16),
    /// A feature that the quorum keeps for itself.
    quorum_name: String,
    topic_resource: i8,
    protocols: i64,
    recoveries: i8,
    kept_leader: i32,
    /// The directory of a replica that its broker has lost (`DirectoryId`).
    lost_directory: Id,
    /// Ids of directories below this are reserved.
    reserved_directories: u128,
    min_isr: MinIsrRules,
    /// The brokers with series of their own in a timeline.
    most_brokers: usize,
}

/// The entries that the present batch, or transaction, has changed: whether they were there before.
///
/// Of resources, those alone that were not there at some time since.
#[derive(Default, Clone)]
struct Unit {
    topics: FastMap<Id, Option<Arc<str>>>,
    names: FastMap<Arc<str>, bool>,
    acls: FastMap<Id, bool>,
    configs: FastMap<(i8, String), bool>,
}

/// The place where a fold stopped; see `kraftops.engine.fold_contract.FoldProgress`.
#[pyclass(frozen)]
#[derive(Default, Clone)]
pub struct FoldProgress {
    #[pyo3(get)]
    position: usize,
    #[pyo3(get)]
    number: i64,
    /// The beginning of the last record that was read.
    #[pyo3(get)]
    last: usize,
    marker: Option<(Op, i32)>,
    #[pyo3(get)]
    is_malformed: bool,
    #[pyo3(get)]
    has_changes: bool,
    #[pyo3(get)]
    applied: u64,
    #[pyo3(get)]
    dropped: u64,
    #[pyo3(get)]
    unreadable: u64,
}

#[pymethods]
impl FoldProgress {
    #[getter]
    fn marker(&self) -> Option<i32> {
        self.marker.map(|(_, number)| number)
    }
}

type Applied = Result<(), Reason>;

/// The records of a batch, read one by one.
struct Records<'a> {
    reader: Reader<'a>,
    header: Header,
    number: i64,
    stop: i64,
    is_malformed: bool,
}

/// A record that was read, or the reason why it cannot be, and its beginning and end in the batch.
struct ReadRecord<'a> {
    start: usize,
    end: usize,
    /// Its time after that of its batch, in ms.
    time: i64,
    metadata: Result<MetadataRecord<'a>, String>,
    /// The place of the topic that it changes, as far as it was looked up.
    topic: Option<usize>,
}

impl<'a> Records<'a> {
    fn new(data: &'a [u8], position: usize, number: i64, stop: i64) -> Self {
        Records {
            reader: Reader::new(data, position),
            header: Header::bare(0),
            number,
            stop,
            is_malformed: false,
        }
    }

    #[inline(always)]
    fn next(&mut self, rules: &'a Rules) -> Option<ReadRecord<'a>> {
        if self.number >= self.stop || self.is_malformed {
            return None;
        }
        let start = self.reader.at;
        let Ok(record) = read_record(&mut self.reader, &self.header) else {
            self.is_malformed = true;
            return None;
        };
        self.number += 1;
        Some(ReadRecord {
            start,
            end: self.reader.at,
            time: record.time,
            metadata: rules.read(&record),
            topic: None,
        })
    }
}

impl FoldProgress {
    fn new(position: usize, number: i64) -> Self {
        FoldProgress {
            position,
            number,
            last: position,
            ..FoldProgress::default()
        }
    }

    fn pass(&mut self, record: &ReadRecord) {
        self.last = record.start;
        self.position = record.end;
        self.number += 1;
    }
}

/// The number of records that are read before the first of them is applied.
const GROUP: usize = 32;

pub struct Fold {
    rules: Arc<Rules>,
    limits: Limits,
    is_seeded: bool,
    unit: Unit,
    dropped: Dropped,
    watch: Watch,
    timeline: Option<Box<Timeline>>,
    topics: Topics,
    brokers: OrderedMap<i32, Broker>,
    controllers: OrderedMap<i32, u64>,
    /// Configurations by resource, and by the numbers of their names.
    configs: NestedMap<(i8, String), u32>,
    config_names: Texts,
    quotas: NestedMap<QuotaEntity, String>,
    acls: OrderedMap<Id, u64>,
    scram: NestedMap<i8, String>,
    tokens: OrderedMap<String, u64>,
    features: OrderedMap<String, (i16, u64)>,
    metadata_version: Option<(i16, u64)>,
    producer_ids: Option<u64>,
}

impl Fold {
    fn new(rules: Arc<Rules>, described: &Bound<PyDict>) -> PyResult<Fold> {
        let item = |name: &str| crate::decode::item(described, name);
        Ok(Fold {
            rules,
            limits: Limits {
                version_name: item("version_name")?.extract()?,
                levels: item("levels")?.extract()?,
                quorum_name: item("quorum_name")?.extract()?,
                topic_resource: item("topic_resource")?.extract()?,
                protocols: item("protocols")?.extract()?,
                recoveries: item("recoveries")?.extract()?,
                kept_leader: item("kept_leader")?.extract()?,
                lost_directory: item("lost_directory")?.extract()?,
                reserved_directories: item("reserved_directories")?.extract()?,
                min_isr: MinIsrRules {
                    topic_resource: item("topic_resource")?.extract()?,
                    broker_resource: item("broker_resource")?.extract()?,
                    name: item("min_isr")?.extract()?,
                    default: item("default_min_isr")?.extract()?,
                    kept_leader: item("kept_leader")?.extract()?,
                },
                most_brokers: item("most_brokers")?.extract()?,
            },
            is_seeded: false,
            unit: Unit::default(),
            dropped: Dropped::default(),
            watch: Watch::default(),
            timeline: None,
            topics: Topics::default(),
            brokers: OrderedMap::default(),
            controllers: OrderedMap::default(),
            configs: OrderedMap::default(),
            config_names: Texts::default(),
            quotas: OrderedMap::default(),
            acls: OrderedMap::default(),
            scram: OrderedMap::default(),
            tokens: OrderedMap::default(),
            features: OrderedMap::default(),
            metadata_version: None,
            producer_ids: None,
        })
    }

    /// Return a fold with the same state, without watched entries and timeline.
    fn copy(&self) -> Fold {
        Fold {
            rules: Arc::clone(&self.rules),
            limits: self.limits.clone(),
            is_seeded: self.is_seeded,
            unit: self.unit.clone(),
            dropped: self.dropped.clone(),
            watch: Watch::default(),
            timeline: None,
            topics: self.topics.clone(),
            brokers: self.brokers.clone(),
            controllers: self.controllers.clone(),
            configs: self.configs.clone(),
            config_names: self.config_names.clone(),
            quotas: self.quotas.clone(),
            acls: self.acls.clone(),
            scram: self.scram.clone(),
            tokens: self.tokens.clone(),
            features: self.features.clone(),
            metadata_version: self.metadata_version,
            producer_ids: self.producer_ids,
        }
    }

    /// About the number of bytes that a copy takes.
    fn size(&self) -> usize {
        let nested = |count: usize, inner: usize| (count + inner) * ENTRY_BYTES;
        let configs = nested(self.configs.len(), self.configs.inner_len());
        let quotas = nested(self.quotas.len(), self.quotas.inner_len());
        let scram = nested(self.scram.len(), self.scram.inner_len());
        let others = [
            self.brokers.len(),
            self.controllers.len(),
            self.acls.len(),
            self.tokens.len(),
            self.features.len(),
        ];
        let others = others.iter().sum::<usize>() * ENTRY_BYTES;
        self.topics.size() + self.dropped.size() + configs + quotas + scram + others
    }

    fn begin_unit(&mut self) {
        let unit = &mut self.unit;
        if !(unit.topics.is_empty() && unit.acls.is_empty() && unit.configs.is_empty()) {
            unit.topics.clear();
            unit.names.clear();
            unit.acls.clear();
            unit.configs.clear();
        }
    }

    /// Apply the records *number* to *stop* of a batch, the first of which is at *position*.
    fn apply(
        &mut self,
        data: &[u8],
        address: u64,
        position: usize,
        number: i64,
        stop: i64,
    ) -> FoldProgress {
        self.watch.changes.clear();
        let rules = Arc::clone(&self.rules);
        let mut records = Records::new(data, position, number, stop);
        let mut progress = FoldProgress::new(position, number);
        let mut timeline = self.timeline.take();
        let mut group = [const { None }; GROUP];
        let is_stopped = loop {
            let mut count = 0;
            for place in &mut group {
                *place = records.next(&rules);
                if place.is_none() {
                    break;
                }
                count += 1;
            }
            if count == 0 {
                break false;
            }
            let group = group.get_mut(..count).unwrap_or(&mut []);
            self.touch(group, timeline.as_deref());
            let is_stopped = group.iter().flatten().any(|record| {
                progress.pass(record);
                let place = address + record.start as u64;
                self.apply_one(record, place, &mut progress, timeline.as_deref_mut())
            });
            if is_stopped {
                break true;
            }
        };
        progress.is_malformed = records.is_malformed && !is_stopped;
        self.timeline = timeline;
        progress
    }

    /// Apply a record; tell whether it is one to stop after.
    #[inline(always)]
    fn apply_one(
        &mut self,
        record: &ReadRecord,
        place: u64,
        progress: &mut FoldProgress,
        mut timeline: Option<&mut Timeline>,
    ) -> bool {
        if let Some(timeline) = &mut timeline {
            timeline.tick(record.time, place);
        }
        match &record.metadata {
            Ok(metadata) if metadata.op.is_marker() => {
                progress.marker = Some((metadata.op, metadata.number));
                return true;
            }
            Ok(metadata) => {
                if let Some(topic) = record.topic {
                    self.topics.hint = topic;
                }
                match self.apply_record(metadata, place) {
                    Ok(()) => {
                        progress.applied += 1;
                        if let Some(timeline) = timeline {
                            self.note_in(timeline, metadata, place);
                        }
                    }
                    Err(reason) => {
                        progress.dropped += 1;
                        self.dropped.add(place, reason.text());
                    }
                }
            }
            Err(reason) => {
                progress.dropped += 1;
                progress.unreadable += 1;
                self.dropped.add(place, reason);
            }
        }
        progress.has_changes = !self.watch.changes.is_empty();
        progress.has_changes
    }

    /// Read the state of the partitions that a group of records has.
    ///
    /// They lie all over the memory. The processor waits for several of them at once here, and for
    /// none when the records are applied.
    fn touch(&self, group: &mut [Option<ReadRecord>], timeline: Option<&Timeline>) {
        let mut chosen = [(usize::MAX, 0); GROUP];
        let mut count = 0;
        let (mut last, mut place) = (Id::default(), None);
        for record in group.iter_mut().flatten() {
            let Ok(metadata) = &record.metadata else {
                continue;
            };
            if matches!(metadata.op, Op::PutPartition | Op::ChangePartition) {
                let id = metadata.fields.uuid(slot::TOPIC).unwrap_or_default();
                if id != last {
                    (last, place) = (id, self.topics.place(&id));
                }
                record.topic = place;
                if let (Some(topic_place), Some(place)) = (record.topic, chosen.get_mut(count)) {
                    *place = (
                        topic_place,
                        metadata.fields.int32(slot::NUMBER).unwrap_or_default(),
                    );
                    count += 1;
                }
            }
        }
        let chosen = chosen.get(..count).unwrap_or(&[]);
        // Each step reads one thing of each record: only then the next depends on it.
        let mut topics = [None; GROUP];
        for (topic, (topic_place, _)) in topics.iter_mut().zip(chosen) {
            *topic = self.topics.at(*topic_place);
        }
        let mut places = [usize::MAX; GROUP];
        for ((place, topic), (_, number)) in places.iter_mut().zip(&topics).zip(chosen) {
            *place = topic.map_or(usize::MAX, |topic| topic.touch(*number));
        }
        let mut seen = 0;
        for place in places.iter().take(count) {
            seen ^= self.topics.touch(*place);
            seen ^= timeline.map_or(0, |timeline| timeline.touch(*place));
        }
        std::hint::black_box(seen);
    }

    /// Have a timeline take a record that was applied, and its changes of entries.
    #[inline]
    fn note_in(&mut self, timeline: &mut Timeline, record: &MetadataRecord, address: u64) {
        if !self.watch.changes.is_empty() {
            timeline.keep(self.watch.changes.drain(..), address);
        }
        let fields = &record.fields;
        let topic_place = match record.op {
            // The slot of the id.
            Op::PutTopic => self.topics.find(&fields.uuid(0).unwrap_or_default()),
            Op::PutPartition | Op::ChangePartition => self
                .topics
                .find(&fields.uuid(slot::TOPIC).unwrap_or_default()),
            _ => None,
        };
        let named = (topic_place, self.topics.removed.take());
        timeline.apply(record, address, &mut self.topics, named, |topic| {
            let resource = (self.limits.topic_resource, topic.to_string());
            let name = self.config_names.known(&self.limits.min_isr.name);
            let entry = self.configs.get(&resource).zip(name);
            entry.is_some_and(|(keys, name)| keys.has(&name))
        });
    }

    /// Read records up to the next marker, without applying them.
    fn skim(&self, data: &[u8], position: usize, number: i64, stop: i64) -> FoldProgress {
        let mut records = Records::new(data, position, number, stop);
        let mut progress = FoldProgress::new(position, number);
        while let Some(record) = records.next(&self.rules) {
            progress.pass(&record);
            match &record.metadata {
                Ok(metadata) if metadata.op.is_marker() => {
                    progress.marker = Some((metadata.op, metadata.number));
                    return progress;
                }
                Ok(_) => {}
                Err(_) => progress.unreadable += 1,
            }
        }
        progress.is_malformed = records.is_malformed;
        progress
    }

    fn apply_record(&mut self, record: &MetadataRecord, address: u64) -> Applied {
        let fields = &record.fields;
        match record.op {
            Op::Nothing | Op::Begin | Op::End | Op::Abort => Ok(()),
            Op::PutPartition => self.put_partition(fields, address),
            Op::ChangePartition => self.change_partition(fields, address),
            Op::PutTopic => self.put_topic(fields, address),
            Op::RemoveTopic => self.remove_topic(fields),
            Op::ClearElr => self.clear_elr(fields, address),
            Op::RegisterBroker => self.register_broker(fields, address),
            Op::UnregisterBroker => self.unregister_broker(fields),
            Op::FenceBroker | Op::UnfenceBroker | Op::ChangeBroker => {
                self.change_broker(record.op, fields, address)
            }
            Op::RegisterController => self.register_controller(record, address),
            Op::PutConfig => self.put_config(fields, address),
            Op::PutQuota => self.put_quota(record, address),
            Op::PutProducerIds => self.put_producer_ids(address),
            Op::PutAcl => self.put_acl(fields, address),
            Op::RemoveAcl => self.remove_acl(fields),
            Op::PutScram => self.change_scram(fields, Some(address)),
            Op::RemoveScram => self.change_scram(fields, None),
            Op::PutToken => self.change_token(fields, Some(address)),
            Op::RemoveToken => self.change_token(fields, None),
            Op::PutFeature => self.put_feature(fields, address),
        }
    }
}

/// The text in a slot as Java reads it; empty without one.
fn text_of(fields: &LocatedFields, slot: usize) -> String {
    fields.text(slot).map(java_text).unwrap_or_default()
}

/// A text of a record as Java reads it.
fn java_text(raw: &[u8]) -> String {
    match std::str::from_utf8(raw) {
        Ok(text) => text.into(),
        Err(_) => {
            let mut out = Vec::new();
            text::java_utf8(&mut out, raw);
            String::from_utf8_lossy(&out).into_owned()
        }
    }
}
