//! Counts of the selected records of batches (`kraftops.engine.count_contract`).
mod python;
mod tally;
mod tops;
mod transactions;

use crate::batch::{CODECS, HEADER_SIZE, Header, Next, holds_its_records, next_batch, read_record};
use crate::reader::Reader;
use crate::scan::{Scan, Step};
pub use python::{PyCounter, add_values};
use std::collections::HashMap;
use tally::Tally;
use tops::Tops;

/// Type and version.
type Label = (Option<i32>, Option<i32>);
/// Counts by number.
type Counts = HashMap<u64, u64, foldhash::fast::RandomState>;

/// The smallest size of a record.
const LEAST_RECORD: usize = 7;

/// The counted records of a batch, but for their amounts by label.
#[derive(Default)]
struct Counted {
    count: u64,
    size: u64,
    skipped: u64,
    offsets: Option<(i64, i64)>,
    times: Option<(i64, i64)>,
    /// Numbers in the batch, if some of its records are not counted.
    numbers: Option<Vec<u32>>,
    /// Offset, size and reason of records that cannot be read.
    errors: Vec<(i64, u64, String)>,
    /// Type and size of control records.
    controls: Vec<(Option<i32>, u64)>,
}

/// The type numbers and versions below which the place of a label is found without its hash.
const SMALL: (usize, usize) = (64, 8);

/// Numbers and bytes of records by label, in the order of the first ones.
#[derive(Default)]
struct Amounts {
    list: Vec<(Label, u64, u64)>,
    /// The places of small labels, counted from 1; 0 is none.
    small: Vec<u32>,
    places: HashMap<Label, usize, foldhash::fast::RandomState>,
}

impl Amounts {
    #[inline]
    fn add(&mut self, label: Label, number: u64, size: u64) {
        let place = self.place_of(label);
        match self.list.get_mut(place) {
            Some((_, count, bytes)) => {
                *count += number;
                *bytes += size;
            }
            None => self.list.push((label, number, size)),
        }
    }

    /// Return the place of a label in the list, whose end is that of a new one.
    #[inline]
    fn place_of(&mut self, label: Label) -> usize {
        let end = self.list.len();
        let index_of = |number: Option<i32>| number.map_or(usize::MAX, |number| number as usize);
        let (kind, version) = (index_of(label.0), index_of(label.1));
        if kind < SMALL.0 && version < SMALL.1 {
            if self.small.is_empty() {
                self.small.resize(SMALL.0 * SMALL.1, 0);
            }
            let index = kind * SMALL.1 + version;
            if let Some(place) = self.small.get_mut(index) {
                if *place == 0 {
                    *place = end as u32 + 1;
                }
                return *place as usize - 1;
            }
        }
        *self.places.entry(label).or_insert(end)
    }
}

/// A batch with its inflated records, from *at* on; its *position* is that in the file.
#[derive(Clone, Copy)]
struct Inflated<'a> {
    header: &'a Header,
    batch: &'a [u8],
    records: &'a [u8],
    at: usize,
    position: i64,
}

pub struct Counter {
    scan: Scan,
    /// Whether records of data are read, and not only their headers.
    walks: bool,
    tops: Option<Tops>,
    tally: Tally,
}

impl Counter {
    fn new(scan: Scan, tops: Option<Tops>) -> Self {
        let walks = !scan.select.is_empty
            || tops.is_some()
            || scan.decoder.has_types()
            || scan.request.check;
        Counter {
            scan,
            walks,
            tops,
            tally: Tally::default(),
        }
    }

