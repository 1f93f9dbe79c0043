//! Values as text, as Java, Jackson, and Python's `json` and `csv` write them.
use std::borrow::Cow;

const PAIRS: &[u8; 200] = b"00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// A value that `put!` appends to output.
pub trait Put {
    fn put(&self, out: &mut Vec<u8>);
}

macro_rules! put {
    ($out:expr, $($part:expr),* $(,)?) => {{ $( $crate::text::Put::put(&$part, $out); )* }};
}
pub(crate) use put;

impl Put for &str {
    #[inline(always)]
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_bytes());
    }
}

impl Put for &[u8] {
    #[inline(always)]
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
}

macro_rules! put_numbers {
    ($($kind:ty),*) => { $( impl Put for $kind {
        #[inline(always)]
        fn put(&self, out: &mut Vec<u8>) { int(out, *self as i64); }
    } )* };
}
put_numbers!(i64, i32, i16, u32, usize);

/// Return a boolean as Java and JSON write it.
#[inline(always)]
pub fn truth(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

#[inline(always)]
pub fn int(out: &mut Vec<u8>, number: i64) {
    let mut left = number.unsigned_abs();
    if number < 0 {
        out.push(b'-');
    }
    if left < 10 {
        out.push(b'0' + left as u8);
        return;
    }
    let mut digits = [0u8; 20];
    let mut start = 20;
    while left >= 100 {
        let pair = (left % 100) as usize * 2;
        left /= 100;
        start -= 2;
        digits[start..start + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if left >= 10 {
        let pair = left as usize * 2;
        start -= 2;
        digits[start..start + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    } else {
        start -= 1;
        digits[start] = b'0' + left as u8;
    }
    out.extend_from_slice(&digits[start..]);
}

/// A short text for many appends: copying a fixed size is faster than copying any size.
pub struct Fixed {
    bytes: [u8; Fixed::SIZE],
    size: usize,
    longer: Box<[u8]>,
}

impl Fixed {
    const SIZE: usize = 32;

    pub fn new(text: &[u8]) -> Self {
        let mut bytes = [0; Fixed::SIZE];
        if let Some(start) = bytes.get_mut(..text.len()) {
            start.copy_from_slice(text);
            return Fixed {
                bytes,
                size: text.len(),
                longer: Box::default(),
            };
        }
        Fixed {
            bytes,
            size: text.len(),
            longer: text.into(),
        }
    }

    #[inline(always)]
    pub fn put(&self, out: &mut Vec<u8>) {
        if !self.longer.is_empty() {
            return out.extend_from_slice(&self.longer);
        }
        let end = out.len() + self.size;
        out.extend_from_slice(&self.bytes);
        out.truncate(end);
    }

    pub fn as_slice(&self) -> &[u8] {
        if self.longer.is_empty() {
            &self.bytes[..self.size]
        } else {
            &self.longer
        }
    }
}

/// A UUID as Kafka shows it: URL-safe base64 without padding.
#[inline(always)]
pub fn uuid(out: &mut Vec<u8>, raw: &[u8; 16]) {
    let mut text = [0u8; 22];
    for i in 0..5 {
        let word = (raw[3 * i] as u32) << 16 | (raw[3 * i + 1] as u32) << 8 | raw[3 * i + 2] as u32;
        for k in 0..4 {
            text[4 * i + k] = URL_SAFE[(word >> (18 - 6 * k)) as usize & 63];
        }
    }
    text[20] = URL_SAFE[(raw[15] >> 2) as usize];
    text[21] = URL_SAFE[((raw[15] & 3) << 4) as usize];
    out.extend_from_slice(&text);
}

/// Standard base64, padded.
pub fn base64(out: &mut Vec<u8>, raw: &[u8]) {
    let start = out.len();
    let mut chunks = raw.chunks_exact(3);
    out.resize(start + chunks.len() * 4, 0);
    for (c, text) in (&mut chunks).zip(out[start..].chunks_exact_mut(4)) {
        let word = (c[0] as u32) << 16 | (c[1] as u32) << 8 | c[2] as u32;
        text[0] = STANDARD[(word >> 18) as usize & 63];
        text[1] = STANDARD[(word >> 12) as usize & 63];
        text[2] = STANDARD[(word >> 6) as usize & 63];
        text[3] = STANDARD[word as usize & 63];
    }
    match *chunks.remainder() {
        [a] => out.extend_from_slice(&[
            STANDARD[(a >> 2) as usize],
            STANDARD[((a & 3) << 4) as usize],
            b'=',
            b'=',
        ]),
        [a, b] => out.extend_from_slice(&[
            STANDARD[(a >> 2) as usize],
            STANDARD[((a & 3) << 4 | b >> 4) as usize],
            STANDARD[((b & 15) << 2) as usize],
            b'=',
        ]),
        _ => {}
    }
}

pub fn hex(out: &mut Vec<u8>, raw: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in raw {
        out.push(DIGITS[(byte >> 4) as usize]);
        out.push(DIGITS[(byte & 15) as usize]);
    }
}

/// The digits of a finite positive double, and the place of the point before them: 0.DIGITS e POINT.
fn digits_of(number: f64) -> (String, i32) {
    let mut shortest = format!("{number:e}");
    if shortest.as_bytes().get(1) == Some(&b'e') {
        // Java wants two digits, and of those that name this double the nearest: 4.9E-324.
        shortest = format!("{number:.1e}");
    }
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let digits = digits.trim_end_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    (digits.to_owned(), exponent.parse::<i32>().unwrap_or(0) + 1)
}

fn or_zero(digits: &str) -> &str {
    if digits.is_empty() { "0" } else { digits }
}

/// A double as Java's `Double.toString`; NaN and infinities are quoted.
pub fn double(out: &mut Vec<u8>, number: f64) {
    if number.is_nan() {
        return put!(out, "\"NaN\"");
    }
    if number.is_infinite() {
        return put!(
            out,
            if number > 0.0 {
                "\"Infinity\""
            } else {
                "\"-Infinity\""
            }
        );
    }
    if number.is_sign_negative() {
        out.push(b'-');
    }
    if number == 0.0 {
        return put!(out, "0.0");
    }
    let (digits, point) = digits_of(number.abs());
    let text = if !(-2..=7).contains(&point) {
        format!("{}.{}E{}", &digits[..1], or_zero(&digits[1..]), point - 1)
    } else if point <= 0 {
        format!("0.{}{digits}", "0".repeat(point.unsigned_abs() as usize))
    } else {
        let point = point as usize;
        let whole = &digits[..digits.len().min(point)];
        format!(
            "{whole:0<point$}.{}",
            or_zero(digits.get(point..).unwrap_or(""))
        )
    };
    put!(out, text.as_str());
}

/// UTF-8 as Java decodes it: U+FFFD for bad input, an encoded surrogate being one of them.
pub fn java_utf8(out: &mut Vec<u8>, raw: &[u8]) {
    let error = match std::str::from_utf8(raw) {
        Ok(text) => return put!(out, text),
        Err(error) => error,
    };
    let (good, rest) = raw.split_at(error.valid_up_to());
    out.extend_from_slice(good);
    let mut at = 0;
    while at < rest.len() {
        let stop = rest.len().min(at + BLOCK);
        let mut end = out.len();
        out.resize(end + 3 * (stop - at) + 4, 0);
        while at < stop {
            // What has one bad byte may be binary, where a branch that is taken for every second
            // byte takes most of the time: this is taken for a twentieth of them.
            let next = rest.get(at + 1).map_or(0, |next| *next);
            if (rest[at] >= 0xC2) & (next & 0xC0 == 0x80) {
                let (size, is_good) = java_sequence(&rest[at..]);
                let text = if is_good {
                    &rest[at..at + size]
                } else {
                    REPLACEMENT
                };
                out[end..end + text.len()].copy_from_slice(text);
                (at, end) = (at + size, end + text.len());
                continue;
            }
            let text = ALONE[rest[at] as usize];
            out[end..end + 4].copy_from_slice(&text.to_le_bytes());
            (at, end) = (at + 1, end + (text >> 24) as usize);
        }
        out.truncate(end);
    }
}

/// Bytes of bad UTF-8 for which room is made at a time.
const BLOCK: usize = 4096;

/// The text of a byte that is not part of a sequence, and above its three bytes its size.
const ALONE: [u32; 256] = {
    let mut table = [0x03BD_BFEF; 256]; // REPLACEMENT
    let mut i = 0;
    while i < 0x80 {
        table[i] = 1 << 24 | i as u32;
        i += 1;
    }
    table
};

/// The size of the sequence at the beginning of *raw*, and whether it is good; one that is bad ends
/// before the first byte that cannot follow (`UTF_8.Decoder.malformedN`).
fn java_sequence(raw: &[u8]) -> (usize, bool) {
    let (size, second) = match raw {
        [0xC2..=0xDF, ..] => (2, 0x80..=0xBF),
        [0xE0, ..] => (3, 0xA0..=0xBF),
        // Surrogates, 0xED 0xA0 to 0xBF, are read whole, and bad.
        [0xE1..=0xEF, ..] => (3, 0x80..=0xBF),
        [0xF0, ..] => (4, 0x90..=0xBF),
        [0xF1..=0xF3, ..] => (4, 0x80..=0xBF),
        [0xF4, ..] => (4, 0x80..=0x8F),
        _ => return (1, false),
    };
    let Some(following) = raw.get(1) else {
        return (1, false);
    };
    if !second.contains(following) {
        return (1, false);
    }
    let tail = raw.iter().take(size).skip(2);
    let end = 2 + tail.take_while(|byte| matches!(byte, 0x80..=0xBF)).count();
    let is_surrogate = matches!(raw, [0xED, 0xA0..=0xBF, ..]);
    (end, end == size && !is_surrogate)
}

const PLAIN: [bool; 256] = {
    let mut table = [false; 256];
    let mut i = 0x20;
    while i < 0x80 {
        table[i] = i != b'"' as usize && i != b'\\' as usize;
        i += 1;
    }
    table
};

/// A JSON string in quotes as Jackson writes it: with the fewest escapes, hex in capitals.
#[inline]
pub fn json_string(out: &mut Vec<u8>, raw: &[u8]) {
    out.push(b'"');
    if is_plain(raw) {
        out.extend_from_slice(raw);
    } else {
        let mut text = Vec::with_capacity(raw.len());
        java_utf8(&mut text, raw);
        escaped(out, &text, b"0123456789ABCDEF");
    }
    out.push(b'"');
}

/// A JSON string without quotes as Python's `json` writes it without `ensure_ascii`.
pub fn python_json(out: &mut Vec<u8>, text: &[u8]) {
    if is_plain(text) {
        out.extend_from_slice(text);
    } else {
        escaped(out, text, b"0123456789abcdef");
    }
}

/// Tell whether a JSON string has these bytes as they are.
pub fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|c| PLAIN[*c as usize])
}

fn escaped(out: &mut Vec<u8>, text: &[u8], digits: &[u8; 16]) {
    let mut from = 0;
    for (at, &c) in text.iter().enumerate() {
        if c >= 0x20 && c != b'"' && c != b'\\' {
            continue;
        }
        out.extend_from_slice(&text[from..at]);
        from = at + 1;
        match c {
            b'"' => put!(out, "\\\""),
            b'\\' => put!(out, "\\\\"),
            8 => put!(out, "\\b"),
            9 => put!(out, "\\t"),
            10 => put!(out, "\\n"),
            12 => put!(out, "\\f"),
            13 => put!(out, "\\r"),
            c => out.extend_from_slice(&[
                b'\\',
                b'u',
                b'0',
                b'0',
                digits[(c >> 4) as usize],
                digits[(c & 15) as usize],
            ]),
        }
    }
    out.extend_from_slice(&text[from..]);
}

/// Text with U+FFFD as Python's `replace` has it.
pub fn lossy(raw: &[u8]) -> Cow<'_, [u8]> {
    match String::from_utf8_lossy(raw) {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// Tell whether `csv` quotes a field.
pub fn is_quoted(field: &[u8]) -> bool {
    field
        .iter()
        .any(|c| matches!(c, b',' | b'"' | b'\r' | b'\n'))
}

/// The text between the quotes of a field of CSV.
pub fn csv_quoted(out: &mut Vec<u8>, field: &[u8]) {
    for piece in field.split_inclusive(|c| *c == b'"') {
        out.extend_from_slice(piece);
        if piece.last() == Some(&b'"') {
            out.push(b'"');
        }
    }
}

/// The mark before a field that spreadsheets would take for a formula, by the field's begin.
pub fn apostrophe(is_safe: bool, field: &[u8]) -> &'static str {
    let is_formula = |first| matches!(first, &b'=' | &b'+' | &b'-' | &b'@' | &b'\t' | &b'\r');
    if is_safe && field.first().is_some_and(is_formula) {
        "'"
    } else {
        ""
    }
}

/// A field of CSV as Python's `csv` writes it, if *is_safe* with a mark before formulas.
pub fn csv(out: &mut Vec<u8>, field: &[u8], is_safe: bool) {
    let mark = apostrophe(is_safe, field).as_bytes();
    if is_quoted(field) {
        out.push(b'"');
        out.extend_from_slice(mark);
        csv_quoted(out, field);
        out.push(b'"');
    } else {
        out.extend_from_slice(mark);
        out.extend_from_slice(field);
    }
}

/// The number of ends of lines.
pub fn line_count(bytes: &[u8]) -> usize {
    // As many as a byte can count, which processors add up side by side.
    let piece = |some: &[u8]| {
        some.iter()
            .fold(0u8, |count, byte| count + (*byte == b'\n') as u8)
    };
    bytes.chunks(192).map(|some| piece(some) as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(make: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        make(&mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn doubles_are_javas() {
        for (number, text) in [
            (1.0, "1.0"),
            (0.001, "0.001"),
            (1e-4, "1.0E-4"),
            (1e7, "1.0E7"),
            (9999999.5, "9999999.5"),
            (5e-324, "4.9E-324"),
            (-0.0, "-0.0"),
            (123456.0, "123456.0"),
        ] {
            assert_eq!(made(|out| double(out, number)), text);
        }
    }

    #[test]
    fn bad_utf8_is_javas() {
        assert_eq!(made(|out| java_utf8(out, b"a\xed\xa0\x80b")), "a\u{FFFD}b");
        assert_eq!(
            made(|out| java_utf8(out, b"\xff\xffx\xe2\x82")),
            "\u{FFFD}\u{FFFD}x\u{FFFD}"
        );
        assert_eq!(made(|out| java_utf8(out, b"\xed\xa0")), "\u{FFFD}");
    }

    /// What Rust's own decoder makes of bytes; it ends an encoded surrogate after its first byte.
    fn standard(raw: &[u8]) -> String {
        String::from_utf8_lossy(raw).into_owned()
    }

    #[test]
    fn bad_utf8_but_for_surrogates_is_rusts() {
        let bytes = [
            0, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1,
            0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
        ];
        let mut raws = vec![Vec::new()];
        for start in 0..1 + bytes.len() + bytes.len().pow(2) + bytes.len().pow(3) {
            for byte in bytes {
                raws.push([raws[start].as_slice(), &[byte]].concat());
            }
        }
        raws.retain(|raw| {
            !raw.windows(2)
                .any(|pair| matches!(pair, [0xED, 0xA0..=0xBF]))
        });
        assert!(raws.len() > 300_000);
        for raw in raws {
            assert_eq!(made(|out| java_utf8(out, &raw)), standard(&raw), "{raw:x?}");
        }
    }

    #[test]
    fn json_escapes() {
        assert_eq!(
            made(|out| json_string(out, b"a\"\x1f\n")),
            "\"a\\\"\\u001F\\n\""
        );
        assert_eq!(made(|out| python_json(out, b"\x1f\x7f")), "\\u001f\u{7f}");
    }
}
