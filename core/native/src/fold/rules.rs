//! The operations of records on the state, and the fields that they take.
//!
//! The description from Python gives each type of record its operation and its fields.
use crate::batch::Record;
use crate::decode::{Framing, item, read_body, refuse_large, unknown_type};
use crate::plan::{LocatedFields, Message, Plan, PlanOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The operation of a record; the modules of the rules have the slots of its fields.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Op {
    Nothing,
    PutTopic,
    RemoveTopic,
    PutPartition,
    ChangePartition,
    ClearElr,
    RegisterBroker,
    UnregisterBroker,
    FenceBroker,
    UnfenceBroker,
    ChangeBroker,
    RegisterController,
    PutConfig,
    PutQuota,
    PutProducerIds,
    PutAcl,
    RemoveAcl,
    PutScram,
    RemoveScram,
    PutToken,
    RemoveToken,
    PutFeature,
    Begin,
    End,
    Abort,
}

const OPS: [(&str, Op); 25] = [
    ("nothing", Op::Nothing),
    ("put topic", Op::PutTopic),
    ("remove topic", Op::RemoveTopic),
    ("put partition", Op::PutPartition),
    ("change partition", Op::ChangePartition),
    ("clear elr", Op::ClearElr),
    ("register broker", Op::RegisterBroker),
    ("unregister broker", Op::UnregisterBroker),
    ("fence broker", Op::FenceBroker),
    ("unfence broker", Op::UnfenceBroker),
    ("change broker", Op::ChangeBroker),
    ("register controller", Op::RegisterController),
    ("put config", Op::PutConfig),
    ("put quota", Op::PutQuota),
    ("put producer ids", Op::PutProducerIds),
    ("put acl", Op::PutAcl),
    ("remove acl", Op::RemoveAcl),
    ("put scram", Op::PutScram),
    ("remove scram", Op::RemoveScram),
    ("put token", Op::PutToken),
    ("remove token", Op::RemoveToken),
    ("put feature", Op::PutFeature),
    ("begin transaction", Op::Begin),
    ("end transaction", Op::End),
    ("abort transaction", Op::Abort),
];

struct Type {
    op: Op,
    message: Message,
}

impl Op {
    pub fn is_marker(self) -> bool {
        matches!(self, Op::Begin | Op::End | Op::Abort)
    }
}

/// The types of records by number, with their operations.
pub struct Rules {
    types: Vec<Option<Type>>,
}

/// A record that could be read.
pub struct MetadataRecord<'a> {
    pub op: Op,
    pub number: i32,
    pub version: i32,
    pub plan: &'a Plan,
    pub fields: LocatedFields<'a>,
}

impl Rules {
    /// Compile a list of dicts: number, message, op, and fields in the order of their slots.
    pub fn compile(described: &Bound<PyAny>) -> PyResult<Rules> {
        let mut types: Vec<Option<Type>> = Vec::new();
        for rule in described.try_iter()? {
            let rule = rule?.cast_into::<PyDict>()?;
            let number: usize = item(&rule, "number")?.extract()?;
            if number > i16::MAX as usize {
                return Err(PyValueError::new_err(format!("no type {number}")));
            }
            let name: String = item(&rule, "op")?.extract()?;
            let op = OPS.iter().find(|(known, _)| *known == name);
            let op = op.ok_or_else(|| PyValueError::new_err(format!("no operation {name}")))?;
            let fields: Vec<String> = item(&rule, "fields")?.extract()?;
            let options = PlanOptions {
                slots: fields.into_iter().zip(0..).collect(),
                ..PlanOptions::default()
            };
            if types.len() <= number {
                types.resize_with(number + 1, || None);
            }
            types[number] = Some(Type {
                op: op.1,
                message: Message::compile(&item(&rule, "message")?, &options)?,
            });
        }
        Ok(Rules { types })
    }

    /// Read a record; the error is in Kafka's words (`MetadataRecordSerde`).
    #[inline]
    pub fn read<'a>(&'a self, record: &Record<'a>) -> Result<MetadataRecord<'a>, String> {
        if record.key.is_some() || record.headers.count != 0 {
            return Err("a metadata record with a key or headers".into());
        }
        let raw = record.value.unwrap_or(b"");
        refuse_large(record)?;
        let frame = Framing::Kafka.frame(raw)?;
        let record_rules = usize::try_from(frame.number)
            .ok()
            .and_then(|place| self.types.get(place)?.as_ref());
        let record_rules = record_rules.ok_or_else(|| unknown_type(frame.number))?;
        let (plan, fields) = read_body(&record_rules.message, &frame, raw, |plan, reader| {
            Ok((plan, plan.locate(reader)?))
        })?;
        Ok(MetadataRecord {
            op: record_rules.op,
            number: frame.number,
            version: frame.version,
            plan,
            fields,
        })
    }
}
