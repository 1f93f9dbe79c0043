//! The ordinary batches of a window, applied at once.
use super::partition_state::POSITION_BITS;
use super::rules::Op;
use super::{Fold, FoldProgress};
use crate::batch::{HEADER_SIZE, Header, Next, next_batch};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The limits of ordinary batches; see `kraftops.engine.fold_contract.BatchBounds`.
#[derive(FromPyObject)]
pub struct BatchBounds {
    /// The base offset of the next batch of a log; none for snapshots.
    pub expected: Option<i64>,
    pub epoch: i32,
    pub after: i64,
    pub until: i64,
    pub time: i64,
}

/// The numbers for each batch in `WindowResult::batches`.
pub const BATCH_FIELDS: usize = 6;

/// See `kraftops.engine.fold_contract.BatchHead`.
#[pyclass(frozen, get_all)]
#[derive(Clone, Copy)]
pub struct BatchHead {
    base_offset: i64,
    last_offset: i64,
    epoch: i32,
    time: i64,
    records: i32,
}

/// The batches that were applied; see `kraftops.engine.fold_contract.WindowResult`.
#[pyclass(frozen)]
#[derive(Default)]
pub struct WindowResult {
    /// The end of the last batch that was applied.
    #[pyo3(get)]
    pub next: usize,
    /// For each batch: position after the start, checksum, number of records, and
    /// how many of these were applied, dropped and unreadable.
    pub batches: Vec<[i64; BATCH_FIELDS]>,
    /// Each marker that took effect: type, address, and the numbers that an end applied and dropped.
    #[pyo3(get)]
    pub transactions: Vec<(i32, u64, u64, u64)>,
    #[pyo3(get)]
    pub last: Option<BatchHead>,
    /// The newest time of all batches.
    #[pyo3(get)]
    pub newest: i64,
    /// The place inside the batch at `next` where the fold stopped, if it did.
    #[pyo3(get)]
    pub inside: Option<FoldProgress>,
}

#[pymethods]
impl WindowResult {
    /// The numbers as native 64-bit integers.
    #[getter]
    fn batches<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let numbers = self.batches.iter().flatten();
        let raw: Vec<u8> = numbers.flat_map(|number| number.to_ne_bytes()).collect();
        PyBytes::new(py, &raw)
    }
}

/// Records of an open transaction, in the batch at *start* of the window.
struct WaitingRecords {
    start: usize,
    size: usize,
    address: u64,
    position: usize,
    number: i64,
    stop: i64,
}

/// An open transaction, and the result at its beginning, to return to.
struct OpenTransaction {
    waiting: Vec<WaitingRecords>,
    next: usize,
    batches: usize,
    transactions: usize,
    dropped: usize,
    last: Option<BatchHead>,
    inside: FoldProgress,
}

impl BatchBounds {
    fn admit(&self, header: &Header) -> bool {
        let last = header.last_offset();
        let follows = match self.expected {
            None => true,
            Some(offset) => header.base_offset == offset && header.leader_epoch >= self.epoch,
        };
        follows
            && header.magic == 2
            && header.codec() == 0
            && !header.is_control()
            && header.count >= 0
            && header.last_delta >= 0
            && header.base_offset > self.after
            && last >= header.base_offset
            && last <= self.until
            && header.max_time <= self.time
    }

    fn advance(&mut self, header: &Header) {
        self.epoch = header.leader_epoch;
        let next = header.last_offset().wrapping_add(1);
        self.expected = self.expected.map(|_| next);
    }
}

impl Fold {
    /// Apply the ordinary batches of a window from *start* on; the first has number *first*.
    ///
    /// A transaction that does not end in the window is left where it begins, and each one while an
    /// entry is watched. Behind a change of a watched entry the window ends.
    pub fn apply_window(
        &mut self,
        window: &[u8],
        start: usize,
        first: u64,
        mut bounds: BatchBounds,
    ) -> WindowResult {
        let mut result = WindowResult {
            next: start,
            newest: i64::MIN,
            ..WindowResult::default()
        };
        let is_watching = self.is_watching();
        let mut open = None;
        let mut number = first;
        while let Next::Batch(header) = next_batch(window, result.next) {
            let Some(batch) = window.get(result.next..result.next + header.size) else {
                break;
            };
            if !bounds.admit(&header) || !header.is_valid(batch) {
                break;
            }
            let address = number << POSITION_BITS;
            let done = self.apply_batch(window, batch, address, &header, &mut result, &mut open);
            let is_left = done.number < header.count as i64 || done.position != batch.len();
            if is_left || done.has_changes || (is_watching && open.is_some()) {
                result.inside = Some(done);
                break;
            }
            bounds.advance(&header);
            result.batches.push([
                (result.next - start) as i64,
                header.crc as i64,
                header.count as i64,
                done.applied as i64,
                done.dropped as i64,
                done.unreadable as i64,
            ]);
            result.last = Some(BatchHead {
                base_offset: header.base_offset,
                last_offset: header.last_offset(),
                epoch: header.leader_epoch,
                time: header.max_time,
                records: header.count,
            });
            result.newest = result.newest.max(header.max_time);
            result.next += header.size;
            number += 1;
        }
        if let Some(open) = open {
            result.next = open.next;
            result.batches.truncate(open.batches);
            result.transactions.truncate(open.transactions);
            result.last = open.last;
            result.inside = Some(open.inside);
            self.dropped.truncate(open.dropped);
        }
        result
    }

