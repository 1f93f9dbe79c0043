//! Which records a batch has, for those who deal them out: runs of one type and version.
use super::changing::slot;
use super::rules::{Op, Rules};
use super::topics::Id;
use crate::batch::{Header, read_record};
use crate::read::Reader;

/// Partitions of a topic go together by all but so many bits of their numbers.
const RANGE_BITS: u32 = 13;

/// Records that follow one another; see `kraftops.engine.index_contract.RecordGroup`.
pub struct Seen {
    pub number: i64,
    pub total: i64,
    pub start: usize,
    pub end: usize,
    pub label: Option<(i32, i32)>,
    pub partition: Option<(Id, i32)>,
}

impl Seen {
    fn takes(&self, other: &Seen, is_many: bool) -> bool {
        let range = |of: &Option<(Id, i32)>| of.map(|(id, number)| (id, number >> RANGE_BITS));
        is_many
            && self.label.is_some()
            && self.label == other.label
            && range(&self.partition) == range(&other.partition)
    }
}

/// List the records *number* to *stop*; where there is none, the list ends.
pub fn index(rules: &Rules, data: &[u8], position: usize, number: i64, stop: i64) -> Vec<Seen> {
    let header = Header::bare(0);
    let mut reader = Reader::new(data, position);
    let mut found: Vec<Seen> = Vec::new();
    for number in number..stop {
        let start = reader.at;
        let Ok(record) = read_record(&mut reader, &header) else {
            break;
        };
        let mut seen = Seen {
            number,
            total: 1,
            start,
            end: reader.at,
            label: None,
            partition: None,
        };
        let mut is_many = false;
        if let Ok(read) = rules.read(&record) {
            seen.label = Some((read.number, read.version));
            if matches!(read.op, Op::PutPartition | Op::ChangePartition) {
                let id = read.fields.uuid(slot::TOPIC).unwrap_or_default();
                let partition = read.fields.int32(slot::NUMBER).unwrap_or_default();
                seen.partition = Some((id, partition));
                is_many = true;
            }
            is_many |= read.op == Op::Nothing;
        }
        match found.last_mut() {
            Some(last) if last.takes(&seen, is_many) => {
                last.total += 1;
                last.end = seen.end;
            }
            _ => found.push(seen),
        }
    }
    found
}
