//! The sound batches of a log, of which a check needs no line (`kraftops.engine.scan_contract.SeenBatch`).
use super::{Scan, Step};
use crate::batch::{CODECS, HEADER_SIZE, Header, Next, next_batch, read_record};
use crate::reader::Reader;
use pyo3::prelude::*;

const NO_PRODUCER: i64 = -1;
/// The types of transaction markers, ABORT and COMMIT (`ControlRecordType`).
const MARKERS: [u16; 2] = [0, 1];

/// See `kraftops.engine.scan_contract.SeenBatch`.
#[pyclass(frozen, get_all)]
#[derive(Clone)]
pub struct SeenBatch {
    position: i64,
    size: usize,
    base_offset: i64,
    last_offset: i64,
    max_timestamp: i64,
    epoch: i32,
    producer_id: i64,
    last_sequence: i64,
    is_transactional: bool,
    is_thinned: bool,
    is_empty: bool,
    marker: Option<u16>,
    magic: u8,
}

impl SeenBatch {
    fn of(header: &Header, position: i64, marker: Option<u16>) -> SeenBatch {
        let delta = header.last_delta as i64;
        let sequence = match header.sequence as i64 {
            none if none < 0 => -1,
            // It goes on from 0 after the largest int32.
            base if base + delta > i32::MAX as i64 => base + delta - (1 << 31),
            base => base + delta,
        };
        SeenBatch {
            position,
            size: header.size,
            base_offset: header.base_offset,
            last_offset: header.last_offset(),
            max_timestamp: header.max_time,
            epoch: header.leader_epoch,
            producer_id: header.producer_id,
            last_sequence: sequence,
            is_transactional: header.is_transactional(),
            is_thinned: header.count as i64 != delta + 1 || header.has_delete_horizon(),
            is_empty: header.count == 0,
            marker,
            magic: header.magic,
        }
    }

    /// Return the offset after the batch, if it is plain and begins at *offset*.
    fn end_from(&self, offset: i64) -> Option<i64> {
        let is_whole = !self.is_thinned && !self.is_empty;
        let is_plain = is_whole && self.producer_id == NO_PRODUCER && self.base_offset == offset;
        self.last_offset.checked_add(1).filter(|_| is_plain)
    }
}

/// Return the offset after the last of *batches*, if all are plain and follow each other from
/// *base_offset* on (`kraftops.engine.scan_contract.Scan.ends`).
pub fn end_of(batches: &[SeenBatch], base_offset: i64) -> Option<i64> {
    let mut batches = batches.iter();
    batches.try_fold(base_offset, |offset, batch| batch.end_from(offset))
}

impl Scan {
    /// Look at the sound batches of *data* from *next* on, and advance that; see `Scan::run`.
    ///
    /// A batch of another magic, or with a record that would be noted, is declined.
    pub fn look(
        &mut self,
        data: &[u8],
        next: &mut usize,
        base: i64,
        mut inflated: Option<&[u8]>,
        seen: &mut Vec<SeenBatch>,
    ) -> Step {
        loop {
            let header = match next_batch(data, *next) {
                Next::Batch(header) if header.magic == 2 => header,
                Next::More => return Step::More,
                Next::Batch(_) | Next::Other => return Step::Declined,
            };
            let end = *next + header.size;
            let Some(batch) = data.get(*next..end) else {
                return Step::More;
            };
            let is_known = header.codec() < CODECS.len() && header.count >= 0;
            if !is_known
                || header.counts_too_many()
                || inflated.is_none() && !header.is_valid(batch)
            {
                return Step::Declined;
            }
            let (records, start) = match (header.count, header.codec(), inflated) {
                (0, _, _) => (&batch[..0], 0),
                (_, 0, _) => (batch, HEADER_SIZE),
                (_, _, Some(records)) => (records, 0),
                (_, codec, None) => return Step::Inflate(codec, *next + HEADER_SIZE, end),
            };
            let Some(marker) = self.read_all(&header, records, start) else {
                return Step::Declined;
            };
            let position = base.wrapping_add(*next as i64);
            seen.push(SeenBatch::of(&header, position, marker));
            inflated = None;
            *next = end;
        }
    }

    /// Read the records of a batch; return the type of the transaction marker among them.
    ///
    /// None if the bytes are not exactly these records, or one would be noted.
    fn read_all(&mut self, header: &Header, records: &[u8], start: usize) -> Option<Option<u16>> {
        let has_marker = header.is_control() && header.producer_id != NO_PRODUCER;
        let decodes = self.request.payload && !header.is_control();
        let mut reader = Reader::new(records, start);
        let mut marker = None;
        for number in 0..header.count {
            let record = read_record(&mut reader, header).ok()?;
            if has_marker && number == 0 {
                marker = record.key.and_then(marker_of);
            }
            if decodes {
                let texts = self.decoder.texts(&record, &mut self.scratch).ok()?;
                if texts.trouble.is_some() {
                    return None;
                }
            }
        }
        (reader.at == records.len()).then_some(marker)
    }
}

/// Return the type in the key of a control record, if it is that of a transaction marker.
fn marker_of(key: &[u8]) -> Option<u16> {
    let kind = u16::from_be_bytes(key.get(2..4)?.try_into().ok()?);
    MARKERS.contains(&kind).then_some(kind)
}
