//! The classes `Decoder`, `Control` and `Scan` for Python, used by `kraftops.engine.native`.
use crate::decode::{Control, Decoder, Depth, item};
use crate::inflate::{Inflater, Records};
use crate::row::Column;
use crate::row_text::Origin;
use crate::scan::{OutputForm, Scan, ScanRequest, SeenBatch, Step, end_of};
use crate::select::Select;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The decoder of a topic's keys and values; made once, shared by scans.
#[pyclass(frozen, name = "Decoder")]
pub struct PyDecoder(Arc<Decoder>);

#[pymethods]
impl PyDecoder {
    #[new]
    fn new(described: &Bound<PyDict>) -> PyResult<Self> {
        Ok(PyDecoder(Arc::new(Decoder::compile(described)?)))
    }
}

/// The decoder of control records; made once, shared by scans.
#[pyclass(frozen, name = "Control")]
pub struct PyControl(Arc<Control>);

#[pymethods]
impl PyControl {
    #[new]
    fn new(described: &Bound<PyAny>) -> PyResult<Self> {
        Ok(PyControl(Arc::new(Control::compile(described)?)))
    }
}

/// Compile a scan from a description; see `kraftops.engine.native`.
pub fn compile_scan(
    decoder: &PyDecoder,
    control: &PyControl,
    described: &Bound<PyDict>,
) -> PyResult<Scan> {
    let item = |name: &str| item(described, name);
    let flag = |name: &str| item(name)?.extract::<bool>();
    let named: String = item("form")?.extract()?;
    let form = match named.as_str() {
        "text" => OutputForm::Text,
        "json" => OutputForm::Json,
        "csv" | "csv-safe" => OutputForm::Csv,
        "columns" => OutputForm::Columns,
        other => return Err(PyValueError::new_err(format!("no form {other}"))),
    };
    let mut columns = Vec::new();
    for name in item("columns")?.extract::<Vec<String>>()? {
        let column = Column::of(&name);
        columns.push(column.ok_or_else(|| PyValueError::new_err(format!("no column {name}")))?);
    }
    let select = Select::compile(described, &decoder.0)?;
    let check = flag("check")?;
    let request = ScanRequest {
        form,
        deep: flag("deep")?,
        skip_metadata: flag("skip_metadata")?,
        payload: flag("payload")?,
        check,
        notes_crc: flag("notes_crc")?,
        skip_invalid: flag("skip_invalid")?,
        is_chosen: flag("chosen")?,
        marks: flag("marks")?,
        is_one_line: flag("is_one_line")? && form == OutputForm::Text,
        redacts: flag("redacts")?,
        origin: Origin::of(
            item("file")?.extract()?,
            item("log")?.extract()?,
            named == "csv-safe",
        ),
        depth: if form != OutputForm::Columns || check || select.needs_rows {
            Depth::All
        } else {
            let depths = columns.iter().map(|column| column.depth());
            depths.max().unwrap_or(Depth::Head)
        },
    };
    Ok(Scan::new(
        Arc::clone(&decoder.0),
        Arc::clone(&control.0),
        request,
        select,
        &columns,
    ))
}

/// See `kraftops.engine.scan_contract.Note`.
#[pyclass(frozen, get_all)]
#[derive(Clone)]
pub struct Note {
    kind: i32,
    position: i64,
    reason: String,
    output_position: usize,
}

/// See `kraftops.engine.scan_contract.Column`.
#[pyclass(frozen, get_all, name = "Column")]
pub struct PyColumn {
    data: Py<PyBytes>,
    offsets: Option<Py<PyBytes>>,
    valid: Option<Py<PyBytes>>,
}

/// See `kraftops.engine.scan_contract.Outcome`.
#[pyclass(frozen, get_all)]
pub struct Outcome {
    out: Py<PyBytes>,
    next: usize,
    why: i32,
    notes: Vec<Note>,
    gaps: Py<PyBytes>,
    marks: Py<PyBytes>,
    rows: usize,
    columns: Option<Py<PyDict>>,
}

/// The scan of a file, fed with its bytes in order.
#[pyclass(name = "Scan")]
pub struct PyScan {
    scan: Scan,
    inflater: Py<Inflater>,
    /// The records of the present batch, if it is compressed.
    inflated: Option<Records>,
}

#[pymethods]
impl PyScan {
    #[new]
    fn new(
        decoder: &PyDecoder,
        control: &PyControl,
        inflater: Py<Inflater>,
        described: &Bound<PyDict>,
    ) -> PyResult<Self> {
        let scan = compile_scan(decoder, control, described)?;
        Ok(PyScan {
            scan,
            inflater,
            inflated: None,
        })
    }

    #[getter]
    fn first_offset(&self) -> Option<i64> {
        self.scan.first_offset
    }

    #[setter]
    fn set_first_offset(&mut self, offset: Option<i64>) {
        self.scan.first_offset = offset;
    }

    #[getter]
    fn last_offset(&self) -> Option<i64> {
        self.scan.last_offset
    }

    #[setter]
    fn set_last_offset(&mut self, offset: Option<i64>) {
        self.scan.last_offset = offset;
    }

    /// See `kraftops.engine.scan_contract.Scan.feed`.
    fn feed(&mut self, py: Python, data: &[u8], start: usize, position: i64) -> PyResult<Outcome> {
        let (next, why) = self.run(py, data, start, position)?;
        self.outcome(py, next, why)
    }

