//! Output of a limited size a call; it may end in the middle of a long value.
use crate::decode::{Part, Scratch};
use crate::text;
use std::ops::Range;

/// The size in bytes from which a value is written in pieces.
const LONG: usize = 256 << 10;
/// The size of a piece in bytes; a multiple of three, for base64.
const PIECE: usize = 96 << 10;
/// The size of the output after which all values but short ones are written in pieces: a record can
/// have thousands of headers.
const MUCH: usize = 2 << 20;
const SHORT: usize = 32;

/// The encoding of a value in the output.
#[derive(Clone, Copy)]
pub enum Encoding {
    Java,
    Hex,
    Base64,
    /// A JSON string as Python writes it, without the quotes; bad UTF-8 is replaced as in Python.
    Json,
    /// The same in a quoted field of CSV.
    CsvJson,
    Csv,
    /// The bytes themselves.
    Plain,
}

impl Encoding {
    fn put(self, out: &mut Vec<u8>, raw: &[u8]) {
        match self {
            Encoding::Plain => out.extend_from_slice(raw),
            Encoding::Java => text::java_utf8(out, raw),
            Encoding::Hex => text::hex(out, raw),
            Encoding::Base64 => text::base64(out, raw),
            Encoding::Json if text::is_plain(raw) => out.extend_from_slice(raw),
            Encoding::Json => text::python_json(out, &text::lossy(raw)),
            Encoding::CsvJson if text::is_plain(raw) => out.extend_from_slice(raw),
            Encoding::CsvJson => {
                let mut json = Vec::with_capacity(raw.len());
                text::python_json(&mut json, &text::lossy(raw));
                text::csv_quoted(out, &json);
            }
            Encoding::Csv => text::csv_quoted(out, raw),
        }
    }

    /// The size of a piece at the beginning of a value: it does not cut a character.
    fn piece_size(self, raw: &[u8]) -> usize {
        if raw.len() <= PIECE {
            return raw.len();
        }
        if matches!(self, Encoding::Base64 | Encoding::Hex) {
            return PIECE;
        }
        let is_inside = |index: usize| {
            raw.get(index)
                .is_some_and(|byte| (0x80..0xC0).contains(byte))
        };
        (PIECE - 3..=PIECE)
            .rev()
            .find(|index| !is_inside(*index))
            .unwrap_or(PIECE)
    }
}

/// Append a value; on one line, ends of lines in it are escapes.
#[inline]
fn put_value(out: &mut Vec<u8>, encoding: Encoding, raw: &[u8], is_one_line: bool) {
    let start = out.len();
    encoding.put(out, raw);
    if is_one_line && out.get(start..).is_some_and(|text| text.contains(&b'\n')) {
        let text = out.split_off(start);
        for byte in text {
            match byte {
                b'\n' => out.extend_from_slice(b"\\n"),
                byte => out.push(byte),
            }
        }
    }
}

/// A long value that is still to be written at *at* of a line.
struct LongValue {
    at: usize,
    encoding: Encoding,
    /// The part of the scratch, or None for the records.
    part: Option<Part>,
    range: Range<usize>,
}

/// The rest of a record's line, and the texts that were rendered for it.
struct UnfinishedLine {
    literal: Vec<u8>,
    scratch: Scratch,
    done: usize,
    long_values: std::vec::IntoIter<LongValue>,
    current: Option<LongValue>,
}

#[derive(Default)]
pub struct Output {
    pub bytes: Vec<u8>,
    long_values: Vec<LongValue>,
    rest: Option<UnfinishedLine>,
    /// Whether ends of lines in values are written as escapes.
    is_one_line: bool,
}

impl Output {
    pub fn new(is_one_line: bool) -> Self {
        Output {
            is_one_line,
            ..Output::default()
        }
    }

    /// Append a value inside *records*, or note a long one for `go_on`.
    #[inline]
    pub fn value(&mut self, encoding: Encoding, raw: &[u8], records: &[u8]) {
        if self.takes(raw.len()) {
            return self.put(encoding, raw);
        }
        let start = (raw.as_ptr() as usize).wrapping_sub(records.as_ptr() as usize);
        if records
            .get(start..start.saturating_add(raw.len()))
            .is_none()
        {
            return self.put(encoding, raw);
        }
        self.long_value(encoding, None, start..start + raw.len());
    }

