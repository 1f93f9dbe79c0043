//! The scan of a file: whole batches in, output of a limited size out, call by call.
mod headers;
mod kafka_text;
mod plain;
mod rows;
mod sound;

use crate::batch::{CODECS, HEADER_SIZE, Header, Next, holds_its_records, next_batch, read_record};
use crate::columns::Columns;
use crate::decode::{Control, Decoder, Depth, Scratch};
use crate::output::Output;
use crate::reader::Reader;
use crate::row::Column;
use crate::row_text::{CommonParts, Origin};
use crate::select::{Select, Verdict};
pub use sound::{SeenBatch, end_of};
use std::sync::Arc;

/// The bytes of output, rows, and bytes of columns after which a call ends, about.
pub(crate) const MAX_OUTPUT: usize = 1 << 20;
const MAX_ROWS: usize = 16384;
const MAX_COLUMN_BYTES: usize = 8 << 20;
/// The bytes of input after which a call ends without output, for Ctrl-C.
const MAX_INPUT: usize = 32 << 20;

#[derive(Clone, Copy, PartialEq)]
pub enum OutputForm {
    Text,
    Json,
    Csv,
    Columns,
}

/// The request but for the selection; see `kraftops.engine.scan_contract.Request`.
pub struct ScanRequest {
    pub form: OutputForm,
    /// Whether records are printed, in text.
    pub deep: bool,
    pub skip_metadata: bool,
    /// Whether keys and values are printed, in text.
    pub payload: bool,
    pub check: bool,
    /// Whether a batch whose checksum does not match is noted.
    pub notes_crc: bool,
    /// Whether it is left out.
    pub skip_invalid: bool,
    pub is_chosen: bool,
    pub marks: bool,
    /// Whether ends of lines in keys and values are escapes, in text.
    pub is_one_line: bool,
    /// Whether secrets are left out of rows.
    pub redacts: bool,
    pub origin: Origin,
    /// What rows tell of records.
    pub depth: Depth,
}

/// A problem of the data; `is_failure` means that Kafka's tool dies of it.
pub struct Note {
    pub is_failure: bool,
    pub position: i64,
    pub reason: String,
    /// The size of the call's output before it, in bytes or rows.
    pub at: usize,
}

pub enum Step {
    More,
    Full,
    Declined,
    /// The records of the batch at `next` must be inflated: codec, begin and end of their bytes.
    Inflate(usize, usize, usize),
}

/// The place in a batch where the next call goes on.
struct Cursor {
    header: Header,
    done: i32,
    /// In the bytes of the records.
    at: usize,
    has_line: bool,
    /// The number of the record before which it ends, if the header tells all that is asked for.
    end_by_header: Option<i32>,
}

pub struct Scan {
    pub decoder: Arc<Decoder>,
    pub control: Arc<Control>,
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
    /// Whether the checksum of the present batch matches.
    is_valid: bool,
    /// Whether header and framing tell all that is asked for.
    is_plain: bool,
    /// The common parts of the rows of the present batch.
    common: CommonParts,
    scratch: Scratch,
}

impl Scan {
    pub fn new(
        decoder: Arc<Decoder>,
        control: Arc<Control>,
        request: ScanRequest,
        select: Select,
        columns: &[Column],
    ) -> Self {
        let output = Output::new(request.is_one_line);
        let mut scan = Scan {
            decoder,
            control,
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
            is_valid: true,
            is_plain: false,
            common: CommonParts::default(),
            scratch: Scratch::default(),
        };
        scan.is_plain = scan.asks_plain();
        scan
    }

    /// Begin with another file, also inside a batch, and drop the output.
    pub fn restart(&mut self) {
        self.cursor = None;
        (self.first_offset, self.last_offset) = (None, None);
        self.output = Output::new(self.request.is_one_line); // also without the rest of a long value
        self.notes.clear();
        self.gaps.clear();
        self.marks.clear();
    }

    /// Tell whether the inflated records of the present batch are needed again.
    pub fn is_inside(&self) -> bool {
        self.cursor.is_some()
    }