    /// Count the selected records of a batch, at most *most* after *skip*.
    ///
    /// None if the bytes are not exactly the records in the header; nothing is counted then.
    fn add(
        &mut self,
        inflated: Inflated,
        (skip, most): (u64, u64),
        amounts: &mut Amounts,
    ) -> Option<Counted> {
        let Inflated {
            header, records, ..
        } = inflated;
        if !holds_its_records(records, inflated.at, header) {
            return None;
        }
        self.scan.begin(header, inflated.batch);
        let is_control = header.is_control();
        let may_miss = !self.scan.select.is_empty || (skip, most) != (0, u64::MAX);
        let mut reader = Reader::new(records, inflated.at);
        let mut counted = Counted::default();
        let mut numbers = Vec::new();
        let total = header.count.max(0) as u32;
        for number in 0..total {
            if counted.count >= most {
                break;
            }
            let from = reader.at;
            let record = read_record(&mut reader, header).ok()?;
            if may_miss {
                if !self.scan.selects(header, &record, inflated.position) {
                    continue;
                }
                if counted.skipped < skip {
                    counted.skipped += 1;
                    continue;
                }
                numbers.push(number);
            }
            let size = (reader.at - from) as u64;
            counted.count += 1;
            counted.size += size;
            let (offset, time) = (record.offset, record.time);
            let wider = |(least, most): (i64, i64), next: i64| (least.min(next), most.max(next));
            counted.offsets = Some(wider(counted.offsets.unwrap_or((offset, offset)), offset));
            counted.times = Some(wider(counted.times.unwrap_or((time, time)), time));
            if let Some(reason) = self.scan.error_of(header, &record) {
                counted.errors.push((offset, size, reason));
            }
            if is_control {
                let number = self.scan.control.number_of(record.key);
                counted.controls.push((number, size));
                continue;
            }
            let label = self.scan.decoder.label(&record);
            amounts.add(label, 1, size);
            if let Some(tops) = &mut self.tops {
                tops.add(&record, size, inflated.position, label);
            }
        }
        if counted.count < total as u64 {
            counted.numbers = Some(numbers);
        }
        Some(counted)
    }

    /// Count the whole batches of *data* from *next* on in the tally, and advance that.
    ///
    /// *base* is the position of the data in the file. *inflated* are the records of the batch at
    /// *next*, if `Step::Inflate` asked for them. A declined batch is not counted.
    fn run(
        &mut self,
        data: &[u8],
        next: &mut usize,
        base: i64,
        mut inflated: Option<&[u8]>,
    ) -> Step {
        while !self.tally.is_full() {
            let header = match next_batch(data, *next) {
                Next::Batch(header) => header,
                Next::More => return Step::More,
                Next::Other => return Step::Declined,
            };
            let end = *next + header.size;
            let Some(batch) = data.get(*next..end) else {
                return Step::More;
            };
            let after = header.base_offset.checked_add(header.last_delta as i64 + 1);
            let is_known = header.codec() < CODECS.len() && header.count >= 0;
            let is_usual = is_known && !header.counts_too_many();
            let (Some(after), true) = (after, is_usual) else {
                return Step::Declined;
            };
            if inflated.is_none() && !header.is_valid(batch) {
                return Step::Declined;
            }
            if self.scan.select.may_match_batch(&header) {
                let (records, at) = match (header.count, header.codec(), inflated) {
                    (0, _, _) => (&batch[..0], 0),
                    (_, 0, _) => (batch, HEADER_SIZE),
                    (_, _, Some(records)) => (records, 0),
                    (_, codec, None) => return Step::Inflate(codec, *next + HEADER_SIZE, end),
                };
                let position = base.wrapping_add(*next as i64);
                let batch_records = Inflated {
                    header: &header,
                    batch,
                    records,
                    at,
                    position,
                };
                if !self.add_to_tally(batch_records) {
                    return Step::Declined;
                }
                inflated = None;
            }
            self.tally.reach(after);
            *next = end;
        }
        Step::Full
    }

    /// Count a batch in the tally; return whether its records can be read.
    fn add_to_tally(&mut self, inflated: Inflated) -> bool {
        let header = inflated.header;
        let size = inflated.records.len() - inflated.at;
        let count = header.count as usize;
        if count > size / LEAST_RECORD {
            return false;
        }
        let mut amounts = std::mem::take(&mut self.tally.amounts);
        let counted = if count > 0 && (self.walks || header.is_control()) {
            self.add(inflated, (0, u64::MAX), &mut amounts)
        } else {
            if count > 0 {
                amounts.add((None, None), count as u64, size as u64);
            }
            Some(Counted {
                count: count as u64,
                size: size as u64,
                ..Counted::default()
            })
        };
        self.tally.amounts = amounts;
        let Some(counted) = counted else {
            return false;
        };
        self.tally.note(&inflated, &counted, &self.scan.control);
        if counted.count > 0 || self.scan.select.is_empty {
            self.tally.add_batch(&inflated, size as u64, &counted);
            if let Some(tops) = &mut self.tops {
                tops.add_batch(&inflated, &counted);
            }
        }
        true
    }
}
