//! The largest records and batches, the most frequent keys and the largest producers.
use super::{Counted, Inflated, Label};
use crate::batch::Record;
use pyo3::prelude::*;
use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;

/// See `kraftops.engine.count_contract.LargeRecord`.
#[pyclass(frozen, get_all)]
#[derive(Clone)]
pub struct LargeRecord {
    pub size: u64,
    pub position: i64,
    pub offset: i64,
    pub timestamp: i64,
    pub key_size: Option<usize>,
    pub value_size: Option<usize>,
    pub label: Label,
}

/// See `kraftops.engine.count_contract.LargeBatch`.
#[pyclass(frozen, get_all)]
#[derive(Clone)]
pub struct LargeBatch {
    pub size: u64,
    pub position: i64,
    pub base_offset: i64,
    pub records: u64,
    pub codec: &'static str,
    pub producer_id: Option<i64>,
}

impl LargeRecord {
    fn rank(&self) -> (Reverse<u64>, i64, i64) {
        (Reverse(self.size), self.offset, self.position)
    }
}

impl LargeBatch {
    fn rank(&self) -> (Reverse<u64>, i64, i64) {
        (Reverse(self.size), self.base_offset, self.position)
    }
}

/// The limits of `Tops`: frequent keys or producers, bytes of a key, largest records or batches.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub keys: usize,
    pub key_size: usize,
    pub largest: usize,
}

/// The most frequent keys (`kraftops.engine.heavy_hitters`).
pub(super) struct HeavyHitters<Key> {
    most: usize,
    pub counts: HashMap<Key, u64, foldhash::fast::RandomState>,
    pub total: u64,
    pub error: u64,
}

impl<Key: Hash + Eq> HeavyHitters<Key> {
    fn new(most: usize) -> Self {
        HeavyHitters {
            most,
            counts: HashMap::default(),
            total: 0,
            error: 0,
        }
    }

    fn add<Found>(&mut self, key: &Found, weight: u64, own: impl FnOnce(&Found) -> Key)
    where
        Key: Borrow<Found>,
        Found: Hash + Eq + ?Sized,
    {
        self.total += weight;
        if let Some(count) = self.counts.get_mut(key) {
            *count += weight;
            return;
        }
        self.counts.insert(own(key), weight);
        if self.counts.len() > 2 * self.most {
            let mut counts: Vec<u64> = self.counts.values().copied().collect();
            let (_, cut, _) = counts.select_nth_unstable_by_key(self.most, |n| Reverse(*n));
            let cut = *cut;
            self.error += cut;
            self.counts.retain(|_, count| {
                *count = count.saturating_sub(cut);
                *count > 0
            });
        }
    }
}

pub(super) struct Tops {
    limits: Limits,
    pub keys: HeavyHitters<Box<[u8]>>,
    pub keyless: u64,
    pub largest: Vec<LargeRecord>,
    /// Producers by the bytes of their records.
    pub producers: HeavyHitters<i64>,
    pub batches: Vec<LargeBatch>,
}

impl Tops {
    pub fn new(limits: Limits) -> Self {
        Tops {
            limits,
            keys: HeavyHitters::new(limits.keys),
            keyless: 0,
            largest: Vec::new(),
            producers: HeavyHitters::new(limits.keys),
            batches: Vec::new(),
        }
    }

    #[inline]
    pub fn add(&mut self, record: &Record, size: u64, position: i64, label: Label) {
        match record.key {
            None => self.keyless += 1,
            Some(key) if key.len() <= self.limits.key_size => self.add_key(key),
            Some(key) => {
                let mut short = key.get(..self.limits.key_size).unwrap_or(key).to_vec();
                short.extend_from_slice(&(key.len() as u64).to_be_bytes());
                short.extend_from_slice(&crc32c::crc32c(key).to_be_bytes());
                self.add_key(&short);
            }
        }
        let is_full = self.largest.len() >= self.limits.largest;
        if is_full && self.largest.last().is_some_and(|least| size < least.size) {
            return;
        }
        let large = LargeRecord {
            size,
            position,
            offset: record.offset,
            timestamp: record.time,
            key_size: record.key.map(<[u8]>::len),
            value_size: record.value.map(<[u8]>::len),
            label,
        };
        // Records of a damaged batch may have one offset: they stay in their order.
        let rank = self
            .largest
            .partition_point(|other| other.rank() <= large.rank());
        self.largest.insert(rank, large);
        self.largest.truncate(self.limits.largest);
    }

    /// Add a batch, unless it is a control batch.
    pub fn add_batch(&mut self, batch: &Inflated, counted: &Counted) {
        let header = batch.header;
        if header.is_control() {
            return;
        }
        let producer = (header.producer_id >= 0).then_some(header.producer_id);
        if let Some(id) = producer {
            self.producers.add(&id, counted.size, |id| *id);
        }
        let size = header.size as u64;
        let is_full = self.batches.len() >= self.limits.largest;
        if is_full && self.batches.last().is_some_and(|least| size < least.size) {
            return;
        }
        let large = LargeBatch {
            size,
            position: batch.position,
            base_offset: header.base_offset,
            records: counted.count,
            codec: header.codec_name(),
            producer_id: producer,
        };
        let rank = self
            .batches
            .partition_point(|batch| batch.rank() <= large.rank());
        self.batches.insert(rank, large);
        self.batches.truncate(self.limits.largest);
    }

    fn add_key(&mut self, key: &[u8]) {
        self.keys.add(key, 1, |key| key.into());
    }
}
