//! Rows as columns in Arrow's layout (`kraftops.engine.scan_contract.Column`).
use crate::batch::Record;
use crate::row::{COLUMNS, Cell, Column, Common, Row};
use crate::text;
use std::ops::Range;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Int(usize),
    Bool,
    Text,
    Headers,
}

impl Kind {
    fn of(column: Column) -> Kind {
        use Column as C;
        match column {
            C::Position | C::BaseOffset | C::Offset | C::Timestamp | C::ProducerId => Kind::Int(8),
            C::Partition
            | C::LeaderEpoch
            | C::Sequence
            | C::KeySize
            | C::ValueSize
            | C::PartitionId
            | C::BrokerId => Kind::Int(4),
            C::ProducerEpoch | C::Version => Kind::Int(2),
            C::CrcValid | C::Transactional | C::Control => Kind::Bool,
            C::Headers => Kind::Headers,
            _ => Kind::Text,
        }
    }
}

/// One bit a row, the lowest first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    #[inline]
    fn push(&mut self, bit: bool) {
        if self.count % 8 == 0 {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= (bit as u8) << (self.count % 8);
        }
        self.count += 1;
    }

    fn push_all(&mut self, bit: bool, count: usize) {
        let end = self.count + count;
        while self.count < end && self.count % 8 != 0 {
            self.push(bit);
        }
        let whole = (end - self.count) / 8;
        let byte = if bit { 0xFF } else { 0 };
        self.bytes.resize(self.bytes.len() + whole, byte);
        self.count += whole * 8;
        while self.count < end {
            self.push(bit);
        }
    }
}

/// The buffers of a column that grows.
#[derive(Default)]
pub struct ColumnBuilder {
    pub data: Vec<u8>,
    offsets: Vec<u8>,
    rows: usize,
    /// Of all rows once one is null.
    valid: Option<Bits>,
    is_text: bool,
}

/// The buffers of a column: data, offsets, validity.
pub type Buffers = (Vec<u8>, Option<Vec<u8>>, Option<Vec<u8>>);

impl ColumnBuilder {
    fn new(is_text: bool) -> Self {
        let mut column = ColumnBuilder {
            is_text,
            ..ColumnBuilder::default()
        };
        if is_text {
            column.offsets.extend_from_slice(&0i32.to_le_bytes());
        }
        column
    }

    #[inline]
    fn push_valid(&mut self, is_there: bool) {
        if !is_there || self.valid.is_some() {
            self.push_all_valid(is_there, 1);
        } else {
            self.rows += 1;
        }
    }

    fn push_all_valid(&mut self, are_there: bool, count: usize) {
        if !are_there && self.valid.is_none() {
            let mut valid = Bits::default();
            valid.push_all(true, self.rows);
            self.valid = Some(valid);
        }
        if let Some(valid) = &mut self.valid {
            valid.push_all(are_there, count);
        }
        self.rows += count;
    }

    fn text(&mut self, raw: Option<&[u8]>) {
        self.push_valid(raw.is_some());
        self.data.extend_from_slice(raw.unwrap_or(b""));
        self.end();
    }

    fn end(&mut self) {
        self.offsets
            .extend_from_slice(&(self.data.len() as i32).to_le_bytes());
    }

    fn take(self) -> Buffers {
        let offsets = self.is_text.then_some(self.offsets);
        (self.data, offsets, self.valid.map(|valid| valid.bytes))
    }
}

impl ColumnBuilder {
    /// Append numbers of *N* bytes, little-endian; None is null.
    fn numbers<const N: usize>(&mut self, numbers: impl Iterator<Item = Option<[u8; N]>>) {
        for number in numbers {
            self.push_valid(number.is_some());
            self.data.extend_from_slice(&number.unwrap_or([0; N]));
        }
    }
}

struct NamedColumn {
    name: &'static str,
    column: Column,
    kind: Kind,
    builder: ColumnBuilder,
    bits: Bits,
}

impl NamedColumn {
    /// Append a cell but that of headers; return the size of its bytes.
    #[inline]
    fn put(&mut self, cell: &Cell) -> usize {
        let column = &mut self.builder;
        let before = column.data.len();
        match (self.kind, cell) {
            (Kind::Int(width), Cell::Int(number)) => {
                column.push_valid(true);
                column
                    .data
                    .extend_from_slice(&number.to_le_bytes()[..width.min(8)]);
            }
            (Kind::Int(width), _) => {
                column.push_valid(false);
                column.data.extend_from_slice(&[0; 8][..width.min(8)]);
            }
            (Kind::Bool, cell) => {
                column.push_valid(matches!(cell, Cell::Bool(_)));
                self.bits.push(matches!(cell, Cell::Bool(true)));
            }
            (Kind::Text, Cell::Text(text)) => column.text(Some(text)),
            (Kind::Text | Kind::Headers, _) => column.text(None),
        }
        column.data.len() - before
    }

