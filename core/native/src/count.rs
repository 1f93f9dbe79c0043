//! Counts of the selected records of batches (`kraftops.engine.count_contract`).
use crate::batch::{Header, Record, holds_its_records, read_record};
use crate::reader::Reader;
use crate::scan::Scan;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Type and version.
pub type Label = (Option<i32>, Option<i32>);

/// The counted records of a batch.
#[derive(Default)]
pub struct Counted {
    pub count: u64,
    pub size: u64,
    pub skipped: u64,
    pub offsets: Option<(i64, i64)>,
    pub times: Option<(i64, i64)>,
    pub amounts: Vec<(Label, u64, u64)>,
    /// Numbers in the batch, if some of its records are not counted.
    pub numbers: Option<Vec<u32>>,
    /// Offset, size and reason of records that cannot be read.
    pub errors: Vec<(i64, u64, String)>,
}

/// One of the largest records.
#[derive(Clone)]
pub struct Large {
    pub size: u64,
    pub position: i64,
    pub offset: i64,
    pub time: i64,
    pub key_size: Option<usize>,
    pub value_size: Option<usize>,
    pub label: Label,
}

impl Large {
    fn rank(&self) -> (Reverse<u64>, i64, i64) {
        (Reverse(self.size), self.offset, self.position)
    }
}

/// The limits of `Tops`: frequent keys, bytes of a key, largest records.
#[derive(Clone, Copy)]
pub struct Limits {
    pub keys: usize,
    pub key_size: usize,
    pub largest: usize,
}

/// The most frequent keys (`kraftops.engine.heavy_hitters`), and the largest records.
pub struct Tops {
    limits: Limits,
    pub keys: HashMap<Box<[u8]>, u64>,
    pub total: u64,
    pub error: u64,
    pub keyless: u64,
    pub largest: Vec<Large>,
}

impl Tops {
    pub fn new(limits: Limits) -> Self {
        Tops {
            limits,
            keys: HashMap::new(),
            total: 0,
            error: 0,
            keyless: 0,
            largest: Vec::new(),
        }
    }

    #[inline]
    fn add(&mut self, record: &Record, size: u64, position: i64, label: Label) {
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
        let large = Large {
            size,
            position,
            offset: record.offset,
            time: record.time,
            key_size: record.key.map(<[u8]>::len),
            value_size: record.value.map(<[u8]>::len),
            label,
        };
        // Records of a damaged batch may have one offset: they stay in their order.
        let at = self
            .largest
            .partition_point(|one| one.rank() <= large.rank());
        self.largest.insert(at, large);
        self.largest.truncate(self.limits.largest);
    }

    fn add_key(&mut self, key: &[u8]) {
        self.total += 1;
        if let Some(count) = self.keys.get_mut(key) {
            *count += 1;
            return;
        }
        self.keys.insert(key.into(), 1);
        if self.keys.len() > 2 * self.limits.keys {
            let mut counts: Vec<u64> = self.keys.values().copied().collect();
            let (_, cut, _) = counts.select_nth_unstable_by_key(self.limits.keys, |n| Reverse(*n));
            let cut = *cut;
            self.error += cut;
            self.keys.retain(|_, count| {
                *count = count.saturating_sub(cut);
                *count > 0
            });
        }
    }
}

pub struct Counter {
    scan: Scan,
    pub tops: Option<Tops>,
}

impl Counter {
    pub fn new(scan: Scan, tops: Option<Tops>) -> Self {
        Counter { scan, tops }
    }

    /// Count the selected *records* of *batch* from *at* on, at most *most* after *skip*.
    ///
    /// None if the bytes are not exactly the records in the header.
    pub fn add(
        &mut self,
        header: &Header,
        batch: &[u8],
        records: &[u8],
        at: usize,
        position: i64,
        (skip, most): (u64, u64),
    ) -> Option<Counted> {
        if !holds_its_records(records, at, header) {
            return None;
        }
        self.scan.begin(header, batch);
        let is_control = header.is_control();
        let mut reader = Reader::new(records, at);
        let mut found = Counted::default();
        let mut places: HashMap<Label, usize> = HashMap::new();
        let mut numbers = Vec::new();
        let total = header.count.max(0) as u32;
        for number in 0..total {
            if found.count >= most {
                break;
            }
            let from = reader.at;
            let record = read_record(&mut reader, header).ok()?;
            if !self.scan.selects(header, &record, position) {
                continue;
            }
            if found.skipped < skip {
                found.skipped += 1;
                continue;
            }
            let size = (reader.at - from) as u64;
            numbers.push(number);
            found.count += 1;
            found.size += size;
            let (offset, time) = (record.offset, record.time);
            let wider = |(least, most): (i64, i64), one: i64| (least.min(one), most.max(one));
            found.offsets = Some(wider(found.offsets.unwrap_or((offset, offset)), offset));
            found.times = Some(wider(found.times.unwrap_or((time, time)), time));
            if let Some(reason) = self.scan.error_of(header, &record) {
                found.errors.push((offset, size, reason));
            }
            if is_control {
                continue;
            }
            let label = self.scan.decoder.label(&record);
            let at = *places.entry(label).or_insert(found.amounts.len());
            match found.amounts.get_mut(at) {
                Some((_, count, bytes)) => {
                    *count += 1;
                    *bytes += size;
                }
                None => found.amounts.push((label, 1, size)),
            }
            if let Some(tops) = &mut self.tops {
                tops.add(&record, size, position, label);
            }
        }
        if found.count < total as u64 {
            found.numbers = Some(numbers);
        }
        Some(found)
    }
}
