//! Batches in, output out: what a call does, and where the next one goes on.
use crate::batch::{
    CODECS, HEADER_SIZE, Header, Next, Record, holds_its_records, next_batch, read_record,
};
use crate::columns::Columns;
use crate::decode::{Control, Decoder, Meaning, Part, Printed, Scratch, Secrets};
use crate::output::{Encoding, Output};
use crate::reader::Reader;
use crate::row::{Column, Row};
use crate::row_text::{CommonParts, FileName, csv_row, json_row};
use crate::select::Select;
use crate::text::put;
use std::sync::Arc;

/// Bytes of output, rows and bytes of columns after which a call ends, about.
const MOST_OUTPUT: usize = 1 << 20;
const MOST_ROWS: usize = 16384;
const MOST_COLUMN_BYTES: usize = 8 << 20;
/// Bytes of input after which a call ends though it made nothing: so Ctrl-C is heard.
const MOST_INPUT: usize = 32 << 20;

#[derive(Clone, Copy, PartialEq)]
pub enum OutputForm {
    Text,
    Json,
    Csv,
    Columns,
}

/// What is request for besides which records; see `kraftops.engine.scan_contract.Request`.
pub struct ScanRequest {
    pub kind: OutputForm,
    /// Whether records are printed, in text.
    pub deep: bool,
    pub skip_metadata: bool,
    /// Whether keys and values are printed, in text.
    pub payload: bool,
    pub check: bool,
    pub is_chosen: bool,
    pub marks: bool,
    pub file: FileName,
    pub needs_values: bool,
}

/// Something wrong: whether Kafka's tool dies of it, where, and what.
pub struct Note {
    pub is_failure: bool,
    pub position: i64,
    pub reason: String,
    /// How much output the call had made before, in bytes or rows.
    pub at: usize,
}

pub enum Step {
    More,
    Full,
    Declined,
    /// The records of the batch at `next` must be inflated: codec, and where their bytes begin and end.
    Inflate(usize, usize, usize),
}

/// Where in a batch a call goes on.
struct Cursor {
    header: Header,
    done: i32,
    /// In the bytes of the records.
    at: usize,
    has_line: bool,
}

pub struct Scan {
    pub decoder: Arc<Decoder>,
    pub control: Arc<Control>,
    pub secrets: Option<Arc<Secrets>>,
    pub request: ScanRequest,
    pub select: Select,
    pub output: Output,
    pub columns: Columns,
    pub notes: Vec<Note>,
    pub gaps: Vec<u8>,
    pub marks: Vec<u8>,
    pub first_offset: Option<i64>,
    pub last_offset: Option<i64>,
    last_gap: Option<(i64, i64)>,
    cursor: Option<Cursor>,
    /// Of the batch in work.
    common: CommonParts,
    scratch: Scratch,
}

impl Scan {
    pub fn new(
        decoder: Arc<Decoder>,
        control: Arc<Control>,
        secrets: Option<Arc<Secrets>>,
        request: ScanRequest,
        select: Select,
        columns: &[Column],
    ) -> Self {
        let output = Output::new(request.marks);
        Scan {
            decoder,
            control,
            secrets,
            request,
            select,
            output,
            columns: Columns::new(columns),
            notes: Vec::new(),
            gaps: Vec::new(),
            marks: Vec::new(),
            first_offset: None,
            last_offset: None,
            last_gap: None,
            cursor: None,
            common: CommonParts::default(),
            scratch: Scratch::default(),
        }
    }

    /// Whether a batch is in work, whose inflated records are needed again.
    pub fn is_inside(&self) -> bool {
        self.cursor.is_some()
    }

    fn is_full(&self) -> bool {
        self.output.bytes.len() >= MOST_OUTPUT
            || self.columns.rows >= MOST_ROWS
            || self.columns.size >= MOST_COLUMN_BYTES
            || self.notes.len() >= 4096
            || self.gaps.len() >= 1 << 20
    }

