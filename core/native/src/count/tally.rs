//! The numbers of many batches (`kraftops.engine.count_contract.Tally`).
use super::transactions::Transactions;
use super::{Amounts, Counted, Counts, Inflated};
use crate::batch::{CODECS, HEADER_SIZE, Header};
use crate::decode::Control;
use pyo3::prelude::*;
use std::collections::HashMap;

/// The entries after which a tally is taken, about.
const MOST_ENTRIES: usize = 1 << 16;
/// The buckets of a `History`, and gaps that are listed; both as in Python.
const MOST_BUCKETS: i64 = 60;
const MOST_GAPS: usize = 10;

/// The offsets of consecutive batches (`kraftops.dump.summary.sketches`).
#[derive(Default)]
pub(super) struct Span {
    pub ends: Option<(i64, i64)>,
    pub gaps: Vec<(i64, i64)>,
    pub gap_count: u64,
    pub missing: i128,
    pub backward: u64,
    pub removed: i128,
}

impl Span {
    fn add(&mut self, first: i64, last: i64, count: u64) {
        let begin = match self.ends {
            None => first,
            Some((begin, before)) => {
                if first <= before {
                    self.backward += 1;
                } else if first - 1 != before {
                    self.gap_count += 1;
                    self.missing += first as i128 - before as i128 - 1;
                    if self.gaps.len() < MOST_GAPS {
                        self.gaps.push((before, first));
                    }
                }
                begin
            }
        };
        self.ends = Some((begin, last));
        let removed = last as i128 - first as i128 + 1 - count as i128;
        self.removed += removed.max(0);
    }
}

/// Records and their bytes over time; see `kraftops.engine.count_contract.HistoryTally`.
#[pyclass(frozen, get_all, name = "HistoryTally")]
#[derive(Default, Clone)]
pub struct History {
    /// Each bucket has `1 << shift` ms.
    pub shift: u32,
    pub first: i64,
    pub buckets: Vec<(u64, u64)>,
}

impl History {
    fn add(&mut self, time: i64, count: u64, size: u64) {
        loop {
            let key = time >> self.shift;
            if self.buckets.is_empty() {
                self.first = key;
            }
            let last = self.first + self.buckets.len() as i64 - 1;
            if self.first.min(key) as i128 + (MOST_BUCKETS as i128) <= last.max(key) as i128 {
                self.widen();
                continue;
            }
            if key < self.first {
                let missing = (self.first - key) as usize;
                self.buckets
                    .splice(0..0, std::iter::repeat_n((0, 0), missing));
                self.first = key;
            }
            let place = (key - self.first) as usize;
            if place >= self.buckets.len() {
                self.buckets.resize(place + 1, (0, 0));
            }
            if let Some(bucket) = self.buckets.get_mut(place) {
                bucket.0 += count;
                bucket.1 += size;
            }
            return;
        }
    }

    fn widen(&mut self) {
        let first = self.first >> 1;
        let mut wide: Vec<(u64, u64)> = Vec::new();
        for (number, (count, size)) in self.buckets.iter().enumerate() {
            let place = (((self.first + number as i64) >> 1) - first) as usize;
            if place >= wide.len() {
                wide.resize(place + 1, (0, 0));
            }
            if let Some(bucket) = wide.get_mut(place) {
                bucket.0 += count;
                bucket.1 += size;
            }
        }
        (self.shift, self.first, self.buckets) = (self.shift + 1, first, wide);
    }
}

/// The numbers of the batches since the last one was taken.
#[derive(Default)]
pub(super) struct Tally {
    /// The highest end of a batch, exclusive.
    pub reach: Option<i64>,
    /// Numbers and bytes.
    pub batches: (u64, u64),
    pub records: (u64, u64),
    pub control_batches: u64,
    pub transactional_batches: u64,
    pub magics: Counts,
    pub sizes: Counts,
    pub records_per_batch: Counts,
    pub span: Span,
    pub times: Option<(i64, i64)>,
    pub history: History,
    /// First offset, batches, records, by leader epoch.
    pub epochs: HashMap<i32, (i64, u64, u64), foldhash::fast::RandomState>,
    /// Batches, bytes as stored and inflated, by codec.
    pub codecs: [(u64, u64, u64); CODECS.len()],
    pub amounts: Amounts,
    /// Numbers and bytes of control records by type.
    pub controls: HashMap<Option<i32>, (u64, u64)>,
    /// Position of the batch, offset, size and reason of records that cannot be read.
    pub errors: Vec<(i64, i64, u64, String)>,
    pub transactions: Transactions,
}

impl Tally {
    pub fn is_full(&self) -> bool {
        let numbers = self.sizes.len() + self.records_per_batch.len() + self.epochs.len();
        let records = self.amounts.list.len() + self.controls.len() + self.errors.len();
        numbers + records + self.transactions.len() > MOST_ENTRIES
    }

