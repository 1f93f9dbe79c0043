//! The rows of records, as JSON, CSV or columns.
use super::{Note, OutputForm, Scan};
use crate::batch::{Header, Record};
use crate::decode::{Meaning, Scratch};
use crate::row::Row;
use crate::row_text::{csv_row, json_row};
use crate::select::OfRecord;

impl Scan {
    /// Tell whether a record is selected.
    pub(crate) fn selects(&mut self, header: &Header, record: &Record, position: i64) -> bool {
        self.select.is_empty
            || self.may_match(header, record, position) && self.has_row(header, record, position)
    }

    /// Tell whether a record can be selected, by its bytes.
    #[inline]
    pub(super) fn may_match(&self, header: &Header, record: &Record, position: i64) -> bool {
        let known = self.known(header, record, position);
        self.select.may_match_record(known)
    }

    /// What is known of a record before it is read.
    fn known<'a>(
        &'a self,
        header: &'a Header,
        record: &'a Record<'a>,
        position: i64,
    ) -> OfRecord<'a> {
        OfRecord {
            origin: &self.request.origin,
            position,
            is_valid: self.is_valid,
            header,
            record,
            decoder: &self.decoder,
            is_redacted: self.secrets.is_some(),
            is_read: false,
        }
    }

    /// The reason why a record cannot be read; only a check reads more than its size.
    pub(crate) fn error_of(&mut self, header: &Header, record: &Record) -> Option<String> {
        if !self.request.check {
            return self.decoder.excess_text(record, header.is_control());
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let error = self.meaning(header, record, &mut scratch, true).error;
        self.scratch = scratch;
        error
    }

    /// Tell whether a record that is printed as text is selected.
    pub(super) fn has_row(&mut self, header: &Header, record: &Record, position: i64) -> bool {
        if !self.select.needs_rows && !self.select.has_types() && !header.is_control() {
            return true; // offset and time match
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let found = self.meaning(header, record, &mut scratch, self.select.needs_rows);
        let (origin, meaning) = (&self.request.origin, &found);
        let row = Row {
            origin,
            position,
            is_valid: self.is_valid,
            header,
            record,
            meaning,
            scratch: &scratch,
        };
        let known = self.known(header, record, position);
        let has = self.select.matches_row(&row, known);
        drop(found);
        self.scratch = scratch;
        has
    }

    /// The meaning of a record; JSON in it is in the scratch.
    fn meaning<'a>(
        &'a self,
        header: &Header,
        record: &Record<'a>,
        scratch: &mut Scratch,
        deep: bool,
    ) -> Meaning<'a> {
        if header.is_control() {
            return self.control.meaning(record, scratch);
        }
        self.decoder
            .meaning(record, scratch, deep, self.secrets.as_deref())
    }

    /// Append the row of a record, if it is selected.
    #[inline]
    pub(super) fn put_row(
        &mut self,
        header: &Header,
        record: &Record,
        records: &[u8],
        position: i64,
        selects: bool,
    ) {
        let deep = self.request.needs_values;
        let mut scratch = std::mem::take(&mut self.scratch);
        let found = if header.is_control() {
            self.control.meaning(record, &mut scratch)
        } else {
            let secrets = self.secrets.as_deref();
            self.decoder.meaning(record, &mut scratch, deep, secrets)
        };
        let row = Row {
            origin: &self.request.origin,
            position,
            is_valid: self.is_valid,
            header,
            record,
            meaning: &found,
            scratch: &scratch,
        };
        let is_chosen = !selects || {
            let known = self.known(header, record, position);
            self.select.matches_row(&row, known)
        };
        if is_chosen {
            if let Some(reason) = found.error.clone().filter(|_| self.request.check) {
                let at = self.output_size();
                self.notes.push(Note {
                    is_failure: false,
                    position,
                    reason,
                    at,
                });
            }
            match self.request.form {
                OutputForm::Json => json_row(&mut self.output, &self.common, &row, records),
                OutputForm::Csv => csv_row(&mut self.output, &self.common, &row, records),
                OutputForm::Columns | OutputForm::Text => self.columns.add(&row),
            }
            if self.request.form != OutputForm::Columns && self.request.marks {
                self.marks
                    .extend_from_slice(&(self.output.bytes.len() as i32).to_le_bytes());
            }
        }
        self.scratch = scratch;
    }
}
