//! The watched entries of the state, and the changes of them by a record.
use super::topics::Id;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

pub type QuotaEntity = Vec<(String, Option<String>)>;

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

/// What to watch for the changes of partitions that were there before and stay.
const CHANGED_PARTITIONS: &str = "changed-partitions";

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
pub enum KeyPart {
    Int(i64),
    Text(String),
    Id(Id),
    Entity(QuotaEntity),
}

impl KeyPart {
    pub fn text(text: &str) -> KeyPart {
        KeyPart::Text(text.into())
    }

    fn of(value: &Bound<PyAny>) -> PyResult<KeyPart> {
        if let Ok(number) = value.extract::<i64>() {
            return Ok(KeyPart::Int(number));
        }
        if let Ok(text) = value.extract::<String>() {
            return Ok(KeyPart::Text(text));
        }
        if let Ok(raw) = value.cast::<PyBytes>() {
            let id = raw.as_bytes().try_into();
            return id
                .map(KeyPart::Id)
                .map_err(|_| PyValueError::new_err("an id has 16 bytes"));
        }
        value.extract::<QuotaEntity>().map(KeyPart::Entity)
    }

    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            KeyPart::Int(number) => number.into_pyobject(py)?.into_any(),
            KeyPart::Text(text) => text.into_pyobject(py)?.into_any(),
            KeyPart::Id(id) => PyBytes::new(py, id).into_any(),
            KeyPart::Entity(entity) => PyTuple::new(py, entity)?.into_any(),
        })
    }
}

/// A record's change of an entry: the addresses of its newest records before and after.
pub struct EntryChange {
    table: TableName,
    key: Vec<KeyPart>,
    before: Option<u64>,
    after: Option<u64>,
}

/// See `kraftops.engine.metadata_state.EntryChange`.
#[pyclass(frozen, get_all, name = "EntryChange")]
pub struct PyEntryChange {
    table: &'static str,
    key: Py<PyTuple>,
    before: Option<u64>,
    after: Option<u64>,
}

/// The name of a table, by its number.
pub fn table_name(number: usize) -> &'static str {
    NAMES.get(number).map_or("", |(name, _)| *name)
}

impl EntryChange {
    /// The place of the table in `NAMES`.
    pub fn table_number(&self) -> usize {
        let number = NAMES.iter().position(|(_, table)| *table == self.table);
        number.unwrap_or(NAMES.len())
    }

    /// The record that has the key: the newest, or the one before.
    pub fn keyed(&self) -> u64 {
        self.after.or(self.before).unwrap_or_default()
    }

    pub fn to_python(&self, py: Python) -> PyResult<PyEntryChange> {
        self.with_key(py, &self.key)
    }

    pub fn with_key(&self, py: Python, key: &[KeyPart]) -> PyResult<PyEntryChange> {
        let parts: Vec<_> = key
            .iter()
            .map(|part| part.to_python(py))
            .collect::<PyResult<_>>()?;
        let name = NAMES.iter().find(|(_, table)| *table == self.table);
        Ok(PyEntryChange {
            table: name.map_or("", |(name, _)| *name),
            key: PyTuple::new(py, parts)?.unbind(),
            before: self.before,
            after: self.after,
        })
    }
}

/// The watched entries, by table and the beginning of the key.
#[derive(Default)]
pub struct Watch {
    all: Vec<(TableName, Vec<KeyPart>)>,
    /// Whether partitions that come and go are left out.
    has_changed_partitions: bool,
    /// Whether changes have no keys; their records have them.
    pub is_keyless: bool,
    pub changes: Vec<EntryChange>,
}

impl Watch {
    pub fn set(&mut self, keys: Vec<(String, Bound<PyTuple>)>) -> PyResult<()> {
        self.all.clear();
        self.is_keyless = false;
        self.has_changed_partitions = false;
        for (mut name, key) in keys {
            if name == CHANGED_PARTITIONS {
                self.has_changed_partitions = true;
                name = "partitions".into();
            }
            // No record of this engine changes other tables.
            let Some((_, table)) = NAMES.iter().find(|(known, _)| *known == name) else {
                continue;
            };
            let parts = key
                .iter()
                .map(|part| KeyPart::of(&part))
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

    /// Return the key of an entry if its table is watched.
    #[inline(always)]
    pub fn key(
        &self,
        table: TableName,
        key: impl FnOnce() -> Vec<KeyPart>,
    ) -> Option<Vec<KeyPart>> {
        self.has(table)
            .then(|| if self.is_keyless { Vec::new() } else { key() })
    }

    /// Note a change as `note` does, of an entry with a key from `key`.
    #[inline(always)]
    pub fn note_key(
        &mut self,
        table: TableName,
        before: Option<u64>,
        after: Option<u64>,
        key: Option<Vec<KeyPart>>,
    ) {
        if let Some(key) = key {
            self.note(table, before, after, || key);
        }
    }

    /// Note a change of an entry, if that is watched; without addresses there is none.
    #[inline(always)]
    pub fn note(
        &mut self,
        table: TableName,
        before: Option<u64>,
        after: Option<u64>,
        key: impl FnOnce() -> Vec<KeyPart>,
    ) {
        if !self.has(table) || (before.is_none() && after.is_none()) {
            return;
        }
        let is_there = before.is_some() && after.is_some();
        if self.has_changed_partitions && table == TableName::Partitions && !is_there {
            return;
        }
        if self.is_keyless {
            return self.changes.push(EntryChange {
                table,
                key: Vec::new(),
                before,
                after,
            });
        }
        let key = key();
        let is_watched = self
            .all
            .iter()
            .any(|(watched, start)| *watched == table && key.starts_with(start));
        if !is_watched {
            return;
        }
        // A TopicRecord with a known id removes the old topic first.
        let earlier = self.changes.iter_mut().find(|change| {
            table == TableName::TopicNames && change.table == table && change.key == key
        });
        if let Some(earlier) = earlier {
            earlier.after = after;
        } else {
            self.changes.push(EntryChange {
                table,
                key,
                before,
                after,
            });
        }
    }
}