    /// Read whole batches of *data* from *next* on, which is moved on; *base* is where in the file
    /// the data begins. *inflated* are the records of the batch at *next*, if they were request for.
    pub fn run(
        &mut self,
        data: &[u8],
        next: &mut usize,
        base: i64,
        mut inflated: Option<&[u8]>,
    ) -> Step {
        let begun = *next;
        loop {
            // Notes are told where they belong.
            if self.is_full() || !self.notes.is_empty() || *next - begun >= MOST_INPUT {
                return Step::Full;
            }
            let position = base.wrapping_add(*next as i64);
            if self.cursor.is_none() {
                match self.begin(data, *next, position, inflated) {
                    Ok(None) => {}
                    Ok(Some(end)) => {
                        *next = end;
                        continue;
                    }
                    Err(step) => return step,
                }
            }
            let Some(mut cursor) = self.cursor.take() else {
                return Step::Declined;
            };
            let end = *next + cursor.header.size;
            let Some(batch) = data.get(*next..end) else {
                return Step::Declined;
            };
            let records = match (cursor.header.codec(), inflated) {
                (0, _) => batch,
                (_, Some(records)) => records,
                (codec, None) => {
                    self.cursor = Some(cursor);
                    return Step::Inflate(codec, *next + HEADER_SIZE, end);
                }
            };
            if self.batch(&mut cursor, batch, records, position) {
                *next = end;
                inflated = None;
            } else {
                self.cursor = Some(cursor);
                return Step::Full;
            }
        }
    }

    /// Begin with the batch at *at*: return where it ends if it is done, or nothing if its records
    /// are to be read.
    fn begin(
        &mut self,
        data: &[u8],
        at: usize,
        position: i64,
        inflated: Option<&[u8]>,
    ) -> Result<Option<usize>, Step> {
        let header = match next_batch(data, at) {
            Next::Batch(header) => header,
            Next::More => return Err(Step::More),
            Next::Other => return Err(Step::Declined),
        };
        let end = at + header.size;
        let batch = data.get(at..end).ok_or(Step::More)?;
        if header.codec() >= CODECS.len() || header.count < 0 {
            return Err(Step::Declined);
        }
        if self.passes_by(&header) {
            self.check(&header, batch, position);
            return Ok(Some(end));
        }
        if self.needs_records(&header) {
            let (records, at) = match (header.codec(), inflated) {
                (0, _) => (batch, HEADER_SIZE),
                (_, Some(records)) => (records, 0),
                (codec, None) => return Err(Step::Inflate(codec, at + HEADER_SIZE, end)),
            };
            if !holds_its_records(records, at, &header) {
                return Err(Step::Declined);
            }
            self.common = match self.request.kind {
                OutputForm::Json => CommonParts::json(&self.request.file, position, &header),
                OutputForm::Csv => CommonParts::csv(&self.request.file, position, &header),
                OutputForm::Text | OutputForm::Columns => CommonParts::default(),
            };
            self.cursor = Some(Cursor {
                header: header.clone(),
                done: 0,
                at,
                has_line: false,
            });
        }
        let is_text = self.request.kind == OutputForm::Text;
        if is_text && !self.request.is_chosen {
            self.batch_line(&header, batch, position);
            self.check(&header, batch, position);
        } else {
            self.check(&header, batch, position);
            if is_text && (!self.request.deep || self.select.is_empty) {
                self.batch_line(&header, batch, position);
            }
        }
        Ok(self.cursor.is_none().then_some(end))
    }

    /// Tell whether nothing of a batch is request for, by its header.
    fn passes_by(&self, header: &Header) -> bool {
        let request = &self.request;
        if request.kind == OutputForm::Text && !request.is_chosen {
            return false;
        }
        if !self.select.may_match(header) {
            return true;
        }
        request.kind == OutputForm::Text
            && !request.deep
            && self
                .select
                .until
                .is_some_and(|until| header.base_time >= until)
    }

    fn needs_records(&self, header: &Header) -> bool {
        header.count > 0
            && (self.request.kind != OutputForm::Text || self.request.deep || self.request.check)
    }

    /// How much output this call has made.
    fn made(&self) -> usize {
        if self.request.kind == OutputForm::Columns {
            self.columns.rows
        } else {
            self.output.bytes.len()
        }
    }

    fn note(&mut self, is_failure: bool, position: i64, reason: String, at: usize) {
        self.notes.push(Note {
            is_failure,
            position,
            reason,
            at,
        });
    }

