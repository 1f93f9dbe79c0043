//! The state that the records of a metadata log make, folded record by record.
//!
//! The rules are those of Kafka's `MetadataDelta` and its parts; `kraftops.engine.fold_contract` says what
//! a fold is, and `kraftops.engine.reference` has the same in Python.
mod changing;
mod health;
mod index;
mod python;
mod rules;
mod running;
mod state;
mod tables;
mod topics;
mod touch;

use crate::batch::{Header, read_record};
use crate::read::Reader;
use crate::text;
use pyo3::prelude::*;
use pyo3::types::PyDict;
pub use python::{PyFold, PyRules};
use rules::{Op, Read, Rules};
use std::collections::HashMap;
use std::sync::Arc;
use tables::{Nested, Table};
use topics::{Id, Topics};
use touch::{Entity, TableName, Watches};

const UNKNOWN_TOPIC: &str = "there is no topic with this id";
const UNKNOWN_PARTITION: &str = "there is no such partition";
const WRONG_COUNT: &str = "its directories are not as many as its replicas";

/// A registration: the records that make its state, and how many came to make it.
struct Broker {
    epoch: i64,
    base: u64,
    /// The last records that said whether it is fenced, and so on.
    said: [Option<u64>; 4],
    newest: u64,
    records: u32,
}

/// What is known of the numbers that records may have.
struct Limits {
    /// The name of the feature that all else depends on, and its levels.
    version_name: String,
    levels: (i16, i16),
    /// A feature that the quorum keeps for itself.
    quorum_name: String,
    topic_resource: i8,
    protocols: i64,
    recoveries: i8,
    kept_leader: i32,
}

/// What the batch, or transaction, that is in work has changed: how things were before.
#[derive(Default)]
struct Unit {
    topics: HashMap<Id, Option<Arc<str>>>,
    names: HashMap<Arc<str>, bool>,
    acls: HashMap<Id, bool>,
    configs: HashMap<(i8, String), bool>,
}

/// Records that were left out: 12 bytes for each, since a hostile log can have millions.
#[derive(Default)]
struct Dropped {
    addresses: Vec<u64>,
    reasons: Vec<u32>,
    texts: Vec<Arc<str>>,
    known: HashMap<Arc<str>, u32>,
}

impl Dropped {
    fn add(&mut self, address: u64, reason: &str) {
        let at = match self.known.get(reason) {
            Some(at) => *at,
            None => {
                let text: Arc<str> = reason.into();
                let at = self.texts.len() as u32;
                self.texts.push(Arc::clone(&text));
                self.known.insert(text, at);
                at
            }
        };
        self.addresses.push(address);
        self.reasons.push(at);
    }

    fn cut(&mut self, count: usize) {
        self.addresses.truncate(count);
        self.reasons.truncate(count);
    }

    fn get(&self, at: usize) -> Option<(u64, &str)> {
        let reason = *self.reasons.get(at)? as usize;
        Some((*self.addresses.get(at)?, self.texts.get(reason)?))
    }
}

/// What became of a record.
enum Done {
    Applied,
    Dropped(Reason),
    Unreadable(String),
    Marker(Op, i32),
}

/// Why a record cannot apply.
enum Reason {
    Fixed(&'static str),
    Made(String),
}

type Applied = Result<(), Reason>;

impl From<&'static str> for Reason {
    fn from(text: &'static str) -> Self {
        Reason::Fixed(text)
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Reason::Made(text)
    }
}

impl Reason {
    fn text(&self) -> &str {
        match self {
            Reason::Fixed(text) => text,
            Reason::Made(text) => text,
        }
    }
}

/// Where a fold stopped; see `kraftops.engine.fold_contract.FoldProgress`.
#[derive(Default, Clone)]
pub struct Stop {
    position: usize,
    number: i64,
    /// Where the last record that was read begins.
    last: usize,
    marker: Option<(Op, i32)>,
    is_odd: bool,
    is_touched: bool,
    applied: u64,
    dropped: u64,
    unreadable: u64,
}

