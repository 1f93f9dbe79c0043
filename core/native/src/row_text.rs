//! A row as a line of JSON or CSV.
use crate::batch::{Header, Record};
use crate::decode::{Part, Shown, TypeName, unknown_name};
use crate::output::{Encoding, Output};
use crate::row::Row;
use crate::text::{self, put, truth};

/// The file of the rows, and topic and partition of its log if they are known.
pub struct Origin {
    pub file: Vec<u8>,
    pub log: Option<(Vec<u8>, i32)>,
    json: Texts,
    csv: Texts,
    is_safe: bool,
}

/// The texts of a form: of the file, and of topic and partition.
#[derive(Default)]
struct Texts {
    file: Vec<u8>,
    log: Vec<u8>,
}

impl Origin {
    /// Make the texts; if *is_safe*, those of CSV are not formulas for spreadsheets.
    pub fn of(file: Vec<u8>, log: Option<(Vec<u8>, i32)>, is_safe: bool) -> Self {
        let (mut json, mut csv) = (Texts::default(), Texts::default());
        crate::json::put_string(&mut json.file, &file);
        text::csv(&mut csv.file, &file, is_safe);
        match &log {
            Some((topic, partition)) => {
                put!(&mut json.log, ",\"topic\":");
                crate::json::put_string(&mut json.log, topic);
                put!(&mut json.log, ",\"partition\":", *partition);
                text::csv(&mut csv.log, topic, is_safe);
                put!(&mut csv.log, ",", *partition);
            }
            None => {
                put!(&mut json.log, ",\"topic\":null,\"partition\":null");
                put!(&mut csv.log, ",");
            }
        }
        Origin {
            file,
            log,
            json,
            csv,
            is_safe,
        }
    }
}

/// The parts that all rows of a batch have in common.
///
/// They come before the offset, between time and sequence, and between sequence and key size.
#[derive(Default)]
pub struct CommonParts {
    head: Vec<u8>,
    middle: Vec<u8>,
    last: Vec<u8>,
}

impl CommonParts {
    pub fn json(origin: &Origin, position: i64, header: &Header, is_valid: bool) -> Self {
        let mut common = CommonParts::default();
        let out = &mut common.head;
        put!(out, "{\"file\":", &origin.json.file[..], ",\"position\":");
        JSON.present(out, position);
        put!(out, ",\"baseOffset\":", header.base_offset);
        put!(out, &origin.json.log[..], ",\"offset\":");
        let out = &mut common.middle;
        put!(
            out,
            ",\"timestampType\":\"",
            header.time_type(),
            "\",\"crcValid\":",
            truth(is_valid),
            ",\"leaderEpoch\":"
        );
        JSON.present(out, header.leader_epoch as i64);
        put!(out, ",\"producerId\":");
        JSON.present(out, header.producer_id);
        put!(out, ",\"producerEpoch\":");
        JSON.present(out, header.producer_epoch as i64);
        put!(out, ",\"sequence\":");
        let out = &mut common.last;
        put!(out, ",\"transactional\":", truth(header.is_transactional()));
        put!(out, ",\"control\":", truth(header.is_control()));
        put!(out, ",\"codec\":\"", header.codec_name(), "\",\"keySize\":");
        common
    }

    pub fn csv(origin: &Origin, position: i64, header: &Header, is_valid: bool) -> Self {
        let mut common = CommonParts::default();
        let out = &mut common.head;
        put!(out, &origin.csv.file[..], ",");
        CSV.present(out, position);
        put!(out, ",", header.base_offset, ",");
        put!(out, &origin.csv.log[..], ",");
        let out = &mut common.middle;
        put!(out, ",", header.time_type(), ",", truth(is_valid), ",");
        CSV.present(out, header.leader_epoch as i64);
        out.push(b',');
        CSV.present(out, header.producer_id);
        out.push(b',');
        CSV.present(out, header.producer_epoch as i64);
        let out = &mut common.last;
        put!(
            out,
            ",",
            truth(header.is_transactional()),
            ",",
            truth(header.is_control())
        );
        put!(out, ",", header.codec_name());
        common
    }
}