    fn is_full(&self) -> bool {
        self.output.bytes.len() >= MAX_OUTPUT
            || self.columns.rows >= MAX_ROWS
            || self.columns.size >= MAX_COLUMN_BYTES
            || self.notes.len() >= 4096
            || self.gaps.len() >= 1 << 20
    }

    /// Read whole batches of *data* from *next* on, and advance that.
    ///
    /// *base* is the position of the data in the file. *inflated* are the records of the batch at
    /// *next*, if `Step::Inflate` asked for them.
    pub fn run(
        &mut self,
        data: &[u8],
        next: &mut usize,
        base: i64,
        mut inflated: Option<&[u8]>,
    ) -> Step {
        let begun = *next;
        loop {
            // The output ends where a note belongs.
            if self.is_full() || !self.notes.is_empty() || *next - begun >= MAX_INPUT {
                return Step::Full;
            }
            let position = base.wrapping_add(*next as i64);
            if self.cursor.is_none() {
                match self.begin_batch(data, *next, position, inflated) {
                    Ok(None) => {}
                    Ok(Some(end)) => {
                        *next = end;
                        inflated = None;
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
            if let Some(end) = cursor.end_by_header {
                cursor.done = self.put_told_rows(&cursor.header, cursor.done, end, position);
                if cursor.done < end {
                    self.cursor = Some(cursor);
                    return Step::Full;
                }
                *next += cursor.header.size;
                continue;
            }
            let records = match (cursor.header.codec(), inflated) {
                (0, _) => batch,
                (_, Some(records)) => records,
                (codec, None) => {
                    self.cursor = Some(cursor);
                    return Step::Inflate(codec, *next + HEADER_SIZE, end);
                }
            };
            if self.read_records(&mut cursor, records, position) {
                *next = end;
                inflated = None;
            } else {
                self.cursor = Some(cursor);
                return Step::Full;
            }
        }
    }

    /// Begin with the batch at *at*; return its end, or None if its records are to be read.
    fn begin_batch(
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
        let is_ruled_out = self.is_ruled_out(&header);
        if is_ruled_out && !self.request.check {
            return Ok(Some(end));
        }
        if inflated.is_none() {
            self.is_valid = header.is_valid(batch);
        }
        if is_ruled_out || self.request.skip_invalid && !self.is_valid {
            self.check(&header, position);
            return Ok(Some(end));
        }
        if let Some((first, end)) = self.told_records(&header) {
            self.cursor = Some(Cursor {
                header: header.clone(),
                done: first,
                at: 0,
                has_line: false,
                end_by_header: Some(end),
            });
        } else if self.needs_records(&header) {
            if header.counts_too_many() {
                return Err(Step::Declined);
            }
            let is_plain = self.is_plain(&header);
            if is_plain && self.columns.rows + header.count as usize > MAX_ROWS {
                return Err(Step::Full);
            }
            let (records, at) = match (header.codec(), inflated) {
                (0, _) => (batch, HEADER_SIZE),
                (_, Some(records)) => (records, 0),
                (codec, None) => return Err(Step::Inflate(codec, at + HEADER_SIZE, end)),
            };
            if is_plain
                && self
                    .put_plain_rows(&header, records, at, position)
                    .is_some()
            {
                return Ok(Some(end));
            }
            if !holds_its_records(records, at, &header) {
                return Err(Step::Declined);
            }
            let origin = &self.request.origin;
            self.common = match self.request.form {
                OutputForm::Json => CommonParts::json(origin, position, &header, self.is_valid),
                OutputForm::Csv => CommonParts::csv(origin, position, &header, self.is_valid),
                OutputForm::Text | OutputForm::Columns => CommonParts::default(),
            };
            self.cursor = Some(Cursor {
                header: header.clone(),
                done: 0,
                at,
                has_line: false,
                end_by_header: None,
            });
            self.last_gap = None;
        }
        let is_text = self.request.form == OutputForm::Text;
        if is_text && !self.request.is_chosen {
            self.batch_line(&header, position);
            self.check(&header, position);
        } else {
            self.check(&header, position);
            if is_text && (!self.request.deep || self.select.is_empty) {
                self.batch_line(&header, position);
            }
        }
        Ok(self.cursor.is_none().then_some(end))
    }

    /// Tell whether the header of a batch rules out a match.
    fn is_ruled_out(&self, header: &Header) -> bool {
        let request = &self.request;
        if request.form == OutputForm::Text && !request.is_chosen {
            return false;
        }
        if !self.select.may_match_batch(header) {
            return true;
        }
        request.form == OutputForm::Text
            && !request.deep
            && self
                .select
                .until
                .is_some_and(|until| header.base_time >= until)
    }

    fn needs_records(&self, header: &Header) -> bool {
        header.count > 0
            && (self.request.form != OutputForm::Text || self.request.deep || self.request.check)
    }

    /// The size of this call's output, in bytes or rows.
    fn output_size(&self) -> usize {
        if self.request.form == OutputForm::Columns {
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

    /// Note what is wrong with a batch as a whole.
    fn check(&mut self, header: &Header, position: i64) {
        let at = self.output_size();
        if self.request.check && header.magic > 2 {
            // The checksum does not cover the magic.
            let reason = format!("magic {} is not known", header.magic);
            self.note(false, position, reason, at);
        }
        if self.request.notes_crc && !self.is_valid {
            let left_out = if self.request.skip_invalid {
                "; it is left out"
            } else {
                ""
            };
            let reason = format!("the CRC does not match{left_out}");
            self.note(false, position, reason, at);
        }
    }

    /// Go on with the records of a batch; tell whether it is done.
    fn read_records(&mut self, cursor: &mut Cursor, records: &[u8], position: i64) -> bool {
        if self.output.has_rest() {
            self.output.go_on(records, MAX_OUTPUT);
            if self.output.has_rest() {
                return false;
            }
            self.mark();
        }
        let header = cursor.header.clone();
        let mut reader = Reader::new(records, cursor.at);
        let begun = cursor.at;
        let is_text = self.request.form == OutputForm::Text;
        let is_control = header.is_control();
        let selects = !self.select.is_empty;
        while cursor.done < header.count {
            if self.is_full() || cursor.at - begun >= MAX_INPUT {
                return false;
            }
            // `holds_its_records` has read the records before.
            let Ok(record) = read_record(&mut reader, &header) else {
                return true;
            };
            cursor.done += 1;
            cursor.at = reader.at;
            if is_text && !self.request.deep {
                self.check_record(&record, is_control, position);
                continue;
            }
            let verdict = selects.then(|| self.verdict(&header, &record, position));
            if let Some(verdict) = verdict {
                let is_out = if is_text {
                    !self.has_row(&header, &record, position, verdict)
                } else {
                    matches!(verdict, Verdict::Never)
                };
                if is_out {
                    continue;
                }
            }
            let mut start = self.output.bytes.len();
            if is_text {
                if self.request.is_chosen && selects && !cursor.has_line {
                    cursor.has_line = true;
                    self.batch_line(&header, position);
                    start = self.output.bytes.len();
                }
                self.note_offset(record.offset);
                self.record_line(&header, &record, records, position);
            } else {
                self.put_row(&header, &record, records, position, verdict);
            }
            self.output.end_line(&mut self.scratch);
            if self.output.has_rest() {
                self.output.go_on(records, MAX_OUTPUT);
                if self.output.has_rest() {
                    return false;
                }
            }
            if self.output.bytes.len() > start {
                self.mark();
            }
        }
        true
    }

    /// Note an offset, and a gap before it.
    #[inline]
    fn note_offset(&mut self, offset: i64) {
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

    fn fail(&mut self, position: i64, offset: i64, reason: &str, at: usize) {
        self.note(true, position, format!("offset {offset}: {reason}"), at);
    }

    fn mark(&mut self) {
        if self.request.marks {
            self.marks
                .extend_from_slice(&(self.output.bytes.len() as i32).to_le_bytes());
        }
    }
}