    /// Append the same cell for *count* rows; return the size of its bytes.
    fn put_all(&mut self, cell: &Cell, count: usize) -> usize {
        match (self.kind, cell) {
            (Kind::Int(width), cell) => {
                let number = match cell {
                    Cell::Int(number) => *number,
                    _ => 0,
                };
                let raw = number.to_le_bytes();
                let column = &mut self.builder;
                column.push_all_valid(matches!(cell, Cell::Int(_)), count);
                column
                    .data
                    .extend_from_slice(&raw[..width.min(8)].repeat(count));
                width * count
            }
            (Kind::Bool, cell) => {
                let is_there = matches!(cell, Cell::Bool(_));
                self.builder.push_all_valid(is_there, count);
                self.bits.push_all(matches!(cell, Cell::Bool(true)), count);
                0
            }
            _ => (0..count).map(|_| self.put(cell)).sum(),
        }
    }
}

/// The columns of some rows.
pub struct Columns {
    columns: Vec<NamedColumn>,
    header_keys: ColumnBuilder,
    header_values: ColumnBuilder,
    header_count: i32,
    pub rows: usize,
    pub size: usize,
}

impl Columns {
    pub fn new(wanted: &[Column]) -> Self {
        let columns = COLUMNS
            .iter()
            .filter(|(_, column)| wanted.contains(column))
            .map(|&(name, column)| {
                let kind = Kind::of(column);
                let builder = ColumnBuilder::new(matches!(kind, Kind::Text | Kind::Headers));
                NamedColumn {
                    name,
                    column,
                    kind,
                    builder,
                    bits: Bits::default(),
                }
            })
            .collect();
        Columns {
            columns,
            header_keys: ColumnBuilder::new(true),
            header_values: ColumnBuilder::new(true),
            header_count: 0,
            rows: 0,
            size: 0,
        }
    }

    /// The columns that are asked for.
    pub fn wanted(&self) -> impl Iterator<Item = Column> {
        self.columns.iter().map(|named| named.column)
    }

    pub fn add(&mut self, row: &Row) {
        for named in &mut self.columns {
            if named.kind != Kind::Headers {
                self.size += named.put(&row.table_cell(named.column));
                continue;
            }
            for (key, value) in row.record.headers.iter() {
                self.header_keys.text(Some(&text::lossy(key)));
                self.header_values.text(value);
                self.size += key.len() + value.map_or(0, <[u8]>::len);
                self.header_count += 1;
            }
            named.builder.push_valid(true);
            named
                .builder
                .offsets
                .extend_from_slice(&self.header_count.to_le_bytes());
        }
        self.rows += 1;
    }

    /// Add the rows of some records of a batch; only offset and sequence are not the same in all.
    pub fn add_told<'a>(&mut self, numbers: Range<i32>, cell: impl Fn(Column, i32) -> Cell<'a>) {
        for named in &mut self.columns {
            if matches!(named.column, Column::Offset | Column::Sequence) {
                for number in numbers.clone() {
                    self.size += named.put(&cell(named.column, number));
                }
            } else {
                let same = cell(named.column, numbers.start);
                self.size += named.put_all(&same, numbers.len());
            }
        }
        self.rows += numbers.len();
    }

    /// Add the rows of records of a *kind*, of which only the framing is asked for.
    pub fn add_plain(&mut self, common: &Common, records: &[Record], kind: &str) {
        let size = |of: Option<&[u8]>| of.map(|raw| (raw.len() as i32).to_le_bytes());
        for named in &mut self.columns {
            let column = &mut named.builder;
            let before = column.data.len();
            let chosen_records = records.iter();
            match named.column {
                Column::Offset => {
                    column.numbers(chosen_records.map(|record| Some(record.offset.to_le_bytes())))
                }
                Column::Timestamp => {
                    column.numbers(chosen_records.map(|record| Some(record.time.to_le_bytes())))
                }
                Column::KeySize => column.numbers(chosen_records.map(|record| size(record.key))),
                Column::ValueSize => {
                    column.numbers(chosen_records.map(|record| size(record.value)))
                }
                Column::Key => chosen_records.for_each(|record| column.text(record.key)),
                Column::Value => chosen_records.for_each(|record| column.text(record.value)),
                Column::Sequence => chosen_records.for_each(|record| {
                    named.put(&common.sequence(record.offset));
                }),
                Column::Kind => {
                    named.put_all(&Cell::Text(kind.as_bytes().into()), records.len());
                }
                _ => {
                    let same = common.cell(named.column).unwrap_or(Cell::Null);
                    named.put_all(&same, records.len());
                }
            }
            self.size += named.builder.data.len() - before;
        }
        self.rows += records.len();
    }

    /// Take the buffers of all columns out, by name.
    pub fn take(&mut self) -> Vec<(&'static str, Buffers)> {
        let wanted: Vec<Column> = self.columns.iter().map(|named| named.column).collect();
        let full = std::mem::replace(self, Columns::new(&wanted));
        let mut buffers = Vec::new();
        for named in full.columns {
            let mut builder = named.builder;
            if named.kind == Kind::Bool {
                builder.data = named.bits.bytes;
            }
            buffers.push((named.name, builder.take()));
            if named.kind == Kind::Headers {
                continue;
            }
        }
        if wanted.contains(&Column::Headers) {
            buffers.push(("headers.key", full.header_keys.take()));
            buffers.push(("headers.value", full.header_values.take()));
        }
        buffers
    }
}
