//! Output that is handed on by size, also in the middle of a long value.
use crate::decode::{Part, Scratch};
use crate::text;
use std::ops::Range;

/// Bytes of a value beyond which it is written piece by piece.
const LONG: usize = 256 << 10;
/// Bytes of a value that are written at once; a multiple of three, for base64.
const PIECE: usize = 96 << 10;

/// How a long value is written.
#[derive(Clone, Copy)]
pub enum Form {
    Java,
    Hex,
    Base64,
    /// The inside of a JSON string as Python writes it; bad UTF-8 as Python replaces it.
    Json,
    /// The same inside of a quoted field of CSV.
    CsvJson,
    Csv,
    /// As it is.
    Plain,
}

impl Form {
    fn put(self, out: &mut Vec<u8>, raw: &[u8]) {
        match self {
            Form::Plain => out.extend_from_slice(raw),
            Form::Java => text::java_utf8(out, raw),
            Form::Hex => text::hex(out, raw),
            Form::Base64 => text::base64(out, raw),
            Form::Json => text::python_json(out, &text::lossy(raw)),
            Form::CsvJson => {
                let mut json = Vec::with_capacity(raw.len());
                text::python_json(&mut json, &text::lossy(raw));
                text::csv_quoted(out, &json);
            }
            Form::Csv => text::csv_quoted(out, raw),
        }
    }

    /// Where a piece that begins a value may end: not inside of a character.
    fn piece(self, raw: &[u8]) -> usize {
        if raw.len() <= PIECE {
            return raw.len();
        }
        if matches!(self, Form::Base64 | Form::Hex) {
            return PIECE;
        }
        let is_inside = |at: usize| raw.get(at).is_some_and(|byte| (0x80..0xC0).contains(byte));
        (PIECE - 3..=PIECE)
            .rev()
            .find(|at| !is_inside(*at))
            .unwrap_or(PIECE)
    }
}

struct Cut {
    at: usize,
    form: Form,
    /// Of what was made; nothing where it is of the records.
    part: Option<Part>,
    range: Range<usize>,
}

/// What is left of a record's line, and the texts that were made for it.
struct Rest {
    literal: Vec<u8>,
    made: Scratch,
    done: usize,
    cuts: std::vec::IntoIter<Cut>,
    current: Option<Cut>,
}

#[derive(Default)]
pub struct Output {
    pub bytes: Vec<u8>,
    cuts: Vec<Cut>,
    rest: Option<Rest>,
    /// Whether lines must stay in one piece.
    is_whole: bool,
}

impl Output {
    pub fn new(is_whole: bool) -> Self {
        Output {
            is_whole,
            ..Output::default()
        }
    }

    /// Append a value that lies in *records*, or remember to do so by and by.
    #[inline]
    pub fn value(&mut self, form: Form, raw: &[u8], records: &[u8]) {
        if raw.len() <= LONG || self.is_whole {
            return form.put(&mut self.bytes, raw);
        }
        let start = (raw.as_ptr() as usize).wrapping_sub(records.as_ptr() as usize);
        if records
            .get(start..start.saturating_add(raw.len()))
            .is_none()
        {
            return form.put(&mut self.bytes, raw);
        }
        self.cut(form, None, start..start + raw.len());
    }

    /// Append a text that was made, and lies in the scratch, as `value` does one of the records.
    #[inline]
    pub fn made(&mut self, form: Form, part: Part, scratch: &Scratch) {
        let text = scratch.part(part);
        if text.len() <= LONG || self.is_whole {
            return form.put(&mut self.bytes, text);
        }
        self.cut(form, Some(part), 0..text.len());
    }

    fn cut(&mut self, form: Form, part: Option<Part>, range: Range<usize>) {
        self.cuts.push(Cut {
            at: self.bytes.len(),
            form,
            part,
            range,
        });
    }

    /// Forget what was appended since there were so many bytes.
    pub fn truncate(&mut self, size: usize) {
        self.bytes.truncate(size);
        self.cuts.retain(|cut| cut.at <= size && cut.at < size);
    }

    /// End a line; its long values are written by `go_on`, those in the scratch are taken away.
    #[inline]
    pub fn end_line(&mut self, scratch: &mut Scratch) {
        let Some(first) = self.cuts.first() else {
            return;
        };
        let start = first.at;
        let literal = self.bytes.split_off(start);
        let mut cuts = std::mem::take(&mut self.cuts);
        for cut in &mut cuts {
            cut.at -= start;
        }
        let mut cuts = cuts.into_iter();
        let current = cuts.next();
        self.rest = Some(Rest {
            literal,
            made: std::mem::take(scratch),
            done: 0,
            cuts,
            current,
        });
    }

    pub fn has_rest(&self) -> bool {
        self.rest.is_some()
    }

    /// Write more of a line's long values, up to about *most* bytes in all.
    pub fn go_on(&mut self, records: &[u8], most: usize) {
        while self.bytes.len() < most {
            let Some(rest) = &mut self.rest else { return };
            let Some(cut) = &mut rest.current else {
                self.bytes
                    .extend_from_slice(rest.literal.get(rest.done..).unwrap_or(b""));
                self.rest = None;
                return;
            };
            if rest.done < cut.at {
                self.bytes
                    .extend_from_slice(rest.literal.get(rest.done..cut.at).unwrap_or(b""));
                rest.done = cut.at;
            }
            let whole = cut.part.map_or(records, |part| rest.made.part(part));
            let raw = whole.get(cut.range.clone()).unwrap_or(b"");
            let size = cut.form.piece(raw);
            cut.form
                .put(&mut self.bytes, raw.get(..size).unwrap_or(b""));
            cut.range.start += size;
            if cut.range.is_empty() {
                rest.current = rest.cuts.next();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_come_in_pieces() {
        let records: Vec<u8> = "aé\u{20ac}\u{1f600}"
            .bytes()
            .cycle()
            .take(1 << 20)
            .collect();
        for form in [
            Form::Java,
            Form::Hex,
            Form::Base64,
            Form::Json,
            Form::CsvJson,
            Form::Csv,
            Form::Plain,
        ] {
            let mut whole = Vec::new();
            form.put(&mut whole, &records[1..]);
            let mut output = Output::default();
            output.bytes.extend_from_slice(b"<");
            output.value(form, &records[1..], &records);
            let mut scratch = Scratch {
                value: records.clone(),
                ..Scratch::default()
            };
            output.made(Form::Plain, Part::Value, &scratch);
            output.bytes.extend_from_slice(b">\n");
            output.end_line(&mut scratch);
            let mut found = Vec::new();
            while output.has_rest() {
                output.go_on(&records, 1 << 16);
                assert!(output.bytes.len() < 1 << 20);
                found.append(&mut output.bytes);
            }
            assert_eq!(found, [b"<", &whole[..], &records[..], b">\n"].concat());
        }
    }
}