    fn check(&mut self, header: &Header, batch: &[u8], position: i64) {
        if !self.request.check {
            return;
        }
        let at = self.made();
        if header.magic > 2 {
            // It is not in the checksum.
            let reason = format!("magic {} is not known", header.magic);
            self.note(false, position, reason, at);
        }
        if !header.is_valid(batch) {
            self.note(false, position, "the CRC does not match".into(), at);
        }
    }

    fn batch_line(&mut self, header: &Header, batch: &[u8], position: i64) {
        header.line(&mut self.output.bytes, position, header.is_valid(batch));
        if self.request.marks {
            let end = self.output.bytes.len() as i32;
            let mark = if self.request.deep { -end } else { end };
            self.marks.extend_from_slice(&mark.to_le_bytes());
        }
    }

    /// Go on with a batch; tell whether it is done.
    fn batch(&mut self, cursor: &mut Cursor, batch: &[u8], records: &[u8], position: i64) -> bool {
        if self.output.has_rest() {
            self.output.go_on(records, MOST_OUTPUT);
            if self.output.has_rest() {
                return false;
            }
        }
        let header = cursor.header.clone();
        let mut reader = Reader::new(records, cursor.at);
        let begun = cursor.at;
        let is_text = self.request.kind == OutputForm::Text;
        let is_control = header.is_control();
        let selects = !self.select.is_empty;
        while cursor.done < header.count {
            if self.is_full() || cursor.at - begun >= MOST_INPUT {
                return false;
            }
            // The batch was walked before: its records are sound.
            let Ok(record) = read_record(&mut reader, &header) else {
                return true;
            };
            cursor.done += 1;
            cursor.at = reader.at;
            let secret = self.secrets.is_some();
            if is_text && !self.request.deep {
                self.check_record(&record, is_control, position);
                continue;
            }
            if selects
                && !self
                    .select
                    .may_have(&record, is_control, &self.decoder, secret)
            {
                continue;
            }
            if is_text && selects && !self.has_row(&header, &record, position) {
                continue;
            }
            if is_text {
                if self.request.is_chosen && selects && !cursor.has_line {
                    cursor.has_line = true;
                    self.batch_line(&header, batch, position);
                }
                self.see(record.offset);
                self.line(&header, &record, records, position);
            } else {
                self.row(&header, &record, records, position, selects);
            }
            self.output.end_line(&mut self.scratch);
            if self.output.has_rest() {
                self.output.go_on(records, MOST_OUTPUT);
                if self.output.has_rest() {
                    return false;
                }
            }
        }
        true
    }

    /// Remember an offset, and that it is not the one after the last.
    #[inline]
    fn see(&mut self, offset: i64) {
        if self.request.is_chosen {
            return;
        }
        match self.last_offset {
            None => self.first_offset = Some(offset),
            Some(last) if last.wrapping_add(1) != offset => {
                // A batch can have millions of records with one offset.
                if self.last_gap != Some((last, offset)) {
                    self.last_gap = Some((last, offset));
                    self.gaps.extend_from_slice(&last.to_le_bytes());
                    self.gaps.extend_from_slice(&offset.to_le_bytes());
                }
            }
            Some(_) => {}
        }
        self.last_offset = Some(offset);
    }

    fn check_record(&mut self, record: &Record, is_control: bool, position: i64) {
        if !is_control {
            return;
        }
        self.scratch.value.clear();
        if let Err(reason) = self.control.text(record, &mut self.scratch.value) {
            self.fail(position, record.offset, &reason, self.made());
        }
    }

    fn fail(&mut self, position: i64, offset: i64, reason: &str, at: usize) {
        self.note(true, position, format!("offset {offset}: {reason}"), at);
    }

    fn mark(&mut self) {
        if self.request.marks {
            self.marks
                .extend_from_slice(&(self.output.bytes.len() as i32).to_le_bytes());
        }
    }

