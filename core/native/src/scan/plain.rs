//! The rows of a batch of which only the framing of records is asked for: read once, column by column.
use super::{MAX_COLUMN_BYTES, MAX_ROWS, OutputForm, Scan};
use crate::batch::{Header, Record, read_record};
use crate::decode::Decoder;
use crate::reader::Reader;
use crate::row::Column as C;

/// The columns that header and framing tell, keys and values of users among them.
fn is_plain(column: C, decoder: &Decoder) -> bool {
    column.is_of_header()
        || match column {
            C::File | C::Position | C::BaseOffset | C::Topic | C::Partition | C::CrcValid => true,
            C::Offset | C::Timestamp | C::Sequence | C::KeySize | C::ValueSize | C::Kind => true,
            // The encodings are null there.
            C::Key | C::Value | C::KeyEncoding | C::ValueEncoding => decoder.shows_bytes(),
            _ => false,
        }
}

impl Scan {
    /// Tell whether all columns are plain that are asked for.
    pub(super) fn asks_plain(&self) -> bool {
        let decoder = &self.decoder;
        self.request.form == OutputForm::Columns
            && !self.request.check
            && self.select.is_empty
            && self
                .columns
                .wanted()
                .all(|column| is_plain(column, decoder))
    }

    /// Tell whether all rows of a batch can be put at once.
    pub(super) fn is_plain(&self, header: &Header) -> bool {
        self.is_plain
            && !header.is_control()
            && (self.is_valid || !self.request.notes_crc)
            && header.count as usize <= MAX_ROWS
    }

    /// Append the rows of a batch; None if these are not its records, or too long.
    pub(super) fn put_plain_rows(
        &mut self,
        header: &Header,
        records: &[u8],
        at: usize,
        position: i64,
    ) -> Option<()> {
        if records.len() > MAX_COLUMN_BYTES {
            return None;
        }
        let mut reader = Reader::new(records, at);
        let mut read: Vec<Record> = Vec::with_capacity(header.count as usize);
        for _ in 0..header.count {
            read.push(read_record(&mut reader, header).ok()?);
        }
        if reader.at != records.len() {
            return None;
        }
        let common = self.request.origin.common(header, position, self.is_valid);
        self.columns.add_plain(&common, &read, self.decoder.kind());
        Some(())
    }
}
