//! What records did to the entries of the state that somebody watches.
use super::topics::Id;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

pub type Entity = Vec<(String, Option<String>)>;

#[derive(Clone, Copy, PartialEq)]
pub enum TableName {
    TopicNames,
    Topics,
    Partitions,
    Brokers,
    Controllers,
    Configs,
    Quotas,
    Acls,
    Scram,
    Tokens,
    Features,
    ProducerIds,
}

const NAMES: [(&str, TableName); 12] = [
    ("topic-names", TableName::TopicNames),
    ("topics", TableName::Topics),
    ("partitions", TableName::Partitions),
    ("brokers", TableName::Brokers),
    ("controllers", TableName::Controllers),
    ("configs", TableName::Configs),
    ("quotas", TableName::Quotas),
    ("acls", TableName::Acls),
    ("scram", TableName::Scram),
    ("tokens", TableName::Tokens),
    ("features", TableName::Features),
    ("producer-ids", TableName::ProducerIds),
];

/// A part of a key.
#[derive(Clone, PartialEq)]
pub enum Part {
    Int(i64),
    Text(String),
    Id(Id),
    Entity(Entity),
}

impl Part {
    pub fn text(text: &str) -> Part {
        Part::Text(text.into())
    }

    fn of(value: &Bound<PyAny>) -> PyResult<Part> {
        if let Ok(number) = value.extract::<i64>() {
            return Ok(Part::Int(number));
        }
        if let Ok(text) = value.extract::<String>() {
            return Ok(Part::Text(text));
        }
        if let Ok(raw) = value.cast::<PyBytes>() {
            let id = raw.as_bytes().try_into();
            return id
                .map(Part::Id)
                .map_err(|_| PyValueError::new_err("an id has 16 bytes"));
        }
        value.extract::<Entity>().map(Part::Entity)
    }

    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Part::Int(number) => number.into_pyobject(py)?.into_any(),
            Part::Text(text) => text.into_pyobject(py)?.into_any(),
            Part::Id(id) => PyBytes::new(py, id).into_any(),
            Part::Entity(entity) => PyTuple::new(py, entity)?.into_any(),
        })
    }
}

/// What a record did to an entry: the addresses that were the newest before it, and are now.
pub struct Touch {
    table: TableName,
    key: Vec<Part>,
    before: Option<u64>,
    after: Option<u64>,
}

impl Touch {
    pub fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let parts: Vec<_> = self
            .key
            .iter()
            .map(|part| part.to_python(py))
            .collect::<PyResult<_>>()?;
        let name = NAMES.iter().find(|(_, table)| *table == self.table);
        let name = name.map_or("", |(name, _)| *name);
        (name, PyTuple::new(py, parts)?, self.before, self.after).into_pyobject(py)
    }
}

/// What is watched: tables, and how keys in them begin.
#[derive(Default)]
pub struct Watches {
    all: Vec<(TableName, Vec<Part>)>,
    pub touched: Vec<Touch>,
}

impl Watches {
    pub fn set(&mut self, watches: Vec<(String, Bound<PyTuple>)>) -> PyResult<()> {
        self.all.clear();
        for (name, key) in watches {
            // What this engine has no records for, nothing touches.
            let Some((_, table)) = NAMES.iter().find(|(known, _)| *known == name) else {
                continue;
            };
            let parts = key
                .iter()
                .map(|part| Part::of(&part))
                .collect::<PyResult<_>>()?;
            self.all.push((*table, parts));
        }
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    #[inline(always)]
    pub fn has(&self, table: TableName) -> bool {
        !self.all.is_empty() && self.all.iter().any(|(watched, _)| *watched == table)
    }

    #[inline(always)]
    pub fn note(
        &mut self,
        table: TableName,
        before: Option<u64>,
        after: Option<u64>,
        key: impl FnOnce() -> Vec<Part>,
    ) {
        if !self.has(table) || (before.is_none() && after.is_none()) {
            return;
        }
        let key = key();
        let is_watched = self
            .all
            .iter()
            .any(|(watched, start)| *watched == table && key.starts_with(start));
        if !is_watched {
            return;
        }
        // A record that takes a topic's place takes it out first.
        let same = self
            .touched
            .iter_mut()
            .find(|one| table == TableName::TopicNames && one.table == table && one.key == key);
        if let Some(same) = same {
            same.after = after;
        } else {
            self.touched.push(Touch {
                table,
                key,
                before,
                after,
            });
        }
    }
}
