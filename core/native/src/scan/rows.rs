//! The rows of records, as JSON, CSV or columns.
use super::{Note, OutputForm, Scan};
use crate::batch::{Header, Record};
use crate::decode::{Depth, Meaning, Scratch};
use crate::row::Row;
use crate::row_text::{csv_row, json_row};
use crate::select::{OfRecord, Verdict};

impl Scan {
    /// Begin with the records of a batch, which are read elsewhere.
    pub(crate) fn begin(&mut self, header: &Header, batch: &[u8]) {
        if self.select.needs_rows {
            self.is_valid = header.is_valid(batch);
        }
    }

    /// Tell whether a record of the batch that was begun is selected.
    pub(crate) fn selects(&mut self, header: &Header, record: &Record, position: i64) -> bool {
        if self.select.is_empty {
            return true;
        }
        let verdict = self.verdict(header, record, position);
        self.has_row(header, record, position, verdict)
    }

    /// Return what is known of the selection of a record, by its bytes.
    #[inline]
    pub(super) fn verdict(&self, header: &Header, record: &Record, position: i64) -> Verdict {
        self.select.verdict(OfRecord {
            common: self.request.origin.common(header, position, self.is_valid),
            record,
            decoder: &self.decoder,
            is_redacted: self.request.redacts,
        })
    }

    /// The reason why a record cannot be read; only a check reads more than its size.
    pub(crate) fn error_of(&mut self, header: &Header, record: &Record) -> Option<String> {
        if !self.request.check {
            return self.decoder.excess_text(record, header.is_control());
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let error = self.meaning(header, record, &mut scratch, Depth::All).error;
        self.scratch = scratch;
        error
    }

    /// Tell whether a record that is printed as text is selected.
    pub(super) fn has_row(
        &mut self,
        header: &Header,
        record: &Record,
        position: i64,
        verdict: Verdict,
    ) -> bool {
        if matches!(verdict, Verdict::Never) {
            return false;
        }
        if !self.select.needs_rows && !self.select.has_types() && !header.is_control() {
            return true; // offset and time match
        }
        let decided = self.select.decided(verdict);
        if let Some(holds) =
            decided.filter(|_| !header.is_control() && self.decoder.is_readable(record))
        {
            return holds;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let depth = match self.select.needs_rows {
            true => Depth::All,
            false => Depth::Head,
        };
        let meaning = self.meaning(header, record, &mut scratch, depth);
        let row = Row {
            common: self.request.origin.common(header, position, self.is_valid),
            record,
            meaning: &meaning,
            scratch: &scratch,
        };
        let has = self.select.matches_row(&row, verdict);
        drop(meaning);
        self.scratch = scratch;
        has
    }

    /// The meaning of a record; JSON in it is in the scratch.
    fn meaning<'a>(
        &'a self,
        header: &Header,
        record: &Record<'a>,
        scratch: &mut Scratch,
        depth: Depth,
    ) -> Meaning<'a> {
        if header.is_control() {
            return self.control.meaning(record, scratch);
        }
        self.decoder
            .meaning(record, scratch, depth, self.request.redacts)
    }

    /// Append the row of a record, if it is selected.
    #[inline]
    pub(super) fn put_row(
        &mut self,
        header: &Header,
        record: &Record,
        records: &[u8],
        position: i64,
        verdict: Option<Verdict>,
    ) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let meaning = if header.is_control() {
            self.control.meaning(record, &mut scratch)
        } else {
            let (depth, redacts) = (self.request.depth, self.request.redacts);
            self.decoder.meaning(record, &mut scratch, depth, redacts)
        };
        let row = Row {
            common: self.request.origin.common(header, position, self.is_valid),
            record,
            meaning: &meaning,
            scratch: &scratch,
        };
        let is_chosen = verdict.is_none_or(|verdict| self.select.matches_row(&row, verdict));
        if is_chosen {
            if let Some(reason) = meaning.error.clone().filter(|_| self.request.check) {
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
        }
        self.scratch = scratch;
    }
}
