//! A row as a line of JSON or CSV.
use crate::batch::{Header, Record};
use crate::decode::{Part, Shown, TypeName};
use crate::output::{Encoding, Output};
use crate::row::{Cell, Column, Row};
use crate::text::{self, put, truth};

/// The name of the file as forms have it.
pub struct FileName {
    json: Vec<u8>,
    csv: Vec<u8>,
    pub plain: Vec<u8>,
}

impl FileName {
    pub fn of(plain: Vec<u8>) -> Self {
        let (mut json, mut csv) = (Vec::new(), Vec::new());
        crate::json::put_string(&mut json, &plain);
        text::csv(&mut csv, &plain);
        FileName { json, csv, plain }
    }
}

/// What the lines of a batch have in common: before the offset, between time and sequence, and
/// between that and the sizes.
#[derive(Default)]
pub struct CommonParts {
    head: Vec<u8>,
    middle: Vec<u8>,
    last: Vec<u8>,
}

impl CommonParts {
    pub fn json(file: &FileName, position: i64, header: &Header) -> Self {
        let mut common = CommonParts::default();
        let out = &mut common.head;
        put!(out, "{\"file\":", &file.json[..], ",\"position\":");
        or_null(out, position);
        put!(out, ",\"baseOffset\":", header.base_offset, ",\"offset\":");
        let out = &mut common.middle;
        put!(
            out,
            ",\"timestampType\":\"",
            header.time_type(),
            "\",\"leaderEpoch\":"
        );
        or_null(out, header.leader_epoch as i64);
        put!(out, ",\"producerId\":");
        or_null(out, header.producer_id);
        put!(out, ",\"producerEpoch\":");
        or_null(out, header.producer_epoch as i64);
        put!(out, ",\"sequence\":");
        let out = &mut common.last;
        put!(out, ",\"transactional\":", truth(header.is_transactional()));
        put!(out, ",\"control\":", truth(header.is_control()));
        put!(out, ",\"codec\":\"", header.codec_name(), "\",\"keySize\":");
        common
    }

