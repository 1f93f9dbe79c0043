//! The compiled record engine of kraftops.
//!
//! It interprets plans made from the message tables, and names no message. `kraftops.engine.native`
//! describes decoders and scans to it, `kraftops.engine.native_rules` the rules of the fold.
#![deny(unsafe_code)] // but for the calls of libzstd, in `inflate::zstd`
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)
)]
#![cfg_attr(
    not(test),
    deny(clippy::unreachable, clippy::todo, clippy::unimplemented)
)]

mod batch;
mod columns;
mod count;
mod decode;
mod fold;
mod inflate;
mod json;
mod output;
mod plan;
mod python;
mod reader;
mod row;
mod row_text;
mod scan;
mod select;
mod text;

use count::PyCounter;
use fold::{PyFold, PyRules};
use inflate::Inflater;
use pyo3::prelude::*;
use python::{Note, Outcome, PyColumn, PyControl, PyDecoder, PyScan};
use scan::SeenBatch;

/// The number of ends of lines in text.
#[pyfunction]
fn line_count(bytes: &[u8]) -> usize {
    text::line_count(bytes)
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    std::panic::set_hook(Box::new(|_| {}));
    module.add_class::<PyDecoder>()?;
    module.add_class::<PyControl>()?;
    module.add_class::<Inflater>()?;
    module.add_class::<PyScan>()?;
    module.add_class::<PyCounter>()?;
    module.add_class::<PyRules>()?;
    module.add_class::<PyFold>()?;
    module.add_class::<Note>()?;
    module.add_class::<PyColumn>()?;
    module.add_class::<Outcome>()?;
    module.add_class::<SeenBatch>()?;
    count::add_values(module)?;
    fold::add_values(module)?;
    module.add_function(wrap_pyfunction!(line_count, module)?)?;
    module.add("POSITION_BITS", fold::POSITION_BITS)?;
    module.add("RANGE_BITS", fold::RANGE_BITS)?;
    module.add("BATCH_FIELDS", fold::BATCH_FIELDS)?;
    module.add("CONDITIONS", fold::condition::ALL)?;
    module.add("ROLES", fold::role::ALL)?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))
}