/// The marks of JSON or CSV: for null, and around texts.
struct Form {
    null: &'static str,
    quote: &'static str,
}

const JSON: Form = Form {
    null: "null",
    quote: "\"",
};
const CSV: Form = Form {
    null: "",
    quote: "",
};

impl Form {
    /// Append a number; a negative one is null.
    #[inline(always)]
    fn present(&self, out: &mut Vec<u8>, number: i64) {
        if number < 0 {
            put!(out, self.null);
        } else {
            text::int(out, number);
        }
    }

    #[inline(always)]
    fn size(&self, out: &mut Vec<u8>, raw: Option<&[u8]>) {
        self.present(out, raw.map_or(-1, |raw| raw.len() as i64));
    }

    #[inline(always)]
    fn number(&self, out: &mut Vec<u8>, number: Option<i32>) {
        match number {
            None => put!(out, self.null),
            Some(number) => put!(out, number),
        }
    }

    #[inline(always)]
    fn type_name(&self, out: &mut Vec<u8>, name: TypeName) {
        match name {
            TypeName::None => put!(out, self.null),
            TypeName::Name(name) => put!(out, self.quote, name, self.quote),
            TypeName::Unknown(number) => {
                put!(out, self.quote, unknown_name(number).as_str(), self.quote)
            }
        }
    }

    #[inline(always)]
    fn uuid(&self, out: &mut Vec<u8>, id: Option<[u8; 16]>) {
        match id {
            None => put!(out, self.null),
            Some(raw) => {
                put!(out, self.quote);
                text::uuid(out, &raw);
                put!(out, self.quote);
            }
        }
    }

    #[inline(always)]
    fn encoding(&self, out: &mut Vec<u8>, shown: &Shown) {
        match shown {
            Shown::Base64(_) => put!(out, self.quote, "base64", self.quote),
            _ => put!(out, self.null),
        }
    }
}

pub fn json_row(output: &mut Output, common: &CommonParts, row: &Row, records: &[u8]) {
    let (header, record, meaning) = (row.common.header, row.record, row.meaning);
    let out = &mut output.bytes;
    put!(
        out,
        &common.head[..],
        record.offset,
        ",\"timestamp\":",
        record.time,
        &common.middle[..]
    );
    JSON.present(out, header.sequence_of(record.offset) as i64);
    put!(out, &common.last[..]);
    JSON.size(out, record.key);
    put!(out, ",\"valueSize\":");
    JSON.size(out, record.value);
    put!(out, ",\"headers\":[");
    if record.headers.count > 0 {
        put_headers(output, record, records, Encoding::Json);
    }
    let out = &mut output.bytes;
    put!(out, "],\"kind\":\"", meaning.kind, "\",\"type\":");
    JSON.type_name(out, meaning.type_name);
    put!(out, ",\"version\":");
    JSON.number(out, meaning.version);
    put!(out, ",\"key\":");
    json_value(output, &meaning.key, Part::Key, row, records);
    put!(&mut output.bytes, ",\"value\":");
    json_value(output, &meaning.value, Part::Value, row, records);
    let out = &mut output.bytes;
    put!(out, ",\"topicId\":");
    JSON.uuid(out, meaning.topic);
    put!(out, ",\"partitionId\":");
    JSON.number(out, meaning.partition);
    put!(out, ",\"brokerId\":");
    JSON.number(out, meaning.broker);
    put!(out, ",\"keyEncoding\":");
    JSON.encoding(out, &meaning.key);
    put!(out, ",\"valueEncoding\":");
    JSON.encoding(out, &meaning.value);
    put!(out, ",\"error\":");
    match &meaning.error {
        None => put!(out, "null"),
        Some(error) => crate::json::put_string(out, error.as_bytes()),
    }
    put!(out, "}\n");
}

fn json_value(output: &mut Output, shown: &Shown, part: Part, row: &Row, records: &[u8]) {
    let (encoding, raw) = match shown {
        Shown::Null => return put!(&mut output.bytes, "null"),
        Shown::Json => return output.rendered(Encoding::Plain, part, row.scratch),
        Shown::Owned(text) => (Encoding::Json, &text[..]),
        Shown::Text(raw) => (Encoding::Json, *raw),
        Shown::Base64(raw) => (Encoding::Base64, *raw),
    };
    output.bytes.push(b'"');
    output.value(encoding, raw, records);
    output.bytes.push(b'"');
}