    pub fn csv(file: &FileName, position: i64, header: &Header) -> Self {
        let mut common = CommonParts::default();
        let out = &mut common.head;
        put!(out, &file.csv[..]);
        optional(out, position);
        put!(out, ",", header.base_offset, ",");
        let out = &mut common.middle;
        put!(out, ",", header.time_type());
        optional(out, header.leader_epoch as i64);
        optional(out, header.producer_id);
        optional(out, header.producer_epoch as i64);
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

/// Append a field of CSV: a number, or nothing where it is negative.
fn optional(out: &mut Vec<u8>, number: i64) {
    out.push(b',');
    if number >= 0 {
        text::int(out, number);
    }
}

fn or_null(out: &mut Vec<u8>, number: i64) {
    if number < 0 {
        put!(out, "null")
    } else {
        put!(out, number)
    }
}

pub fn json_row(output: &mut Output, common: &CommonParts, row: &Row, records: &[u8]) {
    let (header, record, meaning) = (row.header, row.record, row.meaning);
    let out = &mut output.bytes;
    put!(
        out,
        &common.head[..],
        record.offset,
        ",\"timestamp\":",
        record.time,
        &common.middle[..]
    );
    or_null(out, header.sequence_of(record.offset) as i64);
    put!(out, &common.last[..]);
    or_null(out, record.key.map_or(-1, |raw| raw.len() as i64));
    put!(out, ",\"valueSize\":");
    or_null(out, record.value.map_or(-1, |raw| raw.len() as i64));
    put!(out, ",\"headers\":[");
    if record.headers.count > 0 {
        put_headers(output, record, records, Encoding::Json);
    }
    let out = &mut output.bytes;
    put!(out, "],\"kind\":\"", meaning.kind, "\",\"type\":");
    match meaning.type_name {
        TypeName::None => put!(out, "null"),
        TypeName::Name(name) => put!(out, "\"", name, "\""),
        TypeName::Number(number) => put!(out, "\"", number, "\""),
    }
    put!(out, ",\"version\":");
    match meaning.version {
        None => put!(out, "null"),
        Some(version) => put!(out, version),
    }
    put!(out, ",\"key\":");
    json_value(output, &meaning.key, Part::Key, row, records);
    put!(&mut output.bytes, ",\"value\":");
    json_value(output, &meaning.value, Part::Value, row, records);
    let out = &mut output.bytes;
    put!(out, ",\"topicId\":");
    match &meaning.topic {
        None => put!(out, "null"),
        Some(raw) => {
            out.push(b'"');
            text::uuid(out, raw);
            out.push(b'"');
        }
    }
    for (name, number) in [
        (",\"partitionId\":", meaning.partition),
        (",\"brokerId\":", meaning.broker),
    ] {
        put!(out, name);
        match number {
            None => put!(out, "null"),
            Some(number) => put!(out, number),
        }
    }
    for (name, shown) in [
        (",\"keyEncoding\":", &meaning.key),
        (",\"valueEncoding\":", &meaning.value),
    ] {
        let is_base64 = matches!(shown, Shown::Base64(_));
        put!(out, name, if is_base64 { "\"base64\"" } else { "null" });
    }
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
        Shown::Json => return output.made(Encoding::Plain, part, row.scratch),
        Shown::Owned(text) => (Encoding::Json, &text[..]),
        Shown::Text(raw) => (Encoding::Json, *raw),
        Shown::Base64(raw) => (Encoding::Base64, *raw),
    };
    output.bytes.push(b'"');
    output.value(encoding, raw, records);
    output.bytes.push(b'"');
}

/// Append what stands between the brackets of a row's headers.
fn put_headers(output: &mut Output, record: &Record, records: &[u8], encoding: Encoding) {
    let quote = if matches!(encoding, Encoding::CsvJson) {
        "\"\""
    } else {
        "\""
    };
    for (number, (key, value)) in record.headers.iter().enumerate() {
        let out = &mut output.bytes;
        put!(out, if number > 0 { "," } else { "" });
        put!(out, "{", quote, "key", quote, ":", quote);
        output.value(encoding, key, records);
        let out = &mut output.bytes;
        put!(out, quote, ",", quote, "value", quote, ":");
        match value {
            None => put!(out, "null"),
            Some(raw) => {
                put!(out, quote);
                output.value(Encoding::Base64, raw, records);
                put!(&mut output.bytes, quote);
            }
        }
        output.bytes.push(b'}');
    }
}

pub fn csv_row(output: &mut Output, common: &CommonParts, row: &Row, records: &[u8]) {
    let (header, record, meaning) = (row.header, row.record, row.meaning);
    let out = &mut output.bytes;
    put!(
        out,
        &common.head[..],
        record.offset,
        ",",
        record.time,
        &common.middle[..]
    );
    optional(out, header.sequence_of(record.offset) as i64);
    put!(out, &common.last[..]);
    optional(out, record.key.map_or(-1, |raw| raw.len() as i64));
    optional(out, record.value.map_or(-1, |raw| raw.len() as i64));
    out.push(b',');
    if record.headers.count > 0 {
        put!(out, "\"[");
        put_headers(output, record, records, Encoding::CsvJson);
        put!(&mut output.bytes, "]\"");
    }
    let out = &mut output.bytes;
    put!(out, ",", meaning.kind, ",");
    match meaning.type_name {
        TypeName::None => {}
        TypeName::Name(name) => put!(out, name),
        TypeName::Number(number) => put!(out, number),
    }
    out.push(b',');
    if let Some(version) = meaning.version {
        put!(out, version);
    }
    csv_value(output, &meaning.key, Part::Key, row, records);
    csv_value(output, &meaning.value, Part::Value, row, records);
    let out = &mut output.bytes;
    out.push(b',');
    if let Some(raw) = &meaning.topic {
        text::uuid(out, raw);
    }
    for number in [meaning.partition, meaning.broker] {
        out.push(b',');
        if let Some(number) = number {
            put!(out, number);
        }
    }
    for shown in [&meaning.key, &meaning.value] {
        put!(
            out,
            if matches!(shown, Shown::Base64(_)) {
                ",base64"
            } else {
                ","
            }
        );
    }
    out.push(b',');
    if let Cell::Text(error) = row.cell(Column::Error) {
        text::csv(out, &error);
    }
    out.push(b'\n');
}

fn csv_value(output: &mut Output, shown: &Shown, part: Part, row: &Row, records: &[u8]) {
    let out = &mut output.bytes;
    out.push(b',');
    match shown {
        Shown::Null => {}
        Shown::Json if text::is_quoted(row.scratch.part(part)) => {
            out.push(b'"');
            output.made(Encoding::Csv, part, row.scratch);
            output.bytes.push(b'"');
        }
        Shown::Json => output.made(Encoding::Plain, part, row.scratch),
        Shown::Owned(text) => text::csv(out, text),
        Shown::Base64(raw) => output.value(Encoding::Base64, raw, records),
        Shown::Text(raw) if text::is_quoted(raw) => {
            out.push(b'"');
            output.value(Encoding::Csv, raw, records);
            output.bytes.push(b'"');
        }
        Shown::Text(raw) => output.value(Encoding::Csv, raw, records),
    }
}
