//! Many batches at once: those of which nothing is to be said but what they do.
use super::rules::Op;
use super::state::POSITION_BITS;
use super::{Fold, Stop};
use crate::batch::{HEADER_SIZE, Header, Next, next_batch};

/// Which batches are ordinary: what they must follow, and the offsets and times that count.
pub struct Bounds {
    /// The offset that the next batch of a log is to have; none for snapshots.
    pub expected: Option<i64>,
    pub epoch: i32,
    pub after: i64,
    pub until: i64,
    pub time: i64,
}

/// Of a batch: base offset, last offset, epoch, newest time, count of records.
type Head = (i64, i64, i32, i64, i32);

/// What was done; see `kraftops.engine.fold_contract.WindowResult`.
#[derive(Default)]
pub struct Ran {
    /// Behind the last batch that was applied.
    pub next: usize,
    /// Of each batch: position behind the start, checksum, count of records, and how many of these
    /// were applied, dropped, and such as nobody can read.
    pub batches: Vec<i64>,
    /// Of each marker that was heeded: type, address, and records that an end applied and dropped.
    pub transactions: Vec<(i32, u64, u64, u64)>,
    pub last: Option<Head>,
    /// Where the fold stopped inside the batch at `next`, if it did.
    pub inside: Option<Stop>,
}

/// Records that wait for the end of their transaction, in the batch at *start* of the window.
struct Waiting {
    start: usize,
    size: usize,
    address: u64,
    position: usize,
    number: i64,
    stop: i64,
}

/// A transaction, and how to take back what was done since it was opened.
struct Open {
    waiting: Vec<Waiting>,
    next: usize,
    batches: usize,
    transactions: usize,
    dropped: usize,
    last: Option<Head>,
    inside: Stop,
}

impl Bounds {
    fn take(&self, header: &Header) -> bool {
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

    fn pass(&mut self, header: &Header) {
        self.epoch = header.leader_epoch;
        let next = header.last_offset().wrapping_add(1);
        self.expected = self.expected.map(|_| next);
    }
}

impl Fold {
    /// Apply the ordinary batches of a window, from *start* on; the first has number *first*.
    ///
    /// A transaction that does not end in the window is left where it begins.
    pub fn run(&mut self, window: &[u8], start: usize, first: u64, mut bounds: Bounds) -> Ran {
        let mut ran = Ran {
            next: start,
            ..Ran::default()
        };
        if !self.watches.is_empty() {
            return ran;
        }
        let mut open = None;
        let mut number = first;
        while let Next::Batch(header) = next_batch(window, ran.next) {
            let Some(batch) = window.get(ran.next..ran.next + header.size) else {
                break;
            };
            if !bounds.take(&header) || !header.is_valid(batch) {
                break;
            }
            let address = number << POSITION_BITS;
            let done = self.run_batch(window, batch, address, &header, &mut ran, &mut open);
            if done.number < header.count as i64 || done.position != batch.len() {
                ran.inside = Some(done);
                break;
            }
            bounds.pass(&header);
            ran.batches.extend([
                (ran.next - start) as i64,
                header.crc as i64,
                header.count as i64,
                done.applied as i64,
                done.dropped as i64,
                done.unreadable as i64,
            ]);
            ran.last = Some((
                header.base_offset,
                header.last_offset(),
                header.leader_epoch,
                header.max_time,
                header.count,
            ));
            ran.next += header.size;
            number += 1;
        }
        if let Some(open) = open {
            ran.next = open.next;
            ran.batches.truncate(open.batches);
            ran.transactions.truncate(open.transactions);
            ran.last = open.last;
            ran.inside = Some(open.inside);
            self.dropped.cut(open.dropped);
        }
        ran
    }

    /// Apply the records of a batch, or have them wait; what is told counts all of the batch.
    ///
    /// What becomes of transactions is as in `kraftops.image.replay.replay`, which takes over inside them.
    fn run_batch(
        &mut self,
        window: &[u8],
        batch: &[u8],
        address: u64,
        header: &Header,
        ran: &mut Ran,
        open: &mut Option<Open>,
    ) -> Stop {
        self.begin_unit();
        let count = header.count as i64;
        let mut sum = Stop {
            position: HEADER_SIZE,
            ..Stop::default()
        };
        while sum.number < count && !sum.is_odd {
            let is_open = open.is_some();
            let found = if is_open {
                self.skim(batch, sum.position, sum.number, count)
            } else {
                self.apply(batch, address, sum.position, sum.number, count)
            };
            if let Some(open) = open {
                open.waiting.push(Waiting {
                    start: ran.next,
                    size: batch.len(),
                    address,
                    position: sum.position,
                    number: sum.number,
                    stop: found.number - found.marker.is_some() as i64,
                });
            }
            sum = Stop {
                applied: sum.applied + found.applied,
                dropped: sum.dropped + found.dropped,
                unreadable: sum.unreadable + found.unreadable,
                ..found
            };
            let Some((op, kind)) = sum.marker else {
                continue;
            };
            let marker = address + sum.last as u64;
            match (op, open.take()) {
                (Op::Begin, None) => {
                    *open = Some(Open {
                        waiting: Vec::new(),
                        next: ran.next,
                        batches: ran.batches.len(),
                        transactions: ran.transactions.len(),
                        dropped: self.dropped.addresses.len(),
                        last: ran.last,
                        inside: sum.clone(),
                    });
                    ran.transactions.push((kind, marker, 0, 0));
                    self.begin_unit();
                }
                (Op::Begin, still) => {
                    *open = still;
                    sum.dropped += 1;
                    self.dropped
                        .add(marker, "a metadata transaction is open already");
                }
                (Op::End, Some(ended)) => {
                    let (applied, dropped) = self.run_waiting(window, &ended.waiting);
                    ran.transactions.push((kind, marker, applied, dropped));
                }
                (_, Some(_)) => ran.transactions.push((kind, marker, 0, 0)),
                (_, None) => {
                    sum.dropped += 1;
                    self.dropped.add(marker, "no metadata transaction is open");
                }
            }
            sum.marker = None;
        }
        sum
    }

    fn run_waiting(&mut self, window: &[u8], waiting: &[Waiting]) -> (u64, u64) {
        let (mut applied, mut dropped) = (0, 0);
        for one in waiting {
            let batch = window.get(one.start..one.start + one.size).unwrap_or(b"");
            let done = self.apply(batch, one.address, one.position, one.number, one.stop);
            applied += done.applied;
            dropped += done.dropped;
        }
        (applied, dropped)
    }
}
