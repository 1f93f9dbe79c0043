//! The index of a batch: its groups of similar records.
use super::partition::slot;
use super::rules::{Op, Rules};
use super::topics::Id;
use crate::batch::{Header, read_record};
use crate::reader::Reader;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// See `kraftops.engine.index_contract.RANGE_BITS`.
pub const RANGE_BITS: u32 = 13;

/// Similar records that follow one another; see `kraftops.engine.index_contract.RecordGroup`.
#[pyclass(frozen)]
pub struct RecordGroup {
    #[pyo3(get)]
    number: i64,
    #[pyo3(get)]
    total: i64,
    #[pyo3(get)]
    start: usize,
    #[pyo3(get)]
    end: usize,
    label: Option<(i32, i32)>,
    partition: Option<(Id, i32)>,
}

#[pymethods]
impl RecordGroup {
    #[getter]
    fn r#type(&self) -> Option<i32> {
        self.label.map(|(number, _)| number)
    }

    #[getter]
    fn version(&self) -> Option<i32> {
        self.label.map(|(_, version)| version)
    }

    #[getter]
    fn topic_id<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.partition.map(|(id, _)| PyBytes::new(py, &id))
    }

    #[getter]
    fn partition(&self) -> Option<i32> {
        self.partition.map(|(_, number)| number)
    }
}

impl RecordGroup {
    fn admits(&self, other: &RecordGroup, is_grouped: bool) -> bool {
        let range = |of: &Option<(Id, i32)>| of.map(|(id, number)| (id, number >> RANGE_BITS));
        is_grouped
            && self.label.is_some()
            && self.label == other.label
            && range(&self.partition) == range(&other.partition)
    }
}

/// Return the groups of records *number* to *stop*, up to the first bytes that are not a record.
pub fn index(
    rules: &Rules,
    data: &[u8],
    position: usize,
    number: i64,
    stop: i64,
) -> Vec<RecordGroup> {
    let header = Header::bare(0);
    let mut reader = Reader::new(data, position);
    let mut groups: Vec<RecordGroup> = Vec::new();
    for number in number..stop {
        let start = reader.at;
        let Ok(record) = read_record(&mut reader, &header) else {
            break;
        };
        let mut group = RecordGroup {
            number,
            total: 1,
            start,
            end: reader.at,
            label: None,
            partition: None,
        };
        let mut is_grouped = false;
        if let Ok(read) = rules.read(&record) {
            group.label = Some((read.number, read.version));
            if matches!(read.op, Op::PutPartition | Op::ChangePartition) {
                let id = read.fields.uuid(slot::TOPIC).unwrap_or_default();
                let partition = read.fields.int32(slot::NUMBER).unwrap_or_default();
                group.partition = Some((id, partition));
                is_grouped = true;
            }
            is_grouped |= read.op == Op::Nothing;
        }
        match groups.last_mut() {
            Some(last) if last.admits(&group, is_grouped) => {
                last.total += 1;
                last.end = group.end;
            }
            _ => groups.push(group),
        }
    }
    groups
}
