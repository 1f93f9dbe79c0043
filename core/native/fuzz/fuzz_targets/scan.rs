//! Coverage-guided: bytes choose a question and are a log, of which Python makes a scan
//! (`tests.helpers.engine.libfuzzer`).
//!
//! The engine is linked in and instrumented; Python, which gives it its tables, is embedded.
//! See `run.sh`.
#![no_main]
use libfuzzer_sys::fuzz_target;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::OnceLock;

use kraftops_engine as _;

unsafe extern "C" {
    fn PyInit__native() -> *mut ffi::PyObject;
}

/// Have the linked engine imported where there would be a built one; return what takes the bytes.
fn found(py: Python) -> PyResult<Bound<PyAny>> {
    let modules = py.import("sys")?.getattr("modules")?;
    modules.set_item("kraftops.engine._native", py.import("_native")?)?;
    py.import("tests.helpers.engine.libfuzzer")?.getattr("one")
}

static ONE: OnceLock<Py<PyAny>> = OnceLock::new();

fn one() -> &'static Py<PyAny> {
    ONE.get_or_init(|| {
        // SAFETY: before Python begins, as both demand.
        unsafe {
            ffi::PyImport_AppendInittab(c"_native".as_ptr(), Some(PyInit__native));
        }
        Python::initialize();
        Python::attach(|py| {
            found(py).map(Bound::unbind).unwrap_or_else(|error| {
                error.print(py);
                std::process::abort()
            })
        })
    })
}

fuzz_target!(|data: &[u8]| {
    let one = one();
    Python::attach(|py| {
        if let Err(error) = one.call1(py, (PyBytes::new(py, data),)) {
            error.print(py);
            std::process::abort();
        }
    });
});
