//! The row of a record, column by column (`kraftops.query.row.Row`).
use crate::batch::{Header, Record};
use crate::decode::{Depth, Meaning, Scratch, Shown, TypeName, unknown_name};
use crate::row_text::Origin;
use crate::text;
use std::borrow::Cow;

#[derive(Clone, Copy, PartialEq)]
pub enum Column {
    File,
    Position,
    BaseOffset,
    Topic,
    Partition,
    Offset,
    Timestamp,
    TimestampType,
    CrcValid,
    LeaderEpoch,
    ProducerId,
    ProducerEpoch,
    Sequence,
    Transactional,
    Control,
    Codec,
    KeySize,
    ValueSize,
    Headers,
    Kind,
    Type,
    Version,
    Key,
    Value,
    TopicId,
    PartitionId,
    BrokerId,
    KeyEncoding,
    ValueEncoding,
    Error,
}

use Column as C;

pub const COLUMNS: [(&str, Column); 30] = [
    ("file", C::File),
    ("position", C::Position),
    ("baseOffset", C::BaseOffset),
    ("topic", C::Topic),
    ("partition", C::Partition),
    ("offset", C::Offset),
    ("timestamp", C::Timestamp),
    ("timestampType", C::TimestampType),
    ("crcValid", C::CrcValid),
    ("leaderEpoch", C::LeaderEpoch),
    ("producerId", C::ProducerId),
    ("producerEpoch", C::ProducerEpoch),
    ("sequence", C::Sequence),
    ("transactional", C::Transactional),
    ("control", C::Control),
    ("codec", C::Codec),
    ("keySize", C::KeySize),
    ("valueSize", C::ValueSize),
    ("headers", C::Headers),
    ("kind", C::Kind),
    ("type", C::Type),
    ("version", C::Version),
    ("key", C::Key),
    ("value", C::Value),
    ("topicId", C::TopicId),
    ("partitionId", C::PartitionId),
    ("brokerId", C::BrokerId),
    ("keyEncoding", C::KeyEncoding),
    ("valueEncoding", C::ValueEncoding),
    ("error", C::Error),
];

/// The columns that a batch header tells.
const OF_HEADER: [Column; 7] = [
    C::TimestampType,
    C::LeaderEpoch,
    C::ProducerId,
    C::ProducerEpoch,
    C::Transactional,
    C::Control,
    C::Codec,
];

impl Column {
    pub fn is_of_header(self) -> bool {
        OF_HEADER.contains(&self)
    }

    pub fn of(name: &str) -> Option<Column> {
        COLUMNS
            .iter()
            .find(|(column, _)| *column == name)
            .map(|(_, column)| *column)
    }

    /// The depth of the meaning that has the column.
    pub fn depth(self) -> Depth {
        match self {
            C::TopicId | C::PartitionId | C::BrokerId | C::Error => Depth::Ids,
            C::Key | C::Value | C::KeyEncoding | C::ValueEncoding => Depth::All,
            _ => Depth::Head,
        }
    }
}

pub enum Cell<'a> {
    Null,
    Int(i64),
    Bool(bool),
    Text(Cow<'a, [u8]>),
    Headers,
}

/// What all rows of a batch have in common.
#[derive(Clone, Copy)]
pub struct Common<'a> {
    pub origin: &'a Origin,
    pub position: i64,
    /// Whether the checksum of the batch matches.
    pub is_valid: bool,
    pub header: &'a Header,
}

impl<'a> Common<'a> {
    /// The cell of a column that is the same in all rows; None of another column.
    pub fn cell(&self, column: Column) -> Option<Cell<'a>> {
        Some(match column {
            C::File | C::Topic | C::Partition => self.origin.cell(column),
            C::Position => present(self.position),
            C::BaseOffset => Cell::Int(self.header.base_offset),
            C::CrcValid => Cell::Bool(self.is_valid),
            _ => return header_cell(self.header, column),
        })
    }

    /// The sequence number of the record with an offset.
    pub fn sequence(&self, offset: i64) -> Cell<'static> {
        present(self.header.sequence_of(offset) as i64)
    }
}

pub struct Row<'a> {
    pub common: Common<'a>,
    pub record: &'a Record<'a>,
    pub meaning: &'a Meaning<'a>,
    pub scratch: &'a Scratch,
}

/// The cell of a number; a negative one is null.
pub fn present(number: i64) -> Cell<'static> {
    if number < 0 {
        Cell::Null
    } else {
        Cell::Int(number)
    }
}