    /// Append a text in the scratch, or note a long one for `go_on`.
    #[inline]
    pub fn rendered(&mut self, encoding: Encoding, part: Part, scratch: &Scratch) {
        let text = scratch.part(part);
        if self.takes(text.len()) {
            return self.put(encoding, text);
        }
        self.long_value(encoding, Some(part), 0..text.len());
    }

    /// Tell whether a value of this size is written at once.
    #[inline]
    fn takes(&self, size: usize) -> bool {
        size <= SHORT || size <= LONG && self.bytes.len() < MUCH
    }

    #[inline]
    fn put(&mut self, encoding: Encoding, raw: &[u8]) {
        put_value(&mut self.bytes, encoding, raw, self.is_one_line);
    }

    fn long_value(&mut self, encoding: Encoding, part: Option<Part>, range: Range<usize>) {
        self.long_values.push(LongValue {
            at: self.bytes.len(),
            encoding,
            part,
            range,
        });
    }

    /// Remove the output after *size* bytes.
    pub fn truncate(&mut self, size: usize) {
        self.bytes.truncate(size);
        self.long_values
            .retain(|long_value| long_value.at <= size && long_value.at < size);
    }

    /// End a line; `go_on` writes its long values, with the scratch that it takes.
    #[inline]
    pub fn end_line(&mut self, scratch: &mut Scratch) {
        let Some(first) = self.long_values.first() else {
            return;
        };
        let start = first.at;
        let literal = self.bytes.split_off(start);
        let mut long_values = std::mem::take(&mut self.long_values);
        for long_value in &mut long_values {
            long_value.at -= start;
        }
        let mut long_values = long_values.into_iter();
        let current = long_values.next();
        self.rest = Some(UnfinishedLine {
            literal,
            scratch: std::mem::take(scratch),
            done: 0,
            long_values,
            current,
        });
    }

    pub fn has_rest(&self) -> bool {
        self.rest.is_some()
    }

    /// Write more of a line's long values, up to about *limit* bytes of output.
    pub fn go_on(&mut self, records: &[u8], limit: usize) {
        while self.bytes.len() < limit {
            let Some(rest) = &mut self.rest else { return };
            let Some(long_value) = &mut rest.current else {
                self.bytes
                    .extend_from_slice(rest.literal.get(rest.done..).unwrap_or(b""));
                self.rest = None;
                return;
            };
            if rest.done < long_value.at {
                self.bytes
                    .extend_from_slice(rest.literal.get(rest.done..long_value.at).unwrap_or(b""));
                rest.done = long_value.at;
            }
            let whole = long_value
                .part
                .map_or(records, |part| rest.scratch.part(part));
            let raw = whole.get(long_value.range.clone()).unwrap_or(b"");
            let size = long_value.encoding.piece_size(raw);
            let piece = raw.get(..size).unwrap_or(b"");
            put_value(
                &mut self.bytes,
                long_value.encoding,
                piece,
                self.is_one_line,
            );
            long_value.range.start += size;
            if long_value.range.is_empty() {
                rest.current = rest.long_values.next();
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
        for encoding in [
            Encoding::Java,
            Encoding::Hex,
            Encoding::Base64,
            Encoding::Json,
            Encoding::CsvJson,
            Encoding::Csv,
            Encoding::Plain,
        ] {
            let mut whole = Vec::new();
            encoding.put(&mut whole, &records[1..]);
            let mut output = Output::default();
            output.bytes.extend_from_slice(b"<");
            output.value(encoding, &records[1..], &records);
            let mut scratch = Scratch {
                value: records.clone(),
                ..Scratch::default()
            };
            output.rendered(Encoding::Plain, Part::Value, &scratch);
            output.bytes.extend_from_slice(b">\n");
            output.end_line(&mut scratch);
            let mut pieces = Vec::new();
            while output.has_rest() {
                output.go_on(&records, 1 << 16);
                assert!(output.bytes.len() < 1 << 20);
                pieces.append(&mut output.bytes);
            }
            assert_eq!(pieces, [b"<", &whole[..], &records[..], b">\n"].concat());
        }
    }
}