/// Append the headers of a row, without the brackets around them.
fn put_headers(output: &mut Output, record: &Record, records: &[u8], encoding: Encoding) {
    let [before_key, before_value, quote] = match encoding {
        Encoding::CsvJson => ["{\"\"key\"\":\"\"", "\"\",\"\"value\"\":", "\"\""],
        _ => ["{\"key\":\"", "\",\"value\":", "\""],
    };
    for (number, (key, value)) in record.headers.iter().enumerate() {
        if number > 0 {
            output.bytes.push(b',');
        }
        put!(&mut output.bytes, before_key);
        output.value(encoding, key, records);
        put!(&mut output.bytes, before_value);
        match value {
            None => put!(&mut output.bytes, "null"),
            Some(raw) => {
                put!(&mut output.bytes, quote);
                output.value(Encoding::Base64, raw, records);
                put!(&mut output.bytes, quote);
            }
        }
        output.bytes.push(b'}');
    }
}

pub fn csv_row(output: &mut Output, common: &CommonParts, row: &Row, records: &[u8]) {
    let (header, record, meaning) = (row.common.header, row.record, row.meaning);
    let out = &mut output.bytes;
    put!(
        out,
        &common.head[..],
        record.offset,
        ",",
        record.time,
        &common.middle[..],
        ","
    );
    CSV.present(out, header.sequence_of(record.offset) as i64);
    put!(out, &common.last[..], ",");
    CSV.size(out, record.key);
    out.push(b',');
    CSV.size(out, record.value);
    out.push(b',');
    if record.headers.count > 0 {
        put!(out, "\"[");
        put_headers(output, record, records, Encoding::CsvJson);
        put!(&mut output.bytes, "]\"");
    }
    let out = &mut output.bytes;
    put!(out, ",", meaning.kind, ",");
    CSV.type_name(out, meaning.type_name);
    out.push(b',');
    CSV.number(out, meaning.version);
    out.push(b',');
    csv_value(output, &meaning.key, Part::Key, row, records);
    output.bytes.push(b',');
    csv_value(output, &meaning.value, Part::Value, row, records);
    let out = &mut output.bytes;
    out.push(b',');
    CSV.uuid(out, meaning.topic);
    out.push(b',');
    CSV.number(out, meaning.partition);
    out.push(b',');
    CSV.number(out, meaning.broker);
    out.push(b',');
    CSV.encoding(out, &meaning.key);
    out.push(b',');
    CSV.encoding(out, &meaning.value);
    out.push(b',');
    if let Some(error) = &meaning.error {
        text::csv(out, error.as_bytes(), row.common.origin.is_safe);
    }
    out.push(b'\n');
}

fn csv_value(output: &mut Output, shown: &Shown, part: Part, row: &Row, records: &[u8]) {
    let is_safe = row.common.origin.is_safe;
    let out = &mut output.bytes;
    match shown {
        Shown::Null => {}
        Shown::Json if text::is_quoted(row.scratch.part(part)) => {
            out.push(b'"');
            output.rendered(Encoding::Csv, part, row.scratch);
            output.bytes.push(b'"');
        }
        Shown::Json => output.rendered(Encoding::Plain, part, row.scratch),
        Shown::Owned(text) => text::csv(out, text, is_safe),
        Shown::Base64(raw) => {
            let mut begin = Vec::new();
            text::base64(&mut begin, raw.get(..3).unwrap_or(raw));
            put!(out, text::apostrophe(is_safe, &begin));
            output.value(Encoding::Base64, raw, records);
        }
        Shown::Text(raw) if text::is_quoted(raw) => {
            put!(out, "\"", text::apostrophe(is_safe, raw));
            output.value(Encoding::Csv, raw, records);
            output.bytes.push(b'"');
        }
        Shown::Text(raw) => {
            put!(out, text::apostrophe(is_safe, raw));
            output.value(Encoding::Csv, raw, records);
        }
    }
}