pub struct Fold {
    rules: Arc<Rules>,
    limits: Limits,
    is_seeded: bool,
    unit: Unit,
    dropped: Dropped,
    watches: Watches,
    topics: Topics,
    brokers: Table<i32, Broker>,
    controllers: Table<i32, u64>,
    configs: Nested<(i8, String), String>,
    quotas: Nested<Entity, String>,
    acls: Table<Id, u64>,
    scram: Nested<i8, String>,
    tokens: Table<String, u64>,
    features: Table<String, (i16, u64)>,
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
            },
            is_seeded: false,
            unit: Unit::default(),
            dropped: Dropped::default(),
            watches: Watches::default(),
            topics: Topics::default(),
            brokers: Table::default(),
            controllers: Table::default(),
            configs: Table::default(),
            quotas: Table::default(),
            acls: Table::default(),
            scram: Table::default(),
            tokens: Table::default(),
            features: Table::default(),
            metadata_version: None,
            producer_ids: None,
        })
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
    ) -> Stop {
        self.watches.touched.clear();
        let rules = Arc::clone(&self.rules);
        let header = Header::bare(0);
        let mut reader = Reader::new(data, position);
        let mut done = Stop {
            number,
            last: position,
            ..Stop::default()
        };
        while done.number < stop {
            let at = reader.at;
            let Ok(record) = read_record(&mut reader, &header) else {
                done.is_odd = true;
                reader.at = at;
                break;
            };
            done.number += 1;
            done.last = at;
            let place = address + at as u64;
            let found = match rules.read(&record) {
                Ok(read) if read.op.is_marker() => Done::Marker(read.op, read.number),
                Ok(read) => match self.one(&read, place) {
                    Ok(()) => Done::Applied,
                    Err(reason) => Done::Dropped(reason),
                },
                Err(reason) => Done::Unreadable(reason),
            };
            match found {
                Done::Applied => done.applied += 1,
                Done::Dropped(reason) => {
                    done.dropped += 1;
                    self.dropped.add(place, reason.text());
                }
                Done::Unreadable(reason) => {
                    done.dropped += 1;
                    done.unreadable += 1;
                    self.dropped.add(place, &reason);
                }
                Done::Marker(op, number) => {
                    done.marker = Some((op, number));
                    break;
                }
            }
            if !self.watches.touched.is_empty() {
                done.is_touched = true;
                break;
            }
        }
        done.position = reader.at;
        done
    }

    /// Read over records to the next marker.
    fn skim(&self, data: &[u8], position: usize, number: i64, stop: i64) -> Stop {
        let header = Header::bare(0);
        let mut reader = Reader::new(data, position);
        let mut done = Stop {
            number,
            last: position,
            ..Stop::default()
        };
        while done.number < stop && done.marker.is_none() {
            let at = reader.at;
            let Ok(record) = read_record(&mut reader, &header) else {
                done.is_odd = true;
                reader.at = at;
                break;
            };
            done.number += 1;
            done.last = at;
            match self.rules.read(&record) {
                Ok(read) if read.op.is_marker() => done.marker = Some((read.op, read.number)),
                Ok(_) => {}
                Err(_) => done.unreadable += 1,
            }
        }
        done.position = reader.at;
        done
    }

    fn one(&mut self, read: &Read, address: u64) -> Applied {
        let fields = &read.fields;
        match read.op {
            Op::Nothing | Op::Begin | Op::End | Op::Abort => Ok(()),
            Op::PutPartition => self.put_partition(fields, address),
            Op::ChangePartition => self.change_partition(fields, address),
            Op::PutTopic => self.put_topic(fields, address),
            Op::RemoveTopic => self.remove_topic(fields),
            Op::ClearElr => self.clear_elr(fields, address),
            Op::RegisterBroker => self.register_broker(fields, address),
            Op::UnregisterBroker => self.unregister_broker(fields),
            Op::FenceBroker | Op::UnfenceBroker | Op::ChangeBroker => {
                self.change_broker(read.op, fields, address)
            }
            Op::RegisterController => self.register_controller(read, address),
            Op::PutConfig => self.put_config(fields, address),
            Op::PutQuota => self.put_quota(read, address),
            Op::PutProducerIds => {
                let before = self.producer_ids.replace(address);
                let after = Some(address);
                self.watches
                    .note(TableName::ProducerIds, before, after, Vec::new);
                Ok(())
            }
            Op::PutAcl => self.put_acl(fields, address),
            Op::RemoveAcl => self.remove_acl(fields),
            Op::PutScram | Op::RemoveScram => {
                self.change_scram(fields, (read.op == Op::PutScram).then_some(address))
            }
            Op::PutToken | Op::RemoveToken => {
                self.change_token(fields, (read.op == Op::PutToken).then_some(address))
            }
            Op::PutFeature => self.put_feature(fields, address),
        }
    }
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
