//! The rows of a batch whose header tells the columns that are asked for: its records are not read.
//!
//! `kraftops.engine.reference.row_scan.told_records` has the same rules.
use super::{MAX_ROWS, OutputForm, Scan, ScanRequest};
use crate::batch::{HEADER_SIZE, Header};
use crate::row::{Cell, Column as C};
use crate::select::Select;

/// The smallest size of a record.
const LEAST_RECORD: usize = 7;

/// The columns that a header tells, at last those of a batch without gaps.
fn is_told(column: C, header: &Header, has_all_offsets: bool) -> bool {
    column.is_of_header()
        || match column {
            C::File | C::Position | C::BaseOffset | C::Topic | C::Partition | C::CrcValid => true,
            C::Offset | C::Sequence => has_all_offsets,
            C::Timestamp => header.is_append_time(),
            C::Kind => !header.is_control(),
            _ => false,
        }
}

impl Scan {
    /// The records of a batch, by number, that need not be read; None if its header does not suffice.
    pub(super) fn told_records(&self, header: &Header) -> Option<(i32, i32)> {
        let ScanRequest { form, check, .. } = self.request;
        if form != OutputForm::Columns || check || !self.is_valid || header.count <= 0 {
            return None;
        }
        let count = header.count as usize;
        // A count of more records than compressed bytes is a wrong one, or worth a look at them.
        let most = match header.codec() {
            0 => (header.size - HEADER_SIZE) / LEAST_RECORD,
            _ => header.size - HEADER_SIZE,
        };
        let last = header.base_offset.checked_add(header.last_delta as i64);
        let has_all_offsets = last.is_some() && header.last_delta == header.count - 1;
        let is_told = |column| is_told(column, header, has_all_offsets);
        if count > most || !self.columns.wanted().all(is_told) {
            return None;
        }
        self.select.told_records(header, has_all_offsets)
    }

    /// Append rows of a batch up to the record number *end*; return the next number.
    pub(super) fn put_told_rows(
        &mut self,
        header: &Header,
        next: i32,
        end: i32,
        position: i64,
    ) -> i32 {
        let room = MAX_ROWS.saturating_sub(self.columns.rows) as i32;
        let to = end.min(next.saturating_add(room));
        let kind = self.decoder.kind();
        let common = self.request.origin.common(header, position, self.is_valid);
        self.columns.add_told(next..to, |column, number| {
            let offset = header.base_offset.wrapping_add(number as i64);
            match column {
                C::Offset => Cell::Int(offset),
                C::Sequence => common.sequence(offset),
                C::Timestamp => Cell::Int(header.max_time),
                C::Kind => Cell::Text(kind.as_bytes().into()),
                _ => common.cell(column).unwrap_or(Cell::Null),
            }
        });
        to
    }
}

impl Select {
    /// The records, by number, that are selected by the header alone; None if it does not suffice.
    fn told_records(&self, header: &Header, has_all_offsets: bool) -> Option<(i32, i32)> {
        if self.is_empty {
            return Some((0, header.count));
        }
        let (first, last) = self.offsets_only().filter(|_| has_all_offsets)?;
        let number = |offset: i64| {
            let distance = offset as i128 - header.base_offset as i128;
            distance.clamp(0, header.count as i128) as i32
        };
        let end = last.checked_add(1).map_or(header.count, number);
        Some((number(first), end))
    }
}