fn size(of: Option<&[u8]>) -> Cell<'static> {
    of.map_or(Cell::Null, |raw| Cell::Int(raw.len() as i64))
}

fn fixed(text: &str) -> Cell<'_> {
    Cell::Text(Cow::Borrowed(text.as_bytes()))
}

impl<'a> Row<'a> {
    /// The cell of a table: keys and values of users are bytes, without an encoding.
    pub fn table_cell(&self, column: Column) -> Cell<'a> {
        let shown = match column {
            C::Key | C::KeyEncoding => &self.meaning.key,
            C::Value | C::ValueEncoding => &self.meaning.value,
            _ => return self.cell(column),
        };
        match shown {
            Shown::Base64(raw) if self.meaning.kind == "user" => match column {
                C::Key | C::Value => Cell::Text(Cow::Borrowed(raw)),
                _ => Cell::Null,
            },
            _ => self.cell(column),
        }
    }

    pub fn cell(&self, column: Column) -> Cell<'a> {
        let meaning = self.meaning;
        let optional = |number: Option<i32>| number.map_or(Cell::Null, |n| Cell::Int(n as i64));
        match column {
            C::Offset => Cell::Int(self.record.offset),
            C::Timestamp => Cell::Int(self.record.time),
            C::Sequence => self.common.sequence(self.record.offset),
            C::KeySize => size(self.record.key),
            C::ValueSize => size(self.record.value),
            C::Headers => Cell::Headers,
            C::Kind => fixed(meaning.kind),
            C::Type => match meaning.type_name {
                TypeName::None => Cell::Null,
                TypeName::Name(name) => fixed(name),
                TypeName::Unknown(number) => Cell::Text(Cow::Owned(unknown_name(number).into())),
            },
            C::Version => optional(meaning.version),
            C::Key => shown(&meaning.key, &self.scratch.key),
            C::Value => shown(&meaning.value, &self.scratch.value),
            C::TopicId => meaning.topic.map_or(Cell::Null, |raw| {
                let mut out = Vec::with_capacity(22);
                text::uuid(&mut out, &raw);
                Cell::Text(Cow::Owned(out))
            }),
            C::PartitionId => optional(meaning.partition),
            C::BrokerId => optional(meaning.broker),
            C::KeyEncoding => encoding(&meaning.key),
            C::ValueEncoding => encoding(&meaning.value),
            C::Error => meaning.error.as_deref().map_or(Cell::Null, fixed),
            _ => self.common.cell(column).unwrap_or(Cell::Null),
        }
    }
}

impl Origin {
    /// What all rows of a batch of this file have in common.
    pub fn common<'a>(&'a self, header: &'a Header, position: i64, is_valid: bool) -> Common<'a> {
        Common {
            origin: self,
            position,
            is_valid,
            header,
        }
    }

    /// The cell of a column that all rows of a file have in common.
    pub fn cell(&self, column: Column) -> Cell<'_> {
        match (column, &self.log) {
            (C::File, _) => Cell::Text(Cow::Borrowed(&self.file)),
            (C::Topic, Some((topic, _))) => Cell::Text(Cow::Borrowed(topic)),
            (C::Partition, Some((_, number))) => Cell::Int(*number as i64),
            _ => Cell::Null,
        }
    }
}

/// The cell of a column that is of the header; None of another column.
pub fn header_cell(header: &Header, column: Column) -> Option<Cell<'static>> {
    Some(match column {
        C::TimestampType => fixed(header.time_type()),
        C::LeaderEpoch => present(header.leader_epoch as i64),
        C::ProducerId => present(header.producer_id),
        C::ProducerEpoch => present(header.producer_epoch as i64),
        C::Transactional => Cell::Bool(header.is_transactional()),
        C::Control => Cell::Bool(header.is_control()),
        C::Codec => fixed(header.codec_name()),
        _ => return None,
    })
}

fn shown<'a>(shown: &'a Shown<'a>, json: &'a [u8]) -> Cell<'a> {
    match shown {
        Shown::Null => Cell::Null,
        Shown::Json => Cell::Text(Cow::Borrowed(json)),
        Shown::Text(raw) => Cell::Text(Cow::Borrowed(raw)),
        Shown::Owned(text) => Cell::Text(Cow::Borrowed(text)),
        Shown::Base64(raw) => {
            let mut out = Vec::new();
            text::base64(&mut out, raw);
            Cell::Text(Cow::Owned(out))
        }
    }
}

fn encoding(shown: &Shown) -> Cell<'static> {
    if matches!(shown, Shown::Base64(_)) {
        fixed("base64")
    } else {
        Cell::Null
    }
}