    /// Apply the records of a batch, or keep them for the end of their transaction.
    ///
    /// The result counts the whole batch. `kraftops.image.replay.replay` has the same rules of
    /// transactions, and goes on inside them.
    fn apply_batch(
        &mut self,
        window: &[u8],
        batch: &[u8],
        address: u64,
        header: &Header,
        result: &mut WindowResult,
        open: &mut Option<OpenTransaction>,
    ) -> FoldProgress {
        self.begin_unit();
        let count = header.count as i64;
        let mut sum = FoldProgress {
            position: HEADER_SIZE,
            ..FoldProgress::default()
        };
        while sum.number < count && !sum.is_malformed && !sum.has_changes {
            let is_open = open.is_some();
            let group = if is_open {
                self.skim(batch, sum.position, sum.number, count)
            } else {
                self.set_clock(header);
                self.apply(batch, address, sum.position, sum.number, count)
            };
            if let Some(open) = open {
                open.waiting.push(WaitingRecords {
                    start: result.next,
                    size: batch.len(),
                    address,
                    position: sum.position,
                    number: sum.number,
                    stop: group.number - group.marker.is_some() as i64,
                });
            }
            sum = FoldProgress {
                applied: sum.applied + group.applied,
                dropped: sum.dropped + group.dropped,
                unreadable: sum.unreadable + group.unreadable,
                ..group
            };
            let Some((op, kind)) = sum.marker else {
                continue;
            };
            let marker = address + sum.last as u64;
            match (op, open.take()) {
                (Op::Begin, None) => {
                    *open = Some(OpenTransaction {
                        waiting: Vec::new(),
                        next: result.next,
                        batches: result.batches.len(),
                        transactions: result.transactions.len(),
                        dropped: self.dropped.count(),
                        last: result.last,
                        inside: sum.clone(),
                    });
                    result.transactions.push((kind, marker, 0, 0));
                    self.begin_unit();
                    if self.is_watching() {
                        break;
                    }
                }
                (Op::Begin, still) => {
                    *open = still;
                    sum.dropped += 1;
                    self.dropped
                        .add(marker, "a metadata transaction is open already");
                }
                (Op::End, Some(ended)) => {
                    let (applied, dropped) = self.apply_waiting(window, &ended.waiting);
                    result.transactions.push((kind, marker, applied, dropped));
                }
                (_, Some(_)) => result.transactions.push((kind, marker, 0, 0)),
                (_, None) => {
                    sum.dropped += 1;
                    self.dropped.add(marker, "no metadata transaction is open");
                }
            }
            sum.marker = None;
        }
        sum
    }

    /// Tell whether `apply` stops after changes of entries.
    fn is_watching(&self) -> bool {
        !self.watch.is_empty() && self.timeline.is_none()
    }

    fn apply_waiting(&mut self, window: &[u8], waiting: &[WaitingRecords]) -> (u64, u64) {
        let (mut applied, mut dropped) = (0, 0);
        for records in waiting {
            let batch = window
                .get(records.start..records.start + records.size)
                .unwrap_or(b"");
            if let Next::Batch(header) = next_batch(batch, 0) {
                self.set_clock(&header);
            }
            let done = self.apply(
                batch,
                records.address,
                records.position,
                records.number,
                records.stop,
            );
            applied += done.applied;
            dropped += done.dropped;
        }
        (applied, dropped)
    }

    /// Have the timeline, if there is one, take the times of a batch.
    fn set_clock(&mut self, header: &Header) {
        if let Some(timeline) = &mut self.timeline {
            let append_time = header.is_append_time().then_some(header.max_time);
            timeline.set_clock(header.base_time, append_time);
        }
    }
}