    /// Append the line that Kafka's tool prints of a record.
    #[inline]
    fn line(&mut self, header: &Header, record: &Record, records: &[u8], position: i64) {
        let begun = self.made();
        let out = &mut self.output.bytes;
        let mut lead = "| ";
        if !self.request.skip_metadata {
            lead = " ";
            let size = |raw: Option<&[u8]>| raw.map_or(-1, |raw| raw.len() as i64);
            put!(
                out,
                "| offset: ",
                record.offset,
                " ",
                header.time_type(),
                ": ",
                record.time,
                " keySize: ",
                size(record.key),
                " valueSize: ",
                size(record.value),
                " sequence: ",
                header.sequence_of(record.offset),
                " headerKeys: [",
            );
            if record.headers.count > 0 {
                for (number, (key, _)) in record.headers.iter().enumerate() {
                    if number > 0 {
                        self.output.bytes.push(b',');
                    }
                    self.output.value(Encoding::Java, key, records);
                }
            }
            self.output.bytes.push(b']');
        }
        let before = self.output.bytes.len();
        let found = if header.is_control() {
            if self.request.skip_metadata {
                Ok(())
            } else {
                self.output.bytes.push(b' ');
                self.scratch.value.clear();
                let found = self.control.text(record, &mut self.scratch.value);
                self.output
                    .made(Encoding::Plain, Part::Value, &self.scratch);
                found
            }
        } else if self.request.payload {
            self.payload(record, records, lead, (position, begun))
        } else {
            Ok(())
        };
        if let Err(reason) = found {
            self.output.truncate(before);
            put!(
                &mut self.output.bytes,
                " <undecodable: ",
                reason.as_str(),
                ">"
            );
            self.fail(position, record.offset, &reason, begun);
        }
        self.output.bytes.push(b'\n');
        self.mark();
    }

    #[inline]
    fn payload(
        &mut self,
        record: &Record,
        records: &[u8],
        mut lead: &str,
        (position, begun): (i64, usize),
    ) -> Result<(), String> {
        let texts = self.decoder.texts(record, &mut self.scratch)?;
        if !matches!(texts.key, Printed::Nothing) {
            put!(&mut self.output.bytes, lead, "key: ");
            lead = " ";
            print(
                &texts.key,
                Part::Key,
                &self.scratch,
                &mut self.output,
                records,
            );
        }
        if !matches!(texts.value, Printed::Nothing) {
            put!(&mut self.output.bytes, lead, "payload: ");
            print(
                &texts.value,
                Part::Value,
                &self.scratch,
                &mut self.output,
                records,
            );
        }
        if let Some(trouble) = texts.trouble.filter(|_| self.request.check) {
            let reason = format!("offset {}: {trouble}", record.offset);
            self.note(false, position, reason, begun);
        }
        Ok(())
    }

    /// Tell whether the row of a record is request for, of which only the text is printed.
    fn has_row(&mut self, header: &Header, record: &Record, position: i64) -> bool {
        if !self.select.needs_rows && !self.select.has_types() && !header.is_control() {
            return true; // the place fits
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let found = self.meaning(header, record, &mut scratch, self.select.needs_rows);
        let (file, meaning) = (&self.request.file.plain, &found);
        let has = self.select.has(&Row {
            file,
            position,
            header,
            record,
            meaning,
            scratch: &scratch,
        });
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

    /// Write the row of a record, if it is request for.
    #[inline]
    fn row(
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
            file: &self.request.file.plain,
            position,
            header,
            record,
            meaning: &found,
            scratch: &scratch,
        };
        if !selects || self.select.has(&row) {
            if let Some(reason) = found.error.clone().filter(|_| self.request.check) {
                let at = if self.request.kind == OutputForm::Columns {
                    self.columns.rows
                } else {
                    self.output.bytes.len()
                };
                self.notes.push(Note {
                    is_failure: false,
                    position,
                    reason,
                    at,
                });
            }
            match self.request.kind {
                OutputForm::Json => json_row(&mut self.output, &self.common, &row, records),
                OutputForm::Csv => csv_row(&mut self.output, &self.common, &row, records),
                OutputForm::Columns | OutputForm::Text => self.columns.add(&row),
            }
            if self.request.kind != OutputForm::Columns && self.request.marks {
                self.marks
                    .extend_from_slice(&(self.output.bytes.len() as i32).to_le_bytes());
            }
        }
        self.scratch = scratch;
    }
}

#[inline]
fn print(shown: &Printed, part: Part, scratch: &Scratch, output: &mut Output, records: &[u8]) {
    match shown {
        Printed::Nothing => {}
        Printed::Scratch => output.made(Encoding::Plain, part, scratch),
        Printed::Utf8(raw) => output.value(Encoding::Java, raw, records),
        Printed::Hex(raw) => output.value(Encoding::Hex, raw, records),
    }
}
