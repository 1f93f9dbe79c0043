//! The producers of batches and their transactions (`kraftops.dump.summary.transactions`).
use super::{Counted, Counts};
use crate::batch::Header;
use std::collections::{HashMap, HashSet};

/// The first record of a transaction: offset and time.
pub(super) type Begin = (i64, i64);

/// A producer with transactions; the fields are those of the class in Python.
#[derive(Default)]
pub(super) struct Producer {
    pub epoch: i16,
    pub batches: u64,
    pub records: u64,
    pub committed: u64,
    pub aborted: u64,
    pub head: Option<Begin>,
    pub first_end: Option<i64>,
    pub tail: Option<Begin>,
}

#[derive(Default)]
pub(super) struct Transactions {
    pub committed: u64,
    pub aborted: u64,
    /// Durations in ms.
    pub durations: Counts,
    pub producers: HashMap<i64, Producer, foldhash::fast::RandomState>,
    pub idempotent: HashSet<i64, foldhash::fast::RandomState>,
    last_idempotent: Option<i64>,
}

impl Transactions {
    pub fn len(&self) -> usize {
        self.durations.len() + self.producers.len() + self.idempotent.len()
    }

    /// Count a batch of data with a producer id, or the part of its records that counts.
    pub fn add_batch(&mut self, header: &Header, counted: &Counted) {
        let id = header.producer_id;
        if !header.is_transactional() {
            if self.last_idempotent != Some(id) {
                self.last_idempotent = Some(id);
                self.idempotent.insert(id);
            }
            return;
        }
        let producer = self.producers.entry(id).or_default();
        producer.epoch = header.producer_epoch;
        producer.batches += 1;
        producer.records += counted.count;
        let begin = match (&counted.numbers, counted.offsets, counted.times) {
            (Some(_), Some((offset, _)), Some((time, _))) => (offset, time),
            _ if header.has_append_time_or_horizon() => (header.base_offset, header.max_time),
            _ => (header.base_offset, header.base_time),
        };
        let open = match producer.first_end {
            None => &mut producer.head,
            Some(_) => &mut producer.tail,
        };
        open.get_or_insert(begin);
    }

    /// Count a transaction marker in a control batch.
    pub fn add_marker(&mut self, header: &Header, is_commit: bool) {
        self.committed += is_commit as u64;
        self.aborted += !is_commit as u64;
        let producer = self.producers.entry(header.producer_id).or_default();
        producer.epoch = header.producer_epoch;
        producer.committed += is_commit as u64;
        producer.aborted += !is_commit as u64;
        if producer.first_end.is_none() {
            producer.first_end = Some(header.max_time);
        } else if let Some((_, begun)) = producer.tail.take() {
            let duration = (header.max_time as i128 - begun as i128).max(0) as u64;
            *self.durations.entry(duration).or_default() += 1;
        }
    }
}
