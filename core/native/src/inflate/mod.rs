//! Small compressed batches are inflated here; all others, and damaged ones, by Python.
//!
//! A call of Python costs more than a batch of a few records. What is inflated here needs no share
//! of the memory budget (`kraftops.memory`): Python counts all else, and names the damage.
mod lz4;
mod snappy;
mod zstd;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Mutex;

const SNAPPY: usize = 2;
const LZ4: usize = 3;
const ZSTD: usize = 4;

/// The inflated records of a batch.
pub enum Records {
    Native(Vec<u8>),
    Python(Py<PyBytes>),
}

impl Records {
    pub fn bytes<'a>(&'a self, py: Python<'a>) -> &'a [u8] {
        match self {
            Records::Native(bytes) => bytes,
            Records::Python(bytes) => bytes.as_bytes(py),
        }
    }
}

/// Inflates the batches of a file.
#[pyclass(frozen)]
pub struct Inflater {
    /// Inflates any batch, or returns None.
    python: Py<PyAny>,
    /// Bytes that a batch may inflate to without a share of the memory budget.
    most: usize,
    /// Inflated bytes for each stored byte that need no share.
    ratio: usize,
    scratch: Mutex<Scratch>,
}

#[derive(Default)]
struct Scratch {
    room: Vec<u8>,
    zstd: zstd::Decompressor,
}

#[pymethods]
impl Inflater {
    #[new]
    fn new(python: Py<PyAny>, most: usize, ratio: usize) -> Self {
        Inflater {
            python,
            most,
            ratio,
            scratch: Mutex::default(),
        }
    }
}

impl Inflater {
    /// Return the records of a batch; None if they cannot be inflated.
    pub fn records(&self, py: Python, codec: usize, stored: &[u8]) -> PyResult<Option<Records>> {
        if let Some(records) = self.small_records(py, codec, stored) {
            return Ok(Some(Records::Native(records)));
        }
        let stored = PyBytes::new(py, stored);
        let records = self.python.bind(py).call1((codec, stored))?;
        if records.is_none() {
            return Ok(None);
        }
        let records = records.cast_into::<PyBytes>()?.unbind();
        Ok(Some(Records::Python(records)))
    }

    fn small_records(&self, py: Python, codec: usize, stored: &[u8]) -> Option<Vec<u8>> {
        let most = stored.len().saturating_mul(self.ratio).min(self.most);
        let mut scratch = self.scratch.lock().ok()?;
        let Scratch { room, zstd } = &mut *scratch;
        if room.is_empty() {
            room.resize(self.most, 0);
        }
        let room = room.get_mut(..most)?;
        let size = match codec {
            SNAPPY => snappy::inflate(stored, room),
            LZ4 => lz4::inflate(stored, room),
            ZSTD => zstd.inflate(py, stored, room),
            _ => None,
        }?;
        room.get(..size).map(<[u8]>::to_vec)
    }
}