    /// See `kraftops.engine.scan_contract.Scan.texts`.
    fn texts(
        &mut self,
        py: Python,
        buffer: &[u8],
        stops: Vec<usize>,
    ) -> PyResult<Vec<Option<Py<PyBytes>>>> {
        let mut start = 0;
        let mut texts = Vec::with_capacity(stops.len());
        for stop in stops {
            let log = buffer.get(start..stop).unwrap_or(b"");
            self.scan.restart();
            self.inflated = None;
            let (next, _) = self.run(py, log, 0, 0)?;
            let scan = &self.scan;
            let is_plain = next == log.len() && scan.notes.is_empty() && scan.gaps.is_empty();
            texts.push(is_plain.then(|| PyBytes::new(py, &scan.output.bytes).unbind()));
            start = stop;
        }
        self.scan.restart();
        self.inflated = None;
        Ok(texts)
    }

    /// See `kraftops.engine.scan_contract.Scan.look`.
    fn look(
        &mut self,
        py: Python,
        buffer: &[u8],
        start: usize,
        position: i64,
    ) -> PyResult<(usize, Vec<SeenBatch>)> {
        let mut seen = Vec::new();
        let next = self.look_into(py, &mut seen, buffer, start, position)?;
        Ok((next, seen))
    }

    /// See `kraftops.engine.scan_contract.Scan.ends`.
    fn ends(
        &mut self,
        py: Python,
        buffer: &[u8],
        stops: Vec<usize>,
        base_offsets: Vec<i64>,
    ) -> PyResult<Vec<Option<i64>>> {
        let (mut start, mut seen) = (0, Vec::new());
        let mut ends = Vec::with_capacity(stops.len());
        for (stop, base_offset) in stops.into_iter().zip(base_offsets) {
            let log = buffer.get(start..stop).unwrap_or(b"");
            seen.clear();
            let next = self.look_into(py, &mut seen, log, 0, 0)?;
            let is_sound = next == log.len();
            ends.push(end_of(&seen, base_offset).filter(|_| is_sound));
            start = stop;
        }
        Ok(ends)
    }
}

impl PyScan {
    /// Read the whole batches of *data* from *start* on; return the index after them, and why it ended.
    fn run(
        &mut self,
        py: Python,
        data: &[u8],
        start: usize,
        position: i64,
    ) -> PyResult<(usize, i32)> {
        let base = position.wrapping_sub(start as i64);
        let mut next = start;
        let why = loop {
            let records = self.inflated.take();
            let inflated: Option<&[u8]> = records.as_ref().map(|records| records.bytes(py));
            let scan = &mut self.scan;
            let step = guarded(|| py.detach(|| scan.run(data, &mut next, base, inflated)))?;
            if self.scan.is_inside() {
                self.inflated = records;
            } else {
                drop(records); // before the next ones are inflated
            }
            match step {
                Step::More => break 0,
                Step::Full => break 1,
                Step::Declined => break 2,
                Step::Inflate(codec, from, to) => {
                    let stored = data.get(from..to).unwrap_or(b"");
                    self.inflated = self.inflater.get().records(py, codec, stored)?;
                    if self.inflated.is_none() {
                        break 2;
                    }
                }
            }
        };
        if why == 2 {
            self.inflated = None;
        }
        Ok((next, why))
    }

    /// Add the sound batches of *buffer* from *start* on to *seen*; return the index after them.
    fn look_into(
        &mut self,
        py: Python,
        seen: &mut Vec<SeenBatch>,
        buffer: &[u8],
        start: usize,
        position: i64,
    ) -> PyResult<usize> {
        let base = position.wrapping_sub(start as i64);
        let mut next = start;
        let mut inflated: Option<Records> = None;
        loop {
            let records = inflated.as_ref().map(|records| records.bytes(py));
            let scan = &mut self.scan;
            let step = guarded(|| py.detach(|| scan.look(buffer, &mut next, base, records, seen)))?;
            drop(inflated.take()); // before the next ones are inflated
            if let Step::Inflate(codec, from, to) = step {
                let stored = buffer.get(from..to).unwrap_or(b"");
                inflated = self.inflater.get().records(py, codec, stored)?;
            }
            if inflated.is_none() {
                return Ok(next);
            }
        }
    }

    fn outcome(&mut self, py: Python, next: usize, why: i32) -> PyResult<Outcome> {
        let scan = &mut self.scan;
        let bytes = |raw: &[u8]| PyBytes::new(py, raw).unbind();
        let out = bytes(&scan.output.bytes);
        scan.output.bytes.clear();
        let notes = scan.notes.drain(..).map(|note| Note {
            kind: !note.is_failure as i32,
            position: note.position,
            reason: note.reason,
            output_position: note.at,
        });
        let notes = notes.collect();
        let rows = scan.columns.rows;
        let columns = if rows == 0 {
            None
        } else {
            let columns = PyDict::new(py);
            for (name, (data, offsets, valid)) in scan.columns.take() {
                let column = PyColumn {
                    data: bytes(&data),
                    offsets: offsets.as_deref().map(bytes),
                    valid: valid.as_deref().map(bytes),
                };
                columns.set_item(name, Py::new(py, column)?)?;
            }
            Some(columns.unbind())
        };
        Ok(Outcome {
            out,
            next,
            why,
            notes,
            gaps: bytes(&std::mem::take(&mut scan.gaps)),
            marks: bytes(&std::mem::take(&mut scan.marks)),
            rows,
            columns,
        })
    }
}

/// Run *work*; turn a panic into an error.
pub fn guarded<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        PyRuntimeError::new_err("the compiled engine failed; this is a bug of kraftops")
    })
}