    /// Note that the log goes at least up to an offset, exclusive.
    pub fn reach(&mut self, end: i64) {
        self.reach = Some(self.reach.map_or(end, |known| known.max(end)));
    }

    /// Count the control records of a batch, and its records that cannot be read.
    pub fn note(&mut self, batch: &Inflated, counted: &Counted, control: &Control) {
        for (offset, size, reason) in &counted.errors {
            let error = (batch.position, *offset, *size, reason.clone());
            self.errors.push(error);
        }
        for (number, size) in &counted.controls {
            let control_counts = self.controls.entry(*number).or_default();
            control_counts.0 += 1;
            control_counts.1 += size;
            if let Some(is_commit) = number.and_then(|number| control.marker(number)) {
                self.transactions.add_marker(batch.header, is_commit);
            }
        }
    }

    /// Count a batch; *inflated* are the bytes of all its records.
    pub fn add_batch(&mut self, batch: &Inflated, inflated: u64, counted: &Counted) {
        let header = batch.header;
        let (mut first, mut last) = (header.base_offset, header.last_offset());
        let (mut first_time, mut last_time) = (header.base_time, header.max_time);
        if header.has_append_time_or_horizon() {
            first_time = last_time;
        }
        if let (Some(_), Some(offsets), Some(times)) =
            (&counted.numbers, counted.offsets, counted.times)
        {
            (first, last) = offsets;
            (first_time, last_time) = times;
        }
        let (count, is_whole) = (counted.count, counted.numbers.is_none());
        let size = if is_whole { inflated } else { counted.size };
        self.control_batches += header.is_control() as u64;
        self.transactional_batches += header.is_transactional() as u64;
        self.span.add(first, last, count);
        self.add_sizes(header, inflated, (count, size));
        self.add_times(first_time, last_time, (count, size));
        if !header.is_control() && header.producer_id >= 0 {
            self.transactions.add_batch(header, counted);
        }
    }

    fn add_sizes(&mut self, header: &Header, inflated: u64, (count, size): (u64, u64)) {
        let bytes = header.size as u64;
        self.batches = (self.batches.0 + 1, self.batches.1 + bytes);
        self.records = (self.records.0 + count, self.records.1 + size);
        *self.magics.entry(header.magic as u64).or_default() += 1;
        *self.sizes.entry(bytes).or_default() += 1;
        *self.records_per_batch.entry(count).or_default() += 1;
        if header.leader_epoch >= 0 {
            let begun = (header.base_offset, 0, 0);
            let epoch = self.epochs.entry(header.leader_epoch).or_insert(begun);
            epoch.1 += 1;
            epoch.2 += count;
        }
        if let Some(codec) = self.codecs.get_mut(header.codec()) {
            codec.0 += 1;
            codec.1 += bytes - HEADER_SIZE as u64;
            codec.2 += inflated;
        }
    }

    fn add_times(&mut self, first: i64, last: i64, (count, size): (u64, u64)) {
        if last < 0 {
            return; // -1: no timestamp
        }
        let first = if first >= 0 { first.min(last) } else { last };
        let (begin, end) = self.times.unwrap_or((first, last));
        self.times = Some((begin.min(first), end.max(last)));
        if count > 0 {
            self.history.add(last, count, size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_has_the_least_width_that_fits_its_buckets() {
        let mut history = History::default();
        for time in [1000, 1059, 1060, 999, 5000] {
            history.add(time, 1, 10);
        }
        assert_eq!(history.shift, 7);
        assert_eq!(history.first, 999 >> 7);
        assert_eq!(
            history
                .buckets
                .iter()
                .map(|bucket| bucket.0)
                .collect::<Vec<_>>()[..2],
            [2, 2]
        );
        assert_eq!(
            history.buckets.iter().map(|bucket| bucket.1).sum::<u64>(),
            50
        );
        history.add(i64::MAX, 1, 1);
        history.add(0, 1, 1);
        assert!(history.buckets.len() as i64 <= MOST_BUCKETS);
    }

    #[test]
    fn a_span_tells_gaps_from_steps_back() {
        let mut span = Span::default();
        for (first, last, count) in [(0, 9, 10), (12, 13, 1), (5, 5, 1), (6, i64::MAX, 1)] {
            span.add(first, last, count);
        }
        assert_eq!(span.ends, Some((0, i64::MAX)));
        assert_eq!(
            (span.gap_count, span.missing, span.backward, &*span.gaps),
            (1, 2, 1, &[(9, 12)][..])
        );
        assert_eq!(span.removed, 1 + (i64::MAX as i128 - 6));
    }
}
